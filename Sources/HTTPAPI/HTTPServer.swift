import CMicroHTTPD
import Glibc
import Runtime

/// The HTTP API: one libmicrohttpd daemon with a thread of its own.
///
/// That thread reads and writes; what a route does runs as a task, while its connection is suspended.
package final class HTTPServer: Sendable {
    /// `@unchecked Sendable`: the library lets any thread quiesce and stop a daemon; ``stop()`` takes it out of its mutex
    /// first, so it is stopped once.
    @safe private struct Daemon: @unchecked Sendable {
        let handle: OpaquePointer
        /// Held for the callbacks until the daemon has stopped.
        let registry: Unmanaged<ExchangeRegistry>
    }

    /// Connections told to leave and not yet closed: several times what the library accepts in one turn.
    private static let leavingLimit = 64

    /// Where the API listens.
    package let port: UInt16
    private let registry: ExchangeRegistry
    private let daemon: Lock<Daemon?>

    /// Listens and answers from now on, until ``stop()``, which the owner must call.
    package static func start(
        settings: HTTPServerSettings, service: APIDependencies
    ) throws(HTTPServerError) -> HTTPServer {
        try HTTPServer(settings, service)
    }

    /// Whether this machine can listen at `host`, at any port.
    ///
    /// - Throws: ``HTTPServerError`` of kind `address` where it cannot.
    package static func check(host: String) throws(HTTPServerError) {
        _ = try ListenSocket(host: host, port: 0)
    }

    private init(_ settings: HTTPServerSettings, _ service: APIDependencies) throws(HTTPServerError) {
        let socket = try ListenSocket(host: settings.host, port: settings.port)
        port = socket.port
        registry = ExchangeRegistry(router: Router(service: service, tokens: settings.tokens), settings: settings)
        let isIPv6 = socket.isIPv6
        let descriptor = socket.release()
        let context = unsafe Unmanaged.passRetained(registry)
        guard
            let handle = unsafe Self.startDaemon(
                settings, connectionLimit: registry.connections.limit, listeningOn: descriptor, isIPv6: isIPv6,
                context: context.toOpaque())
        else {
            unsafe context.release()
            close(descriptor)
            throw HTTPServerError(kind: .start, detail: "libmicrohttpd did not start")
        }
        daemon = unsafe Lock(Daemon(handle: handle, registry: context))
    }

    private static func startDaemon(
        _ settings: HTTPServerSettings, connectionLimit: Int, listeningOn descriptor: Int32, isIPv6: Bool,
        context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        var flags =
            MHD_USE_AUTO.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        if isIPv6 { flags |= MHD_USE_IPv6.rawValue }
        // At least a second, as 0 would be no limit.
        let timeout = UInt32(clamping: max(settings.clientTimeout.components.seconds, 1))
        let options: [any CVarArg] = unsafe [
            MHD_OPTION.LISTEN_SOCKET.rawValue, descriptor,
            // At its own limit the library leaves new connections unheard: those that give way are closed before that.
            MHD_OPTION.CONNECTION_LIMIT.rawValue, UInt32(clamping: connectionLimit + Self.leavingLimit),
            MHD_OPTION.NOTIFY_CONNECTION.rawValue, unsafeBitCast(RequestCallbacks.connection, to: OpaquePointer.self),
            OpaquePointer(context),
            MHD_OPTION.CONNECTION_TIMEOUT.rawValue, timeout,
            MHD_OPTION.CONNECTION_MEMORY_LIMIT.rawValue, settings.headerLimit,
            MHD_OPTION.UNESCAPE_CALLBACK.rawValue, unsafeBitCast(RequestCallbacks.keepEncoded, to: OpaquePointer.self),
            OpaquePointer(context),
            MHD_OPTION.NOTIFY_COMPLETED.rawValue, unsafeBitCast(RequestCallbacks.completed, to: OpaquePointer.self),
            OpaquePointer(context),
            MHD_OPTION.STRICT_FOR_CLIENT.rawValue, Int32(1),
            MHD_OPTION.END.rawValue,
        ]
        return unsafe withVaList(options) { options in
            unsafe MHD_start_daemon_va(flags, 0, nil, nil, RequestCallbacks.access, context, options)
        }
    }

    /// Stops listening, finishes open requests up to the drain limit, answers 503 to what is left, and closes.
    package func stop() async {
        let taken = daemon.withLock { daemon in
            defer { daemon = nil }
            return daemon
        }
        guard let taken else { return }
        let descriptor = unsafe MHD_quiesce_daemon(taken.handle)
        if descriptor >= 0 { close(descriptor) }
        await registry.drain(limit: registry.settings.drainLimit)
        await Self.finish(taken)
    }

    /// Stopping joins the library's thread, which blocks: not in the pool that tasks share.
    private static func finish(_ daemon: Daemon) async {
        await withCheckedContinuation { continuation in
            let stop = { @Sendable in
                unsafe MHD_stop_daemon(daemon.handle)
                unsafe daemon.registry.release()
                continuation.resume()
            }
            do throws(ThreadError) {
                _ = try DedicatedThread(name: "http-stop", body: stop)
            } catch {
                stop()
            }
        }
    }
}
