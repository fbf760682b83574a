import AegisCore
import AegisPorts
internal import CNGHTTP2

/// The client's side of one HTTP/2 connection: owns the `nghttp2_session *`, does no input or output itself.
///
/// Not `Sendable`: it stays in its event loop's thread.
@safe final class HTTP2Session {
    enum Submission: Hashable {
        case submitted
        case unsendable(String)
        /// No stream id is left: the request belongs on another connection.
        case exhausted
    }

    private let session: OpaquePointer
    private let streams = StreamTable()
    private let lastStreamID: Int32

    /// - Throws: ``GatewayError`` when nghttp2 has no memory.
    init(lastStreamID: Int32) throws(GatewayError) {
        self.lastStreamID = lastStreamID
        guard let made = unsafe Self.makeSession(context: streams) else {
            throw GatewayError(kind: .connect, detail: "nghttp2 made no session: out of memory")
        }
        unsafe session = made
        var settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: 16_384),
        ]
        let status = unsafe nghttp2_submit_settings(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count)
        guard status == 0 else { throw GatewayError(kind: .connect, detail: Self.text(of: status)) }
    }

    deinit { unsafe nghttp2_session_del(session) }

    var hasSettings: Bool { streams.hasSettings }
    /// Streams that count against the peer's limit.
    var openCount: Int { streams.openCount }
    /// What the peer allows now.
    var peerStreamLimit: Int {
        unsafe Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }
    /// Whether nothing is left to read or write, as after a violation of the protocol.
    var isOver: Bool {
        unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }
    var isExhausted: Bool {
        unsafe nghttp2_session_get_next_stream_id(session) > UInt32(bitPattern: lastStreamID)
    }

    /// Puts a request into the session's queue.
    func submit(
        _ push: Push, handedOver: MonotonicTime, authority: [UInt8], authorization: [UInt8], headers: RequestHeaders
    ) -> Submission {
        let listLimit = unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE)
        let fault = RequestHeaders.fault(
            of: push, authority: authority, authorization: authorization, listLimit: Int(listLimit))
        if let fault { return .unsendable(fault) }
        guard !isExhausted else { return .exhausted }
        let slot = streams.add(
            StreamTable.Stream(ticket: push.ticket, handedOver: handedOver, payload: push.payload))
        let mark = unsafe UnsafeMutableRawPointer(bitPattern: slot + 1)
        var body = unsafe nghttp2_data_provider(
            source: nghttp2_data_source(ptr: mark), read_callback: HTTP2Callbacks.readBody)
        let id = unsafe headers.withFields(of: push, authority: authority, authorization: authorization) {
            unsafe nghttp2_submit_request(session, nil, $0, $1, &body, mark)
        }
        guard id > 0 else {
            streams.remove(slot)
            return id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue ? .exhausted : .unsendable(Self.text(of: id))
        }
        streams.update(slot) { $0.id = id }
        return .submitted
    }

    /// Reads what the peer sent; nil when all was understood, else what was not.
    func receive(_ bytes: UnsafeRawBufferPointer) -> String? {
        let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let count = unsafe nghttp2_session_mem_recv(session, start, bytes.count)
        return count < 0 ? Self.text(of: Int32(clamping: count)) : nil
    }

    /// Appends what is to be sent, up to about `limit` bytes; false when nothing was left.
    func produce(into output: inout [UInt8], limit: Int) -> Bool {
        let before = output.count
        while output.count < limit {
            var start: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &start)
            guard count > 0, let start = unsafe start else { break }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
            streams.produced += Int64(count)
        }
        return output.count > before
    }

    /// What ended since the last call.
    func takeFinished() -> [StreamTable.Finished] { streams.takeFinished() }

    func takeGoAways() -> [StreamTable.GoAway] {
        guard !streams.goAways.isEmpty else { return [] }
        defer { streams.goAways = [] }
        return streams.goAways
    }

    /// Whether an acknowledged PING was seen since the last call.
    func takePingAcknowledgement() -> Bool {
        defer { streams.isPingAcknowledged = false }
        return streams.isPingAcknowledged
    }

    func ping() {
        unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Gives up on requests handed over at `limit` or before; true when there was any.
    func cancelOverdue(handedOverUntil limit: MonotonicTime) -> Bool {
        let overdue = streams.overdue(handedOverUntil: limit)
        for slot in overdue {
            guard let stream = streams.slots[slot] else { continue }
            let isUntouched = stream.outputStart == nil
            if !(stream.status == 200 && streams.answerWithResponse(slot)) {
                streams.answer(slot, isUntouched ? .notProcessed : .unknown(.deadline))
            }
            unsafe nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, NGHTTP2_CANCEL.rawValue)
        }
        return !overdue.isEmpty
    }

    /// Says GOAWAY; nothing can be submitted afterwards.
    func terminate() {
        unsafe nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue)
    }

    /// Answers everything when the connection is gone, of whose output the transport took `written` bytes.
    func abandon(written: Int64) {
        streams.answerAll(written: written)
    }

    private static func makeSession(context: StreamTable) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        unsafe HTTP2Callbacks.install(in: callbacks)
        var session: OpaquePointer?
        // The session keeps the table, which is therefore there for every callback, without holding it itself.
        let pointer = unsafe Unmanaged.passUnretained(context).toOpaque()
        guard unsafe nghttp2_session_client_new(&session, callbacks, pointer) == 0 else { return nil }
        return unsafe session
    }

    private static func text(of code: Int32) -> String {
        guard let text = unsafe nghttp2_strerror(code) else { return "nghttp2 error \(code)" }
        return unsafe "HTTP/2: \(String(cString: text))"
    }
}
