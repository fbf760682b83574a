import AegisCore
import AegisPorts

/// What the lanes of one event loop share, and what they have to tell at the end of a turn.
///
/// Not `Sendable`: it stays in its event loop's thread.
@safe final class LoopContext {
    let settings: GatewaySettings
    let clock: any TimeSource
    let log: any Log
    let resolver: Resolver
    let inbox: GatewayInbox
    let poller: Poller
    let headers = RequestHeaders()
    /// Where input is read to; two TLS records.
    let input: UnsafeMutableRawBufferPointer
    var generator = SystemChance()
    /// Whose each watched number is.
    var numbers: [UInt64: AppKey] = [:]
    var reports: [PushReport] = []
    var signals: [GatewaySignal] = []
    private var lastNumber: UInt64 = GatewayEventLoop.wakeNumber

    init(
        settings: GatewaySettings, clock: any TimeSource, log: any Log, resolver: Resolver, inbox: GatewayInbox,
        poller: Poller
    ) {
        self.settings = settings
        self.clock = clock
        self.log = log
        self.resolver = resolver
        self.inbox = inbox
        self.poller = poller
        unsafe input = .allocate(byteCount: 32_768, alignment: 16)
    }

    deinit { unsafe input.deallocate() }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}
