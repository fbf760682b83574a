import AegisCore
internal import CNGHTTP2

/// Writes the header fields of requests into memory that is used again for each.
///
/// What differs with every push is marked so that HPACK does not index it and push the rest out of its table.
///
/// - Source: Apple, "Sending notification requests to APNs"; RFC 7541 section 6.2.2.
@safe final class RequestHeaders {
    /// APNs advertises 8000 bytes for a header list, counted as RFC 9113 section 6.5.2 says.
    static let listLimit = 8_000
    private static let overhead = 32
    private static let mostFields = 11

    private let values: UnsafeMutablePointer<UInt8>
    private let fields: UnsafeMutablePointer<nghttp2_nv>
    private var used = 0
    private var count = 0

    init() {
        unsafe values = .allocate(capacity: Self.listLimit)
        unsafe fields = .allocate(capacity: Self.mostFields)
    }

    deinit {
        unsafe values.deallocate()
        unsafe fields.deallocate()
    }

    /// Why a push cannot be made into a request; nil when it can.
    static func fault(
        of push: Push, authority: [UInt8], authorization: [UInt8], listLimit: Int = RequestHeaders.listLimit
    ) -> String? {
        if push.payload.isEmpty { return "the body is empty" }
        if !isFieldValue(push.topic) { return "the topic is empty or has characters that no header may have" }
        if let collapseID = push.collapseID {
            if collapseID.utf8.count > 64 { return "the collapse id has more than 64 bytes" }
            if !isFieldValue(collapseID) {
                return "the collapse id is empty or has characters that no header may have"
            }
        }
        // Pseudo-headers, their values and the fixed names come to less than 300 bytes with the overhead.
        let fixed = mostFields * overhead + 200
        let variable =
            push.token.hex.utf8.count + push.topic.utf8.count + (push.collapseID?.utf8.count ?? 0) + authority.count
            + authorization.count
        if fixed + variable > min(listLimit, Self.listLimit) {
            return "the headers have more than \(min(listLimit, Self.listLimit)) bytes"
        }
        return nil
    }

    /// RFC 9113 section 8.2.1: no control characters, no white space at either end.
    private static func isFieldValue(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, let last = bytes.last, first != 0x20, last != 0x20 else { return false }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Lends the fields of one request; only for a push without a ``fault(of:authority:authorization:listLimit:)``.
    func withFields<Result>(
        of push: Push, authority: [UInt8], authorization: [UInt8],
        _ body: (UnsafePointer<nghttp2_nv>, Int) -> Result
    ) -> Result {
        used = 0
        count = 0
        add(":method", indexed: true) { $0.write("POST") }
        add(":scheme", indexed: true) { $0.write("https") }
        add(":authority", indexed: true) { $0.write(authority) }
        add(":path", indexed: false) {
            $0.write("/3/device/")
            $0.write(push.token.hex)
        }
        add("authorization", indexed: true) { $0.write(authorization) }
        add("apns-topic", indexed: true) { $0.write(push.topic) }
        add("apns-push-type", indexed: true) { $0.write(push.type.rawValue) }
        add("apns-priority", indexed: true) { $0.write(decimal: Int64(push.priority.rawValue)) }
        add("apns-id", indexed: false) { $0.write(push.id) }
        if let expiration = push.expiration.headerValue {
            add("apns-expiration", indexed: false) { $0.write(decimal: expiration) }
        }
        if let collapseID = push.collapseID {
            add("apns-collapse-id", indexed: false) { $0.write(collapseID) }
        }
        return unsafe body(fields, count)
    }

    private func add(_ name: StaticString, indexed: Bool, value: (RequestHeaders) -> Void) {
        let start = used
        value(self)
        // Names are literals that live as long as the process, so nghttp2 need not copy them; it copies the values.
        var flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
        if !indexed { flags |= UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
        unsafe fields[count] = nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: values + start,
            namelen: name.utf8CodeUnitCount, valuelen: used - start, flags: flags)
        count += 1
    }

    private func write(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append($0) }
    }

    private func write(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    private func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        precondition(bytes.count <= Self.listLimit - used, "a push is checked against the limit before it is written")
        guard let start = bytes.baseAddress else { return }
        unsafe (values + used).update(from: start, count: bytes.count)
        used += bytes.count
    }

    private func append(_ byte: UInt8) {
        precondition(used < Self.listLimit, "a push is checked against the limit before it is written")
        unsafe values[used] = byte
        used += 1
    }

    private func write(decimal number: Int64) {
        var divisor: Int64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }

    private func write(_ id: PushID) {
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { append(UInt8(ascii: "-")) }
            let half = index < 16 ? id.high : id.low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - (index & 15) * 4) & 0xF)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
