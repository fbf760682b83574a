import AegisCore
import AegisPorts

/// One connection to APNs: TLS below, HTTP/2 above, and the rules of when it may be used.
///
///     awaitingSettings ── first SETTINGS ──▶ ready ── GOAWAY, or retired by us ──▶ draining ── all answered ──▶ closed
///
/// Not `Sendable`: it stays in its event loop's thread.
final class APNsConnection {
    enum State {
        case awaitingSettings
        case ready
        /// Takes no requests any more; what is outstanding may still be answered.
        case draining
        /// Nil when it was our wish.
        case closed(GatewayError?)
    }

    enum Submission {
        case submitted
        case unsendable(String)
        case unavailable
    }

    private enum Liveness {
        case quiet
        case pinged(MonotonicTime)
    }

    /// What one TLS record holds at most (RFC 8446 section 5.1).
    private static let recordSize = 16_384
    /// What is gathered before it is written.
    private static let outputSize = 4 * recordSize
    /// Reads in a row before other connections have their turn.
    private static let readsInTurn = 32

    let number: UInt64
    let openedAt: MonotonicTime
    private let settings: GatewaySettings
    private let stream: TLSStream
    private let session: HTTP2Session
    private(set) var state = State.awaitingSettings
    /// Whether APNs has accepted a push on this connection, and with it the provider token.
    private(set) var isProven = false
    /// Whether APNs called for another connection: the next may meet the same.
    private(set) var hasFailed = false
    /// Set by the lane once it has taken notice of the connection's first SETTINGS, and of its end.
    var isAnnounced = false
    var isReplaced = false
    /// Whether there may be input left that no event will tell of.
    private(set) var hasMoreInput = false
    private var liveness = Liveness.quiet
    private var lastReceived: MonotonicTime
    private var nextScan: MonotonicTime?
    private var couldHaveMore = false
    private var collapsedSince: MonotonicTime?
    private var output: [UInt8] = []
    private var outputHead = 0
    private var written: Int64 = 0

    init(
        number: UInt64, stream: TLSStream, settings: GatewaySettings, now: MonotonicTime
    ) throws(GatewayError) {
        self.number = number
        self.stream = stream
        self.settings = settings
        openedAt = now
        lastReceived = now
        session = try HTTP2Session(lastStreamID: settings.lastStreamID)
        output.reserveCapacity(Self.outputSize + Self.recordSize)
    }

    /// Requests whose streams count against the peer's limit.
    var openCount: Int { session.openCount }

    /// How many requests may be outstanding: none unless ready, one until the provider token is proven.
    var allowance: Int {
        guard case .ready = state else { return 0 }
        let limit = min(session.peerStreamLimit, settings.maximumStreams)
        return isProven ? limit : min(1, limit)
    }

    var isUsable: Bool {
        if case .ready = state { return true }
        return false
    }

    var isClosed: Bool {
        if case .closed = state { return true }
        return false
    }

    /// Whether it counts towards the connections an app shall have.
    var isWanted: Bool {
        switch state {
        case .awaitingSettings, .ready: true
        case .draining, .closed: false
        }
    }

    func submit(
        _ queued: QueuedPush, authority: [UInt8], authorization: [UInt8], headers: RequestHeaders, at now: MonotonicTime
    ) -> Submission {
        let submission = session.submit(
            queued.push, handedOver: queued.handedOver, authority: authority, authorization: authorization,
            headers: headers)
        switch submission {
        case .submitted:
            if nextScan == nil { nextScan = now.advanced(by: scanInterval) }
            return .submitted
        case .unsendable(let reason):
            return .unsendable(reason)
        case .exhausted:
            retire()
            return .unavailable
        }
    }

    /// Reads until the socket has no more; ``flush()`` sends what that called for.
    func receive(into buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime) {
        hasMoreInput = false
        guard !isClosed else { return }
        for _ in 0..<Self.readsInTurn {
            switch unsafe stream.read(into: buffer) {
            case .done(let count):
                lastReceived = now
                let received = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if let fault = unsafe session.receive(received) {
                    return end(GatewayError(kind: .protocolViolation, detail: fault))
                }
                noteProgress(at: now)
            case .wait:
                return
            case .closed(let error):
                return end(error)
            }
        }
        hasMoreInput = true
    }

    private func noteProgress(at now: MonotonicTime) {
        if case .awaitingSettings = state, session.hasSettings { state = .ready }
        if session.takePingAcknowledgement() { liveness = .quiet }
        guard session.hasSettings else { return }
        let limit = session.peerStreamLimit
        if limit > 1 {
            couldHaveMore = true
            collapsedSince = nil
        } else if couldHaveMore, isProven, collapsedSince == nil {
            collapsedSince = now
        }
    }

