/// The `apns-id` of one notification to one device: the same for every attempt, whichever instance makes it.
///
/// - Shape: 16 bytes, a UUID of version 5 over event identity, user and device row.
/// - Source: RFC 9562 §5.5; Apple, "Sending notification requests to APNs" (canonical 8-4-4-4-12, lower case).
package struct PushID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the canonical form, in either case; nil for anything else.
    package init?(text: some StringProtocol) {
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        var digits = 0
        var position = 0
        for byte in text.utf8 {
            defer { position += 1 }
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt64
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt64(byte &- UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = UInt64(byte &- UInt8(ascii: "a")) + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = UInt64(byte &- UInt8(ascii: "A")) + 10
            default: return nil
            }
            guard digits < 32 else { return nil }
            if digits < 16 {
                halves.high = halves.high << 4 | value
            } else {
                halves.low = halves.low << 4 | value
            }
            digits += 1
        }
        guard digits == 32, position == 36 else { return nil }
        self.init(high: halves.high, low: halves.low)
    }

    package var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PushID {
    /// Appends the 36 bytes of the canonical form.
    package func append(to bytes: inout [UInt8]) {
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                bytes.append(UInt8(ascii: "-"))
            }
            let half = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - (index & 15) * 4) & 0xF)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
