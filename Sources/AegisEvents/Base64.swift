/// Base64 text with the standard or the URL alphabet, padded or not.
///
/// - Source: RFC 4648 §4 and §5.
enum Base64 {
    /// Nil for any other character, a length that no bytes have, or bits beyond the last byte.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        var digits = text[...]
        if digits.count.isMultiple(of: 4) {
            if digits.last == padding { digits.removeLast() }
            if digits.last == padding { digits.removeLast() }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var buffer: UInt32 = 0
        var bits = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            buffer = buffer << 6 | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            buffer &= (1 << UInt32(bits)) - 1
        }
        return bits < 6 && buffer == 0 ? bytes : nil
    }

    private static let padding = UInt8(ascii: "=")

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit &- UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit &- UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit &- UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