    /// Sends what the session has to say, in records as full as can be, until the socket takes no more.
    func flush() {
        guard !isClosed else { return }
        repeat {
            while outputHead < output.count {
                let progress = unsafe output.withUnsafeBytes { bytes in
                    let end = min(bytes.count, outputHead + Self.recordSize)
                    return unsafe stream.write(UnsafeRawBufferPointer(rebasing: bytes[outputHead..<end]))
                }
                switch progress {
                case .done(let count):
                    outputHead += count
                    written += Int64(count)
                case .wait: return
                case .closed(let error): return end(error)
                }
            }
            output.removeAll(keepingCapacity: true)
            outputHead = 0
        } while session.produce(into: &output, limit: Self.outputSize)
        if session.isOver { return end(GatewayError(kind: .protocolViolation, detail: "the HTTP/2 session ended")) }
        if case .draining = state, openCount == 0 { closeGracefully() }
    }

    /// Takes no more requests; closes when the outstanding ones are answered.
    ///
    /// - Parameter failed: whether APNs called for it, by an answer.
    func retire(failed: Bool = false) {
        if failed { hasFailed = true }
        switch state {
        case .ready: state = .draining
        case .awaitingSettings: end(nil)
        case .draining, .closed: break
        }
    }

    /// A push was accepted here.
    func prove() {
        isProven = true
    }

    func takeFinished() -> [StreamTable.Finished] { session.takeFinished() }

    /// GOAWAYs since the last call; the connection is draining from the first one on.
    func takeGoAways() -> [StreamTable.GoAway] {
        let goAways = session.takeGoAways()
        guard !goAways.isEmpty else { return [] }
        hasFailed = true
        switch state {
        case .ready:
            state = .draining
        case .awaitingSettings:
            end(GatewayError(kind: .protocolViolation, detail: "the peer said GOAWAY before its first SETTINGS"))
        case .draining, .closed:
            break
        }
        return goAways
    }

    /// Answers everything and closes: the peer is gone, or the gateway is.
    func end(_ error: GatewayError?) {
        guard !isClosed else { return }
        state = .closed(error)
        session.abandon(written: written)
        stream.sayGoodbye()
    }

    private func closeGracefully() {
        session.terminate()
        if session.produce(into: &output, limit: Self.outputSize) {
            // One try: whether the peer hears the goodbye changes nothing.
            _ = unsafe output.withUnsafeBytes { unsafe stream.write($0) }
        }
        end(nil)
    }
}

extension APNsConnection {
    /// How finely request deadlines are kept.
    private var scanInterval: Duration {
        max(.milliseconds(5), min(.milliseconds(250), settings.requestDeadline / 20))
    }

    /// When to call ``tick(at:)`` if nothing happens before; nil when closed.
    var nextDeadline: MonotonicTime? {
        var next: MonotonicTime
        switch state {
        case .closed: return nil
        case .awaitingSettings: next = openedAt.advanced(by: settings.connectTimeout)
        case .ready, .draining:
            switch liveness {
            case .quiet: next = lastReceived.advanced(by: settings.pingInterval)
            case .pinged(let since): next = since.advanced(by: settings.pingDeadline)
            }
        }
        if let nextScan { next = min(next, nextScan) }
        if let collapsedSince { next = min(next, collapsedSince.advanced(by: settings.collapseTolerance)) }
        return next
    }

    /// Does what is due: request deadlines, PING, the end of a silent connection.
    func tick(at now: MonotonicTime) {
        if let scan = nextScan, now >= scan { cancelOverdue(at: now) }
        switch state {
        case .closed:
            return
        case .awaitingSettings:
            guard now >= openedAt.advanced(by: settings.connectTimeout) else { return }
            end(GatewayError(kind: .protocolViolation, detail: "the peer sent no SETTINGS in time"))
        case .ready, .draining:
            checkLiveness(at: now)
            if let collapsedSince, now >= collapsedSince.advanced(by: settings.collapseTolerance) {
                self.collapsedSince = nil
                retire()
            }
        }
    }

    private func cancelOverdue(at now: MonotonicTime) {
        nextScan = openCount > 0 ? now.advanced(by: scanInterval) : nil
        let limit = now.advanced(by: .zero - settings.requestDeadline)
        guard session.cancelOverdue(handedOverUntil: limit) else { return }
        // A peer that owes answers and says nothing at all may be gone.
        if case .quiet = liveness, lastReceived <= limit { ping(at: now) }
    }

    private func checkLiveness(at now: MonotonicTime) {
        switch liveness {
        case .quiet where now >= lastReceived.advanced(by: settings.pingInterval):
            ping(at: now)
        case .pinged(let since) where now >= since.advanced(by: settings.pingDeadline):
            end(GatewayError(kind: .connect, detail: "the peer did not acknowledge a PING in time"))
        case .quiet, .pinged:
            break
        }
    }

    private func ping(at now: MonotonicTime) {
        session.ping()
        liveness = .pinged(now)
    }
}
