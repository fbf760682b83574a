internal import CMicroHTTPD
internal import Glibc
internal import Runtime

/// The HTTP/1.1 server of the control plane, on a thread of libmicrohttpd.
///
/// `@unchecked Sendable`: the daemon is stopped once, under the lock, and used for nothing else.
@safe final class ControlPlane: @unchecked Sendable {
    let port: Int
    private let context: Context
    private let daemon: Lock<OpaquePointer?>

    /// What callbacks get: held by the control plane, which outlives the daemon.
    final class Context: Sendable {
        private let simulator: WeakSimulator

        init(_ simulator: APNsSimulator) {
            self.simulator = WeakSimulator(simulator)
        }

        func answer(_ request: ControlRequest) -> ControlResponse {
            guard let simulator = simulator.value else { return .problem(503, "stopped") }
            return ControlRoutes(simulator: simulator).answer(request)
        }
    }

    /// Bodies above this are refused.
    private static let bodyLimit = 1 << 20

    init(host: String, port: UInt16, simulator: APNsSimulator) throws(APNsSimulatorError) {
        let socket = try ListeningSocket(host: host, port: port)
        self.port = socket.port
        context = Context(simulator)
        // MHD_OPTION_LISTEN_SOCKET hands the descriptor over, so MHD gets one of its own.
        let owned = dup(socket.descriptor.raw)
        let completed: MHD_RequestCompletedCallback = { _, _, state, _ in
            if let body = unsafe state?.pointee {
                unsafe Unmanaged<Upload>.fromOpaque(body).release()
                unsafe state?.pointee = nil
            }
        }
        var options = unsafe [
            MHD_OptionItem(option: MHD_OPTION.LISTEN_SOCKET, value: Int(owned), ptr_value: nil),
            MHD_OptionItem(
                option: .NOTIFY_COMPLETED, value: unsafeBitCast(completed, to: Int.self), ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: 30, ptr_value: nil),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
        let argument = unsafe Unmanaged.passUnretained(context).toOpaque()
        let started: OpaquePointer? = unsafe options.withUnsafeMutableBufferPointer { list in
            guard let start = list.baseAddress else { return nil }
            let arguments: [any CVarArg] = unsafe [MHD_OPTION.ARRAY.rawValue, start, MHD_OPTION.END.rawValue]
            return unsafe withVaList(arguments) { list in
                unsafe MHD_start_daemon_va(
                    MHD_USE_AUTO_INTERNAL_THREAD.rawValue, 0, nil, nil, answerControlRequest, argument, list)
            }
        }
        guard let started = unsafe started else {
            Glibc.close(owned)
            throw APNsSimulatorError(
                kind: .controlPlane, operation: "starting the control plane", detail: "MHD refused")
        }
        unsafe daemon = Lock(started)
    }

    deinit { stop() }

    func stop() {
        guard let daemon = unsafe daemon.withLock({ unsafe $0.take() }) else { return }
        unsafe MHD_stop_daemon(daemon)
    }

    /// The body of one request while it arrives.
    fileprivate final class Upload {
        var bytes: [UInt8] = []
        var isTooLarge = false

        func append(_ more: UnsafeRawBufferPointer) {
            isTooLarge = isTooLarge || bytes.count + more.count > ControlPlane.bodyLimit
            if !isTooLarge { unsafe bytes.append(contentsOf: more) }
        }
    }
}

/// Called by MHD once for the headers, once for each piece of the body, and once at its end.
private func answerControlRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, data: UnsafePointer<CChar>?,
    size: UnsafeMutablePointer<Int>?, state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let path = unsafe path, let method = unsafe method, let size = unsafe size,
        let state = unsafe state
    else { return MHD_Result.NO }
    guard let body = unsafe state.pointee else {
        // Released by the completion callback, which MHD calls for every request it began.
        unsafe state.pointee = Unmanaged.passRetained(ControlPlane.Upload()).toOpaque()
        return MHD_Result.YES
    }
    let upload = unsafe Unmanaged<ControlPlane.Upload>.fromOpaque(body).takeUnretainedValue()
    if unsafe size.pointee > 0 {
        unsafe upload.append(UnsafeRawBufferPointer(start: data, count: size.pointee))
        unsafe size.pointee = 0
        return MHD_Result.YES
    }
    let query = unsafe MHD_lookup_connection_value(connection, .GET_ARGUMENT_KIND, "token")
    let request = unsafe ControlRequest(
        method: String(cString: method), path: String(cString: path), token: query.map { unsafe String(cString: $0) },
        body: upload.bytes)
    let control = unsafe Unmanaged<ControlPlane.Context>.fromOpaque(context).takeUnretainedValue()
    let answer = upload.isTooLarge ? .problem(413, "body too large") : control.answer(request)
    return unsafe answer.body.withUnsafeBytes { bytes in
        let response = unsafe MHD_create_response_from_buffer(
            bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        defer { unsafe MHD_destroy_response(response) }
        unsafe MHD_add_response_header(response, "content-type", "application/json")
        return unsafe MHD_queue_response(connection, UInt32(answer.status), response)
    }
}

/// The simulator owns its control plane; the way back must not keep it alive.
///
/// `@unchecked Sendable`: a weak reference is read atomically, and never written after `init`.
private final class WeakSimulator: @unchecked Sendable {
    private(set) weak var value: APNsSimulator?

    init(_ value: APNsSimulator) {
        self.value = value
    }
}
