import CLinux
import Glibc
import Runtime

/// Owns an `epoll(7)` descriptor; edge-triggered, so whoever is told reads and writes until the socket is not ready.
final class Poller: Sendable {
    private static let mostEvents: Int32 = 64

    private let descriptor: Int32

    /// - Throws: ``SystemError`` when the process has no descriptor left.
    init() throws(SystemError) {
        descriptor = aegis_epoll_create()
        guard descriptor >= 0 else { throw SystemError(operation: "epoll_create1") }
    }

    deinit { close(descriptor) }

    /// Watches a descriptor until it is closed.
    func watch(_ watched: Int32, as number: UInt64) throws(SystemError) {
        var event = unsafe epoll_event()
        unsafe event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        unsafe event.data.u64 = number
        guard unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event) == 0 else {
            throw SystemError(operation: "epoll_ctl")
        }
    }

    /// The numbers of what became ready; none at the end of the wait (milliseconds) or after a signal.
    func wait(milliseconds: Int32) -> [UInt64] {
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Int(Self.mostEvents)) { events in
            let count = unsafe epoll_wait(descriptor, events.baseAddress, Self.mostEvents, milliseconds)
            return (0..<max(0, Int(count))).map { unsafe events[$0].data.u64 }
        }
    }
}
