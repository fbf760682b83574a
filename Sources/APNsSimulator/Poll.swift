internal import CLinux
internal import Glibc

/// Owns one epoll descriptor and the list its events are delivered in.
@safe final class Poll {
    struct Event {
        let tag: UInt64
        let isWritable: Bool
    }

    static let wakeTag: UInt64 = 0
    static let productionTag: UInt64 = 1
    static let sandboxTag: UInt64 = 2
    static let firstConnectionTag: UInt64 = 16

    private let descriptor: Descriptor
    private var raw = unsafe [epoll_event](repeating: epoll_event(), count: 256)
    private var events: [Event] = []

    init() throws(APNsSimulatorError) {
        descriptor = try Descriptor(checking: aegis_epoll_create(), during: "making an epoll")
    }

    /// Watches for reading; the kernel forgets the descriptor when it is closed.
    func add(_ watched: Int32, tag: UInt64) throws(APNsSimulatorError) {
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: tag))
        guard unsafe epoll_ctl(descriptor.raw, EPOLL_CTL_ADD, watched, &event) == 0 else {
            throw .lastSocketError(during: "watching a socket")
        }
    }

    func watch(_ watched: Int32, tag: UInt64, forWriting: Bool) {
        let wanted = forWriting ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        var event = unsafe epoll_event(events: wanted, data: epoll_data_t(u64: tag))
        unsafe epoll_ctl(descriptor.raw, EPOLL_CTL_MOD, watched, &event)
    }

    /// - Parameter milliseconds: -1 waits for as long as it takes.
    func wait(milliseconds: Int32) -> [Event] {
        let count = unsafe epoll_wait(descriptor.raw, &raw, Int32(raw.count), milliseconds)
        events.removeAll(keepingCapacity: true)
        for index in 0..<Int(max(0, count)) {
            let event = unsafe raw[index]
            unsafe events.append(Event(tag: event.data.u64, isWritable: event.events & EPOLLOUT.rawValue != 0))
        }
        return events
    }
}
