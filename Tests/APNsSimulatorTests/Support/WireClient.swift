import CNGHTTP2

/// An HTTP/2 client that writes its frames by hand, so that nothing is sent but what a test asks for, and that keeps
/// every frame it reads.
@safe final class WireClient {
    struct Frame: Equatable {
        let type: UInt8
        let flags: UInt8
        let stream: Int32
        let payload: [UInt8]

        var isAcknowledgement: Bool { flags & 1 != 0 }

        /// The pairs of a SETTINGS frame.
        var settings: [UInt16: UInt32] {
            var settings: [UInt16: UInt32] = [:]
            for start in stride(from: 0, to: payload.count - 5, by: 6) {
                settings[UInt16(payload[start]) << 8 | UInt16(payload[start + 1])] = Frame.number(
                    payload[(start + 2)...])
            }
            return settings
        }

        /// Of a GOAWAY: last stream, error code, debug data.
        var goAway: (last: UInt32, code: UInt32, debug: String) {
            (
                Frame.number(payload[...]), Frame.number(payload[4...]),
                String(decoding: payload.dropFirst(8), as: UTF8.self)
            )
        }

        static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
            bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// What came on one stream.
    struct Response {
        var headers: [String: String] = [:]
        var body: [UInt8] = []
        var dataFrames = 0
        var isEnded = false
        var endedWithHeaders = false
        var resetCode: UInt32?

        var status: Int? { headers[":status"].flatMap { Int($0) } }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let continuation: UInt8 = 9
    }

    let tls: TLSConnection
    private let inflater: OpaquePointer
    private var unread: [UInt8] = []
    private(set) var frames: [Frame] = []
    private(set) var end: TLSConnection.Received?
    private var responses: [Int32: Response] = [:]
    private var nextStream: Int32 = 1

    init(_ tls: TLSConnection) throws {
        self.tls = tls
        var made: OpaquePointer?
        guard unsafe nghttp2_hd_inflate_new(&made) == 0, let made = unsafe made else {
            throw TestFailure("no inflater")
        }
        unsafe inflater = made
        try tls.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        try send(Kind.settings, stream: 0, [])
    }

    deinit { unsafe nghttp2_hd_inflate_del(inflater) }

    // MARK: Sending

    func send(_ type: UInt8, flags: UInt8 = 0, stream: Int32, _ payload: [UInt8]) throws {
        let length = [UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF)]
        try tls.send(length + [type, flags] + Self.bigEndian(UInt32(stream)) + payload)
    }

    func takeStream() -> Int32 {
        defer { nextStream += 2 }
        return nextStream
    }

    /// A POST with the headers in the order given; names that stand twice are sent twice.
    @discardableResult
    func push(
        token: String = WireClient.token, authorization: String? = nil, topic: String? = "com.example.app",
        _ extra: [(String, String)] = [], method: String = "POST", path: String? = nil,
        payload: [UInt8] = Array(#"{"aps":{"alert":"hi"}}"#.utf8)
    ) throws -> Int32 {
        let stream = takeStream()
        var headers = Self.pseudoHeaders(method: method, path: path ?? "/3/device/" + token)
        if let authorization { headers.append(("authorization", authorization)) }
        if let topic { headers.append(("apns-topic", topic)) }
        headers += extra
        try send(Kind.headers, flags: payload.isEmpty ? 5 : 4, stream: stream, Self.encoded(headers))
        if !payload.isEmpty { try send(Kind.data, flags: 1, stream: stream, payload) }
        return stream
    }

    static let token = String(repeating: "a1", count: 32)

    static func pseudoHeaders(method: String = "POST", path: String = "/3/device/" + token) -> [(String, String)] {
        [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")]
    }

    /// HPACK, literal fields without indexing and without Huffman codes (RFC 7541, section 6.2.2).
    static func encoded(_ headers: [(String, String)]) -> [UInt8] {
        headers.flatMap { name, value in [0] + text(name) + text(value) }
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var length: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    static func bigEndian(_ number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
    }

    // MARK: Receiving

    /// Reads until the condition holds.
    ///
    /// - Throws: ``TestFailure`` if the connection ends or nothing comes for ten seconds.
    func read(until condition: () -> Bool) throws {
        while !condition() {
            guard try readMore() else { throw TestFailure("the connection ended: \(String(describing: end))") }
        }
    }

    /// Reads until the connection ends, and says how.
    @discardableResult
    func readToEnd() throws -> TLSConnection.Received {
        while try readMore() {}
        return end ?? .timeout
    }

    /// What the stream got, once it is ended or reset.
    func response(_ stream: Int32) throws -> Response {
        try read { responses[stream]?.isEnded == true }
        return responses[stream] ?? Response()
    }

    func received(_ type: UInt8) -> [Frame] {
        frames.filter { $0.type == type }
    }

    /// What the stream limit was announced as, from the first SETTINGS on.
    var limits: [UInt32] {
        received(Kind.settings).compactMap { $0.settings[3] }
    }

    func hasAnswer(_ stream: Int32) -> Bool {
        responses[stream]?.isEnded == true
    }

    /// Reads what the server sent up to now, by a PING and its answer.
    func synchronise() throws {
        let payload: [UInt8] = Array("ordering".utf8)
        let before = received(Kind.ping).count
        try send(Kind.ping, stream: 0, payload)
        try read { received(Kind.ping).count > before }
    }

    private func readMore() throws -> Bool {
        switch tls.receive() {
        case .bytes(let bytes): unread += bytes
        case .timeout:
            end = .timeout
            return false
        case let other:
            end = other
            return false
        }
        while unread.count >= 9 {
            let length = Int(unread[0]) << 16 | Int(unread[1]) << 8 | Int(unread[2])
            guard unread.count >= 9 + length else { break }
            let frame = Frame(
                type: unread[3], flags: unread[4], stream: Int32(bitPattern: Frame.number(unread[5...])),
                payload: Array(unread[9..<(9 + length)]))
            unread.removeFirst(9 + length)
            try take(frame)
        }
        return true
    }

    private func take(_ frame: Frame) throws {
        frames.append(frame)
        switch frame.type {
        case Kind.settings where !frame.isAcknowledgement:
            try send(Kind.settings, flags: 1, stream: 0, [])
        case Kind.headers:
            try inflate(frame)
            responses[frame.stream, default: Response()].isEnded = frame.flags & 1 != 0
            responses[frame.stream]?.endedWithHeaders = frame.flags & 1 != 0
        case Kind.data:
            responses[frame.stream, default: Response()].body += frame.payload
            responses[frame.stream]?.dataFrames += 1
            if frame.flags & 1 != 0 { responses[frame.stream]?.isEnded = true }
        case Kind.reset:
            responses[frame.stream, default: Response()].resetCode = Frame.number(frame.payload[...])
            responses[frame.stream]?.isEnded = true
        default:
            break
        }
    }

    private func inflate(_ frame: Frame) throws {
        var rest = frame.payload[...]
        while true {
            var field = unsafe nghttp2_nv()
            var flags: Int32 = 0
            let used = unsafe nghttp2_hd_inflate_hd2(inflater, &field, &flags, Array(rest), rest.count, 1)
            guard used >= 0 else { throw TestFailure("cannot inflate headers") }
            rest = rest.dropFirst(used)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                let name = unsafe String(
                    decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self)
                let value = unsafe String(
                    decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self)
                responses[frame.stream, default: Response()].headers[name] = value
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        }
        unsafe nghttp2_hd_inflate_end_headers(inflater)
    }
}
