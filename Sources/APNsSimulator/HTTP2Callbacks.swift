internal import CNGHTTP2

/// Owns the callbacks and options that all sessions of a simulator share.
///
/// No callback captures anything: its context is the ``Connection``, which owns the session and so outlives every call.
@safe final class HTTP2Callbacks {
    let callbacks: OpaquePointer
    let options: OpaquePointer

    /// A client may cancel as many stalled streams as it likes.
    private static let unlimitedResets: UInt64 = 1 << 40

    init() throws(APNsSimulatorError) {
        var madeCallbacks: OpaquePointer?
        var madeOptions: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&madeCallbacks) == 0, unsafe nghttp2_option_new(&madeOptions) == 0,
            let madeCallbacks = unsafe madeCallbacks, let madeOptions = unsafe madeOptions
        else {
            unsafe nghttp2_session_callbacks_del(madeCallbacks)
            unsafe nghttp2_option_del(madeOptions)
            throw APNsSimulatorError(kind: .tls, operation: "preparing HTTP/2", detail: "out of memory")
        }
        unsafe callbacks = madeCallbacks
        unsafe options = madeOptions
        unsafe nghttp2_option_set_no_auto_ping_ack(madeOptions, 1)
        // Closed streams are only kept for RFC 7540 priorities, which APNs ignores.
        unsafe nghttp2_option_set_no_closed_streams(madeOptions, 1)
        unsafe nghttp2_option_set_stream_reset_rate_limit(madeOptions, Self.unlimitedResets, Self.unlimitedResets)
        unsafe register(on: madeCallbacks)
    }

    deinit {
        unsafe nghttp2_session_callbacks_del(callbacks)
        unsafe nghttp2_option_del(options)
    }

    private func register(on callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
            guard let connection = unsafe Connection.from(context), let frame = unsafe frame else { return 0 }
            if unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
                connection.began(unsafe frame.pointee.hd.stream_id)
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, valueLength, _, context in
            guard let connection = unsafe Connection.from(context), let frame = unsafe frame,
                let request = connection.request(on: unsafe frame.pointee.hd.stream_id)
            else { return 0 }
            unsafe request.addHeader(
                name: UnsafeBufferPointer(start: name, count: nameLength),
                value: UnsafeBufferPointer(start: value, count: valueLength))
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, bytes, count, context in
            guard let request = unsafe Connection.from(context)?.request(on: stream) else { return 0 }
            unsafe request.addPayload(UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            guard let connection = unsafe Connection.from(context), let frame = unsafe frame else { return 0 }
            let header = unsafe frame.pointee.hd
            switch UInt32(header.type) {
            case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
                if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                    connection.completed(header.stream_id)
                }
            case NGHTTP2_SETTINGS.rawValue:
                if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { connection.settingsAcknowledged() }
            case NGHTTP2_PING.rawValue:
                if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 {
                    var payload = unsafe frame.pointee.ping.opaque_data
                    unsafe withUnsafeBytes(of: &payload) { unsafe connection.receivedPing($0) }
                }
            default:
                break
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, context in
            unsafe Connection.from(context)?.closed(stream)
            return 0
        }
    }
}

extension Connection {
    /// The context of a callback: unretained, since the session that calls is owned by the connection.
    fileprivate static func from(_ context: UnsafeMutableRawPointer?) -> Connection? {
        unsafe context.map { unsafe Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
    }
}
