import Glibc
import Synchronization

/// One named POSIX thread, for what blocks or owns a C handle: poll loops, event loops, database connections.
///
/// The thread runs `body` once. ``join()`` waits for its end; it may be called from several places, but not from the thread
/// itself.
package final class DedicatedThread: Sendable {
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        let finished: Latch

        init(name: String, body: @escaping @Sendable () -> Void, finished: Latch) {
            self.name = name
            self.body = body
            self.finished = finished
        }
    }

    private let finished = Latch()

    /// - Parameter name: shown by `top -H` and debuggers; the kernel keeps 15 bytes of it.
    /// - Throws: ``ThreadError`` when the system gives no thread.
    package init(name: String, body: @escaping @Sendable () -> Void) throws(ThreadError) {
        let start = Start(name: name, body: body, finished: finished)
        // The new thread takes over this reference.
        let context = unsafe Unmanaged.passRetained(start).toOpaque()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var handle = pthread_t()
        let status = unsafe pthread_create(
            &handle, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                nameCurrentThread(start.name)
                start.body()
                start.finished.open()
                return nil
            }, context)
        guard status == 0 else {
            unsafe Unmanaged<Start>.fromOpaque(context).release()
            throw ThreadError(name: name, code: status)
        }
    }

    /// Returns when the body has returned.
    package func join() {
        finished.wait()
    }
}

/// Names the calling thread by way of procfs, as glibc's call is an extension that Swift does not import.
///
/// A name that cannot be set is no reason to fail.
private func nameCurrentThread(_ name: String) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(name.utf8.prefix(15))
    _ = unsafe write(file, bytes, bytes.count)
}

/// The system refused a thread.
package struct ThreadError: Error, Hashable, Sendable, CustomStringConvertible {
    package let name: String
    /// `errno` of `pthread_create(3)`.
    package let code: Int32

    package var description: String { "no thread for \(name): system error \(code)" }
}

/// Opens once; whoever waits goes on then.
package final class Latch: Sendable {
    private let state = Condition(false)

    package init() {}

    package func open() {
        state.update { $0 = true }
    }

    package func wait() {
        state.wait { $0 }
    }

    package var isOpen: Bool { state.read { $0 } }
}
