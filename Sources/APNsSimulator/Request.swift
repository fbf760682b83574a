/// One request on one stream, from its first header to its last byte of answer.
///
/// Objects are pooled by their connection: buffers keep their capacity, so a request costs no allocation of its own.
final class Request {
    enum Phase {
        case free
        /// Headers or body are still arriving.
        case receiving
        /// Complete; the answer is due later or, for a stalled one, never.
        case waiting
        /// The answer was handed to HTTP/2.
        case answered
    }

    /// The headers the checks look at.
    enum Field: Int, CaseIterable {
        case method, path, authorization, messageID, requestID, channelID, topic, pushType, expiration, priority,
            collapseID

        init?(_ name: UnsafeBufferPointer<UInt8>) {
            switch name.count {
            case 5 where unsafe name.equals(":path"): self = .path
            case 7 where unsafe name.equals(":method"): self = .method
            case 7 where unsafe name.equals("apns-id"): self = .messageID
            case 10 where unsafe name.equals("apns-topic"): self = .topic
            case 13 where unsafe name.equals("authorization"): self = .authorization
            case 13 where unsafe name.equals("apns-priority"): self = .priority
            case 14 where unsafe name.equals("apns-push-type"): self = .pushType
            case 15 where unsafe name.equals("apns-expiration"): self = .expiration
            case 15 where unsafe name.equals("apns-channel-id"): self = .channelID
            case 15 where unsafe name.equals("apns-request-id"): self = .requestID
            case 16 where unsafe name.equals("apns-collapse-id"): self = .collapseID
            default: return nil
            }
        }
    }

    /// The most a header list may weigh, as the SETTINGS announce it (RFC 9113, section 6.5.2 says how it is weighed).
    static let headerListLimit = 8000
    /// More than this is not kept of a body; the size is still counted.
    private static let payloadKept = 16_384

    private(set) var streamID: Int32 = 0
    var phase = Phase.free
    /// The headers in order, encoded by ``HeaderBlock``.
    private(set) var headers = HeaderBlock()
    private var fields = [Range<Int>?](repeating: nil, count: Field.allCases.count)
    private(set) var repeatsHeader = false
    private(set) var headerListSize = 0
    private(set) var payload: [UInt8] = []
    private(set) var payloadSize = 0

    /// What the checks found out: the id of the answer, and the topic after defaulting.
    var answerID: [UInt8] = []
    var messageID: MessageID?
    var topic: Topic?
    /// The order in which complete requests arrived, over all connections.
    var arrival = 0
    /// `nil` is 200.
    var outcome: Rejection?
    /// The body of the answer, and how much of it went out.
    var body: [UInt8] = []
    var bodySent = 0
    var bodyChunk = Int.max

    var headersTooLarge: Bool { headerListSize > Self.headerListLimit }

    func begin(streamID: Int32) {
        self.streamID = streamID
        phase = .receiving
        headers.removeAll()
        for index in fields.indices { fields[index] = nil }
        repeatsHeader = false
        headerListSize = 0
        payload.removeAll(keepingCapacity: true)
        payloadSize = 0
        answerID.removeAll(keepingCapacity: true)
        messageID = nil
        topic = nil
        outcome = nil
        body.removeAll(keepingCapacity: true)
        bodySent = 0
        bodyChunk = .max
    }

    func addHeader(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        headerListSize &+= name.count &+ value.count &+ 32
        // What is too large is answered without being looked at.
        guard !headersTooLarge else { return }
        let place = unsafe headers.append(name: name, value: value)
        guard let field = unsafe Field(name) else { return }
        if fields[field.rawValue] == nil {
            fields[field.rawValue] = place
        } else {
            repeatsHeader = true
        }
    }

    func addPayload(_ bytes: UnsafeBufferPointer<UInt8>) {
        payloadSize &+= bytes.count
        guard payloadSize <= Self.payloadKept else { return }
        unsafe payload.append(contentsOf: bytes)
    }

    /// The value of the first header of that name.
    func value(_ field: Field) -> ArraySlice<UInt8>? {
        guard let range = fields[field.rawValue] else { return nil }
        return headers.bytes[range]
    }

    /// The hex digits of the path, as they came.
    var deviceToken: ArraySlice<UInt8> {
        (value(.path) ?? []).dropFirst(RequestChecks.devicePath.utf8CodeUnitCount)
    }
}

/// Headers in one buffer: for each two lengths of two bytes, the name, the value.
struct HeaderBlock: Sendable {
    private(set) var bytes: [UInt8] = []

    init(bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// - Returns: where the value stands. Both must fit ``Request/headerListLimit``.
    mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        appendLength(name.count)
        appendLength(value.count)
        unsafe bytes.append(contentsOf: name)
        let start = bytes.count
        unsafe bytes.append(contentsOf: value)
        return start..<bytes.count
    }

    private mutating func appendLength(_ length: Int) {
        bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        bytes.append(UInt8(truncatingIfNeeded: length))
    }

    /// A block of its own, so that the pooled buffer stays unshared and is not copied when it is next written.
    func copy() -> HeaderBlock {
        HeaderBlock(bytes: bytes.unsharedCopy())
    }

    /// The headers in the order they came.
    func decoded() -> [ReceivedNotification.Header] {
        var headers: [ReceivedNotification.Header] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let lengths = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            let name = rest.prefix(Int(lengths[0]) << 8 | Int(lengths[1]))
            rest = rest.dropFirst(name.count)
            let value = rest.prefix(Int(lengths[2]) << 8 | Int(lengths[3]))
            rest = rest.dropFirst(value.count)
            headers.append(
                .init(name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self)))
        }
        return headers
    }
}
