/// Lets `${NAME:-default}` stand unquoted where YAML would take its braces for a mapping, as in `{token: ${TOKEN}}`.
///
/// Before parsing, the signs of YAML inside such a place become private-use characters, one for one, so that lines and
/// columns stay; after parsing they are changed back. Backslashes and quotes stay, since they mean something in quoted
/// texts.
enum VariableMask {
    private static let signs = Set("{}[],:#&*!|>?%@` -".utf8)
    /// What no unquoted place contains: a quote ends the text around it.
    private static let ends = Set("}\n\"'".utf8)
    /// A sign becomes U+E000 plus its ASCII code: three bytes of UTF-8 beginning with this one.
    private static let firstByte: UInt8 = 0xEE

    /// The masked bytes; nil where nothing needs it, or where the text has such characters of its own.
    static func masked(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "$")), !bytes.contains(firstByte) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
            result += rest[...dollar]
            rest = rest[dollar...].dropFirst()
            guard rest.first == UInt8(ascii: "{"),
                let end = rest.firstIndex(where: ends.contains),
                rest[end] == UInt8(ascii: "}")
            else { continue }
            for byte in rest[...end] {
                if signs.contains(byte) {
                    result += [firstByte, 0x80 | byte >> 6, 0x80 | byte & 0x3F]
                } else {
                    result.append(byte)
                }
            }
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }

    static func unmasked(_ text: String) -> String {
        guard text.utf8.contains(firstByte) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isMasked = (0xE000...0xE07F).contains(scalar.value)
            result.append(isMasked ? Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value)) : scalar)
        }
        return String(result)
    }
}
