import AegisCore
internal import CNGHTTP2
import Glibc

/// What nghttp2 calls while it reads and writes: each notes what happened in the ``StreamTable`` and returns.
enum HTTP2Callbacks {
    static func install(in callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { session, frame, context in
            guard let frame = unsafe frame, let table = unsafe HTTP2Callbacks.table(context) else { return 0 }
            if unsafe frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue),
                let slot = unsafe HTTP2Callbacks.slot(session, frame.pointee.hd.stream_id)
            {
                let start = table.produced
                table.update(slot) { $0.outputStart = start }
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            session, frame, name, nameLength, value, valueLength, _, context in
            guard let frame = unsafe frame, let table = unsafe HTTP2Callbacks.table(context),
                let slot = unsafe HTTP2Callbacks.slot(session, frame.pointee.hd.stream_id)
            else { return 0 }
            let name = unsafe UnsafeBufferPointer(start: name, count: nameLength)
            let value = unsafe UnsafeBufferPointer(start: value, count: valueLength)
            unsafe HTTP2Callbacks.noteHeader(name, value, slot: slot, in: table)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            session, _, streamID, data, length, context in
            guard let table = unsafe HTTP2Callbacks.table(context),
                let slot = unsafe HTTP2Callbacks.slot(session, streamID)
            else { return 0 }
            let chunk = unsafe UnsafeBufferPointer(start: data, count: length)
            table.update(slot) { stream in
                unsafe stream.body.append(contentsOf: chunk.prefix(max(0, ErrorBody.limit - stream.body.count)))
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, context in
            guard let frame = unsafe frame, let table = unsafe HTTP2Callbacks.table(context) else { return 0 }
            unsafe HTTP2Callbacks.noteFrame(frame, session: session, in: table)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
            session, streamID, errorCode, context in
            guard let table = unsafe HTTP2Callbacks.table(context),
                let slot = unsafe HTTP2Callbacks.slot(session, streamID)
            else { return 0 }
            HTTP2Callbacks.noteClose(slot, errorCode: errorCode, in: table)
            return 0
        }
    }

    /// Copies the next part of a request's body.
    static let readBody: nghttp2_data_source_read_callback = {
        _, _, buffer, capacity, flags, source, context in
        guard let table = unsafe HTTP2Callbacks.table(context), let buffer = unsafe buffer, let flags = unsafe flags,
            let mark = unsafe source?.pointee.ptr
        else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        var copied = 0
        var isEnd = true
        let slot = Int(bitPattern: mark) - 1
        table.update(slot) { stream in
            let payload = stream.payload
            copied = min(capacity, payload.count - stream.sentBytes)
            if copied > 0 {
                unsafe payload.withUnsafeBytes { bytes in
                    guard let start = bytes.baseAddress else { return }
                    unsafe memcpy(buffer, start + stream.sentBytes, copied)
                }
                stream.sentBytes += copied
            }
            copied = max(0, copied)
            isEnd = stream.sentBytes >= payload.count
            if isEnd {
                stream.payload = []
                stream.sentBytes = 0
            }
        }
        if isEnd { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return copied
    }

    private static func table(_ context: UnsafeMutableRawPointer?) -> StreamTable? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<StreamTable>.fromOpaque(context).takeUnretainedValue()
    }

    /// The mark that a request was submitted with, if it is one of ours.
    private static func slot(_ session: OpaquePointer?, _ streamID: Int32) -> Int? {
        guard streamID > 0, let mark = unsafe nghttp2_session_get_stream_user_data(session, streamID) else {
            return nil
        }
        return Int(bitPattern: mark) - 1
    }

    private static func noteHeader(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, slot: Int, in table: StreamTable
    ) {
        if unsafe name.elementsEqual(":status".utf8) {
            // nghttp2 lets only three digits through (RFC 9113 section 8.3.2).
            let status = unsafe value.reduce(0) { $0 &* 10 &+ Int($1 &- UInt8(ascii: "0")) }
            table.update(slot) { $0.status = status }
        } else if unsafe name.elementsEqual("retry-after".utf8), value.count <= 64 {
            let text = unsafe String(decoding: value, as: UTF8.self)
            table.update(slot) { $0.retryAfter = text }
        }
    }

    private static func noteFrame(
        _ frame: UnsafePointer<nghttp2_frame>, session: OpaquePointer?, in table: StreamTable
    ) {
        let header = unsafe frame.pointee.hd
        let isAcknowledgement = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        let isEnd = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch UInt32(header.type) {
        case NGHTTP2_SETTINGS.rawValue where !isAcknowledgement:
            table.hasSettings = true
        case NGHTTP2_PING.rawValue where isAcknowledgement:
            table.isPingAcknowledged = true
        case NGHTTP2_GOAWAY.rawValue:
            let goAway = unsafe frame.pointee.goaway
            let debug = unsafe UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
            table.goAways.append(
                StreamTable.GoAway(
                    lastStreamID: unsafe goAway.last_stream_id, errorCode: unsafe goAway.error_code,
                    debugData: unsafe Array(debug.prefix(ErrorBody.limit))))
        case NGHTTP2_HEADERS.rawValue where isEnd, NGHTTP2_DATA.rawValue where isEnd:
            guard let slot = unsafe slot(session, header.stream_id) else { return }
            _ = table.answerWithResponse(slot)
        default:
            break
        }
    }

    private static func noteClose(_ slot: Int, errorCode: UInt32, in table: StreamTable) {
        switch errorCode {
        case NGHTTP2_REFUSED_STREAM.rawValue:
            // RFC 9113 section 8.7: not processed. nghttp2 says the same of streams above a GOAWAY's last stream id.
            table.answer(slot, .notProcessed)
        case NGHTTP2_NO_ERROR.rawValue:
            if !table.answerWithResponse(slot) { table.answer(slot, .unknown(.streamReset)) }
        default:
            let isAccepted = table.slots.indices.contains(slot) && table.slots[slot]?.status == 200
            if !(isAccepted && table.answerWithResponse(slot)) { table.answer(slot, .unknown(.streamReset)) }
        }
        table.remove(slot)
    }
}
