/// A text as the rules read it: one spelling for what looks the same.
///
/// - Digits of other scripts, full-width forms, blanks, hyphens and quotes become their ASCII counterparts.
/// - Signs without a width vanish, accents fall off Latin letters, Cyrillic letters become small.
/// - Every currency sign but `$` becomes ``currencySign``; all else stays as it is, in UTF-8.
struct FoldedText {
    /// Stands for a currency sign; no UTF-8 has this byte.
    static let currencySign: UInt8 = 0xFF

    private(set) var bytes: [UInt8]

    init(_ text: Span<UInt8>) {
        bytes = Array(repeating: 0, count: text.count)
        var position = 0
        var plain = bytes.mutableSpan
        while position < text.count, text[position] < 0x80 {
            plain[position] = text[position]
            position += 1
        }
        guard position < text.count else { return }
        bytes.removeLast(text.count - position)
        while position < text.count {
            let byte = text[position]
            guard byte >= 0x80 else {
                bytes.append(byte)
                position += 1
                continue
            }
            let (scalar, length) = Self.scalar(in: text, at: position)
            if let scalar {
                append(scalar, in: text, at: position, length: length)
            } else {
                bytes.append(0xFE)
            }
            position += length
        }
    }

    /// The character at a position; nil, and one byte long, where the bytes are no UTF-8.
    private static func scalar(in text: Span<UInt8>, at position: Int) -> (UInt32?, Int) {
        let lead = text[position]
        let length: Int
        var value: UInt32
        switch lead {
        case 0xC2...0xDF: (length, value) = (2, UInt32(lead & 0x1F))
        case 0xE0...0xEF: (length, value) = (3, UInt32(lead & 0x0F))
        case 0xF0...0xF4: (length, value) = (4, UInt32(lead & 0x07))
        default: return (nil, 1)
        }
        guard position + length <= text.count else { return (nil, 1) }
        for offset in 1..<length {
            let byte = text[position + offset]
            guard byte & 0xC0 == 0x80 else { return (nil, 1) }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        return (value, length)
    }

    private mutating func append(_ scalar: UInt32, in text: Span<UInt8>, at position: Int, length: Int) {
        switch scalar {
        case 0xC0..<0x180:
            bytes.append(Self.latin(scalar))
        case 0x410...0x42F:
            appendTwoBytes(scalar + 0x20)
        case 0x401, 0x451:
            appendTwoBytes(0x435)
        default:
            if let digit = Self.digit(scalar) {
                bytes.append(UInt8(ascii: "0") &+ digit)
            } else if let sign = Self.sign(scalar) {
                if sign != 0 { bytes.append(sign) }
            } else {
                for offset in 0..<length { bytes.append(text[position + offset]) }
            }
        }
    }

    private mutating func appendTwoBytes(_ scalar: UInt32) {
        bytes.append(UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6))
        bytes.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
    }

    // MARK: Tables

    /// The letters from U+00C0 to U+017F without their accents.
    private static let latinLetters: [UInt8] = Array(
        """
        AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty\
        AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlL\
        lLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs
        """.utf8)

    private static func latin(_ scalar: UInt32) -> UInt8 {
        let index = Int(scalar) - 0xC0
        return latinLetters.indices.contains(index) ? latinLetters[index] : UInt8(ascii: "x")
    }

    /// The value of a decimal digit of the scripts in daily use, and of circled and mathematical ones.
    ///
    /// - Source: Unicode, general category Nd.
    private static func digit(_ scalar: UInt32) -> UInt8? {
        let zero: UInt32
        switch scalar {
        case 0x660...0x669: zero = 0x660
        case 0x6F0...0x6F9: zero = 0x6F0
        case 0x7C0...0x7C9: zero = 0x7C0
        case 0x966...0xD6F:
            // Nine scripts of India and its neighbours lie 128 apart, each with its digits at the same place.
            let offset = (scalar - 0x966) % 0x80
            return offset < 10 ? UInt8(truncatingIfNeeded: offset) : nil
        case 0xE50...0xE59: zero = 0xE50
        case 0xED0...0xED9: zero = 0xED0
        case 0xF20...0xF29: zero = 0xF20
        case 0x1040...0x1049: zero = 0x1040
        case 0x17E0...0x17E9: zero = 0x17E0
        case 0x1810...0x1819: zero = 0x1810
        case 0x2460...0x2468: zero = 0x245F
        case 0x24EA: zero = 0x24EA
        case 0xFF10...0xFF19: zero = 0xFF10
        case 0x1D7CE...0x1D7FF: return UInt8(truncatingIfNeeded: (scalar - 0x1D7CE) % 10)
        default: return nil
        }
        return UInt8(truncatingIfNeeded: scalar - zero)
    }

    /// The ASCII sign, or ``currencySign``, that stands for a character; zero for one that vanishes.
    private static func sign(_ scalar: UInt32) -> UInt8? {
        switch scalar {
        case 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: UInt8(ascii: " ")
        case 0xAD, 0x300...0x36F, 0x34F, 0x61C, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0x20E3,
            0xFE00...0xFE0F, 0xFEFF:
            0
        case 0x2010...0x2015, 0x2043, 0x2212, 0xFE58, 0xFE63: UInt8(ascii: "-")
        case 0xA2...0xA5, 0x20A0...0x20CF, 0xFDFC, 0xFFE0, 0xFFE1, 0xFFE5, 0xFFE6: currencySign
        case 0xFE69: UInt8(ascii: "$")
        case 0xFE6B: UInt8(ascii: "@")
        case 0xFF01...0xFF5E: UInt8(truncatingIfNeeded: scalar - 0xFEE0)
        case 0x66B, 0x3002, 0xFF61: UInt8(ascii: ".")
        case 0x66C, 0x60C, 0x3001, 0xFF64: UInt8(ascii: ",")
        case 0x2018, 0x2019, 0x2BC: UInt8(ascii: "'")
        case 0xAB, 0xBB, 0x201A...0x201F, 0x2039, 0x203A, 0x300C...0x3011: UInt8(ascii: "\"")
        case 0x2022, 0x2026, 0xB7, 0xB0, 0xBF, 0xA1, 0x301C: UInt8(ascii: "*")
        default: nil
        }
    }
}
