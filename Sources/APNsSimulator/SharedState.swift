internal import CLinux
internal import Glibc
internal import Runtime
import Synchronization

/// What the event loop and its callers share: one lock, and a descriptor that wakes the loop.
final class SharedState: Sendable {
    enum Command: Sendable {
        case closeConnections(ConnectionClosing)
        case stop
    }

    struct Content: Sendable {
        var registry = DeviceRegistry()
        var log: NotificationLog
        var faults = Faults()
        var keyring: ProviderKeyring
        var commands: [Command] = []
    }

    let content: Lock<Content>
    /// Grows whenever ``Content/faults``, the keyring or the commands change, so that the loop asks for the lock only then.
    let version = Atomic<Int>(0)
    let wakeDescriptor: Descriptor

    init(log: NotificationLog, keyring: ProviderKeyring) throws(APNsSimulatorError) {
        content = Lock(Content(log: log, keyring: keyring))
        wakeDescriptor = try Descriptor(
            checking: aegis_eventfd(), during: "making an eventfd")
    }

    /// Changes what the loop must hear of, and wakes it.
    func change(_ body: (inout Content) -> Void) {
        content.withLock { body(&$0) }
        version.add(1, ordering: .releasing)
        var one: UInt64 = 1
        // A full counter already wakes the loop.
        unsafe write(wakeDescriptor.raw, &one, MemoryLayout<UInt64>.size)
    }

    func clearWake() {
        var count: UInt64 = 0
        unsafe read(wakeDescriptor.raw, &count, MemoryLayout<UInt64>.size)
    }
}

/// How all connections are ended from outside.
package enum ConnectionClosing: String, Sendable {
    /// GOAWAY with 2^31-1, then with the real last stream; what was received is answered.
    case graceful
    /// GOAWAY with the highest answered stream, twice, then end of file.
    case abrupt
    /// A TCP reset.
    case reset
}
