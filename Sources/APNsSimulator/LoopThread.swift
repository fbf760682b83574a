internal import Glibc

/// The thread an event loop runs on.
///
/// Whoever holds it takes it out of its place to ``join()`` it, once.
struct LoopThread: Sendable {
    private let thread: pthread_t

    /// Starts the loop, which belongs to the thread from here on.
    init(running loop: sending EventLoop) throws(APNsSimulatorError) {
        var started = pthread_t()
        let context = unsafe Unmanaged.passRetained(loop)
        let status = unsafe pthread_create(
            &started, nil,
            { context in
                if let context = unsafe context {
                    Self.nameThread()
                    Self.blockPipeSignal()
                    unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
                }
                return nil
            }, context.toOpaque())
        guard status == 0 else {
            unsafe context.release()
            throw unsafe APNsSimulatorError(
                kind: .socket, operation: "starting a thread", detail: String(cString: strerror(status)))
        }
        thread = started
    }

    /// proc(5): a thread names itself by writing to its `comm`.
    private static func nameThread() {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        let name = Array("apns-simulator".utf8)
        unsafe write(file, name, name.count)
        close(file)
    }

    /// Writing to a connection its peer has closed raises SIGPIPE on the writing thread, which would end the process.
    private static func blockPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    func join() {
        pthread_join(thread, nil)
    }
}
