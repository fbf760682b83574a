/// The value of an `apns-id`: a UUID.
struct MessageID: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    private static let digits = Array("0123456789abcdef".utf8)

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The canonical form alone: 8-4-4-4-12 hex digits of either case.
    init?(_ text: ArraySlice<UInt8>) {
        guard text.count == 36 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        var position = 0
        for byte in text {
            defer { position += 1 }
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = HexDigit.value(of: byte) else { return nil }
            if position < 19 {
                high = high << 4 | UInt64(digit)
            } else {
                low = low << 4 | UInt64(digit)
            }
        }
        self.init(high: high, low: low)
    }

    var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for nibble in 0..<32 {
            if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 { text.append(UInt8(ascii: "-")) }
            let word = nibble < 16 ? high : low
            text.append(Self.digits[Int(word >> UInt64((15 - nibble % 16) * 4) & 0xF)])
        }
        return text
    }
}

/// Hexadecimal digits of either case.
enum HexDigit {
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
