import Glibc
import Synchronization

/// Turns process signals into a stream: one watch a process.
///
/// A handler is used and not a mask with `sigwait`: a mask would have to be set before the first thread exists, and the threads
/// of the concurrency pool and of C libraries come when they like.
package final class SignalWatch: Sendable {
    package enum Signal: UInt8, Hashable, Sendable {
        /// SIGTERM or SIGINT.
        case terminate
        /// SIGHUP.
        case reload
    }

    private let mailbox = Mailbox<Signal>()

    /// - Throws: ``SystemError`` or ``ThreadError`` when the system gives no pipe or no thread.
    package init() throws {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(operation: "pipe") }
        let (reading, writing) = (ends[0], ends[1])
        // Before the handler can run; it only ever reads this.
        handlerPipe.store(writing, ordering: .sequentiallyConsistent)
        let mailbox = mailbox
        _ = try DedicatedThread(name: "signals") {
            while true {
                var code: UInt8 = 0
                let count = unsafe read(reading, &code, 1)
                guard count == 1 else {
                    if count < 0, errno == EINTR { continue }
                    return
                }
                if let signal = Signal(rawValue: code) { mailbox.put(signal) }
            }
        }
        // A peer that closes a socket shall be an error of the write, never the end of the process.
        Glibc.signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT, SIGHUP] { Glibc.signal(number, handleSignal) }
    }

    /// The signals since the last call, at least one; nil when the task is cancelled.
    package func next() async -> [Signal]? {
        await mailbox.take()
    }
}

/// Where the handler writes; -1 before there is a watch.
private let handlerPipe = Atomic<Int32>(-1)

/// Runs in whatever the signal interrupted, so it only writes one byte (signal-safety(7)).
private func handleSignal(_ number: Int32) {
    let saved = errno
    var code = number == SIGHUP ? SignalWatch.Signal.reload.rawValue : SignalWatch.Signal.terminate.rawValue
    _ = unsafe write(handlerPipe.load(ordering: .sequentiallyConsistent), &code, 1)
    errno = saved
}
