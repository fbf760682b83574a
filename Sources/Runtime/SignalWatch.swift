import Glibc

/// Turns process signals into a stream.
///
/// The signals are blocked in the thread that makes the watch, hence in every thread it starts later: make it first thing in
/// `main`, before any other thread exists.
package final class SignalWatch: Sendable {
    package enum Signal: Hashable, Sendable {
        /// SIGTERM or SIGINT.
        case terminate
        /// SIGHUP.
        case reload
    }

    private let mailbox = Mailbox<Signal>()

    /// - Throws: ``ThreadError`` when the system gives no thread.
    package init() throws(ThreadError) {
        // A peer that closes a socket shall be an error of the write, never the end of the process.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let mailbox = mailbox
        Self.block()
        _ = try DedicatedThread(name: "signals") {
            while true {
                var number: Int32 = 0
                var watched = Self.watched()
                guard unsafe sigwait(&watched, &number) == 0 else { continue }
                switch number {
                case SIGHUP: mailbox.put(.reload)
                default: mailbox.put(.terminate)
                }
            }
        }
    }

    /// The signals since the last call, at least one; nil when the task is cancelled.
    package func next() async -> [Signal]? {
        await mailbox.take()
    }

    private static func watched() -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGHUP)
        return signals
    }

    private static func block() {
        var signals = watched()
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
