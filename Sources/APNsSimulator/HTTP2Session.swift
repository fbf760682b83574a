internal import CNGHTTP2

/// Owns one server-side `nghttp2_session *`.
///
/// Not `Sendable`: it stays on the event loop's thread.
///
/// The stream limit is ours to enforce: nghttp2 would end the connection where APNs refuses one stream. It is therefore
/// told a limit with the highest bit set, which it never reaches, and the bit is taken out of the SETTINGS on their way.
@safe final class HTTP2Session {
    private let handle: OpaquePointer

    private static let hiddenBit: UInt32 = 1 << 31
    private static let frameHeaderSize = 9

    /// - Parameter connection: gets the callbacks; it must outlive the session, which it does by owning it.
    init?(callbacks: HTTP2Callbacks, connection: Connection) {
        var made: OpaquePointer?
        let context = unsafe Unmanaged.passUnretained(connection).toOpaque()
        guard unsafe nghttp2_session_server_new2(&made, callbacks.callbacks, context, callbacks.options) == 0,
            let made = unsafe made
        else { return nil }
        unsafe handle = made
    }

    deinit { unsafe nghttp2_session_del(handle) }

    var wantsMore: Bool {
        unsafe nghttp2_session_want_read(handle) != 0 || nghttp2_session_want_write(handle) != 0
    }

    /// - Returns: `false` if the peer does not speak HTTP/2 and the connection is beyond repair.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe nghttp2_session_mem_recv(
            handle, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) >= 0
    }

    /// - Returns: `false` if there is nothing to send now.
    func appendFrame(to output: inout [UInt8]) -> Bool {
        var frame: UnsafePointer<UInt8>?
        let length = unsafe nghttp2_session_mem_send(handle, &frame)
        guard length > 0, let frame = unsafe frame else { return false }
        let start = output.count
        unsafe output.append(contentsOf: UnsafeBufferPointer(start: frame, count: length))
        if length > Self.frameHeaderSize, output[start + 3] == UInt8(NGHTTP2_SETTINGS.rawValue) {
            uncoverLimit(in: &output, from: start + Self.frameHeaderSize)
        }
        return true
    }

    private func uncoverLimit(in output: inout [UInt8], from start: Int) {
        for entry in stride(from: start, to: output.count - 5, by: 6)
        where output[entry] == 0 && output[entry + 1] == UInt8(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue) {
            output[entry + 2] &= 0x7F
        }
    }

    func submitFirstSettings(streamLimit: UInt32, withoutInitialWindow: Bool) {
        var entries = [
            entry(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4096),
            entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streamLimit | Self.hiddenBit),
        ]
        if !withoutInitialWindow { entries.append(entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65_535)) }
        entries.append(entry(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16_384))
        entries.append(entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(Request.headerListLimit)))
        unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    func submitStreamLimit(_ limit: UInt32) {
        let entries = [entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limit | Self.hiddenBit)]
        unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    private func entry(_ id: nghttp2_settings_id, _ value: UInt32) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(bitPattern: id.rawValue), value: value)
    }

    /// Attaches the request to its stream, until the end of the stream.
    func attach(_ request: Request) {
        unsafe nghttp2_session_set_stream_user_data(
            handle, request.streamID, Unmanaged.passUnretained(request).toOpaque())
    }

    /// The request of an open stream; requests live as long as their connection, so the reference is never stale.
    func request(on stream: Int32) -> Request? {
        guard let context = unsafe nghttp2_session_get_stream_user_data(handle, stream) else { return nil }
        return unsafe Unmanaged<Request>.fromOpaque(context).takeUnretainedValue()
    }

    func respond(to request: Request, with headers: ResponseHeaders) {
        unsafe headers.withFields { fields in
            guard !request.body.isEmpty else {
                unsafe nghttp2_submit_response(handle, request.streamID, fields.baseAddress, fields.count, nil)
                return
            }
            var provider = unsafe nghttp2_data_provider(
                source: nghttp2_data_source(ptr: Unmanaged.passUnretained(request).toOpaque()),
                read_callback: readAnswerBody)
            unsafe nghttp2_submit_response(handle, request.streamID, fields.baseAddress, fields.count, &provider)
        }
    }

    func reset(_ stream: Int32, code: UInt32) {
        unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    }

    func refuse(_ stream: Int32) {
        reset(stream, code: NGHTTP2_REFUSED_STREAM.rawValue)
    }

    /// The first half of a graceful end: a GOAWAY with the highest of all stream ids.
    func submitShutdownNotice() {
        unsafe nghttp2_submit_shutdown_notice(handle)
    }

    /// - Parameter last: streams above it are guaranteed unprocessed; `nil` is the last one that was received.
    func submitGoAway(last: Int32? = nil, code: UInt32 = 0, debug: [UInt8] = []) {
        let last = unsafe last ?? nghttp2_session_get_last_proc_stream_id(handle)
        unsafe nghttp2_submit_goaway(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code, debug, debug.count)
    }

    func acknowledgePing(_ payload: UnsafePointer<UInt8>) {
        unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_ACK.rawValue), payload)
    }
}

/// Gives nghttp2 the next bytes of an answer's body.
private func readAnswerBody(
    _: OpaquePointer?, _: Int32, buffer: UnsafeMutablePointer<UInt8>?, capacity: Int,
    flags: UnsafeMutablePointer<UInt32>?, source: UnsafeMutablePointer<nghttp2_data_source>?,
    _: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer = unsafe buffer, let context = unsafe source?.pointee.ptr else {
        return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
    }
    // The connection keeps the request for its whole life, and the session ends before it.
    let request = unsafe Unmanaged<Request>.fromOpaque(context).takeUnretainedValue()
    let count = min(capacity, request.bodyChunk, request.body.count - request.bodySent)
    for offset in 0..<count { unsafe buffer[offset] = request.body[request.bodySent + offset] }
    request.bodySent += count
    if request.bodySent == request.body.count { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}

/// The headers of an answer in one buffer, built anew for each.
struct ResponseHeaders {
    private struct Field {
        let name: Range<Int>
        let value: Range<Int>
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    mutating func append(_ name: StaticString, _ value: some Sequence<UInt8>) {
        let start = bytes.count
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        let middle = bytes.count
        bytes.append(contentsOf: value)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Lends the fields as nghttp2 wants them; it copies them before it returns.
    func withFields(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Void) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            let base = unsafe UnsafeMutablePointer(mutating: start)
            unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { list in
                for (index, field) in fields.enumerated() {
                    unsafe list.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: base + field.name.lowerBound, value: base + field.value.lowerBound,
                            namelen: field.name.count, valuelen: field.value.count, flags: flags(of: index)))
                }
                unsafe body(UnsafeBufferPointer(list))
            }
        }
    }

    /// Ids are different each time and would only push the rest out of the peer's table.
    private func flags(of index: Int) -> UInt8 {
        UInt8(index == 0 ? NGHTTP2_NV_FLAG_NONE.rawValue : NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
    }
}
