/// Base64 with the URL alphabet and without padding (RFC 4648, section 5).
enum Base64URL {
    /// `nil` for a padded text, another alphabet, an impossible length or stray bits at the end.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var accumulated: UInt32 = 0
        var bits = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            accumulated = accumulated << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: accumulated >> UInt32(bits)))
            }
        }
        guard bits < 6, accumulated & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
