/// The characters of a JSON string, between the plain and the escaped form.
package enum JSONText {
    /// Appends the escaped form of `text` without quotes: raw UTF-8, with only what JSON forbids raw being escaped.
    package static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        if needsNoEscape(text.utf8.span) {
            bytes.append(contentsOf: text.utf8)
        } else {
            for byte in text.utf8 { appendEscaped(byte, to: &bytes) }
        }
    }

    /// Appends the escaped form of a text in UTF-8.
    package static func appendEscaped(_ text: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        if needsNoEscape(text.span) {
            bytes.append(contentsOf: text)
        } else {
            for byte in text { appendEscaped(byte, to: &bytes) }
        }
    }

    private static func needsNoEscape(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where isForbiddenRaw(text[index]) { return false }
        return true
    }

    /// Appends `text` as a JSON string, quotes included.
    package static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// The characters that the escaped form between two quotes stands for, as UTF-8.
    ///
    /// What a scanner would have refused, such as a lone surrogate, becomes U+FFFD.
    package static func unescaped(_ escaped: ArraySlice<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(escaped.count)
        var index = escaped.startIndex
        while index < escaped.endIndex {
            let byte = escaped[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < escaped.endIndex else {
                plain.append(byte)
                continue
            }
            let letter = escaped[index]
            index += 1
            switch letter {
            case UInt8(ascii: "b"): plain.append(0x08)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "u"): appendScalar(of: escaped, at: &index, to: &plain)
            default: plain.append(letter)
            }
        }
        return plain
    }

    private static func isForbiddenRaw(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x08: bytes.append(contentsOf: "\\b".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0C: bytes.append(contentsOf: "\\f".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            for digit in [byte >> 4, byte & 0xF] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        default: bytes.append(byte)
        }
    }

    /// Reads the digits after `\u`, and a second escape where the first is a high surrogate.
    private static func appendScalar(of escaped: ArraySlice<UInt8>, at index: inout Int, to plain: inout [UInt8]) {
        var code = hexadecimal(of: escaped, at: index)
        index = min(index + 4, escaped.endIndex)
        if (0xD800..<0xDC00).contains(code), index + 1 < escaped.endIndex,
            escaped[index] == UInt8(ascii: "\\"), escaped[index + 1] == UInt8(ascii: "u")
        {
            let low = hexadecimal(of: escaped, at: index + 2)
            if (0xDC00..<0xE000).contains(low) {
                code = 0x1_0000 + (code - 0xD800) << 10 + (low - 0xDC00)
                index = min(index + 6, escaped.endIndex)
            }
        }
        let scalar = Unicode.Scalar(code) ?? "\u{FFFD}"
        plain.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private static func hexadecimal(of escaped: ArraySlice<UInt8>, at start: Int) -> UInt32 {
        guard start + 4 <= escaped.endIndex else { return 0xFFFD }
        var code: UInt32 = 0
        for byte in escaped[start..<start + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return 0xFFFD }
            code = code << 4 | UInt32(digit)
        }
        return code
    }
}

extension EventData {
    /// The value as written; of a string, what stands between its quotes.
    package func rawValue(of node: Node) -> ArraySlice<UInt8> {
        bytes[Int(node.value.lowerBound)..<Int(node.value.upperBound)]
    }

    /// The characters of a string, escapes resolved; nil for any other kind.
    package func text(of node: Node) -> String? {
        guard node.kind == .string else { return nil }
        let raw = rawValue(of: node)
        return node.valueHasEscapes
            ? String(decoding: JSONText.unescaped(raw), as: UTF8.self) : String(decoding: raw, as: UTF8.self)
    }

    /// The key of an object's member, escapes resolved.
    package func key(of node: Node) -> String {
        let raw = bytes[Int(node.key.lowerBound)..<Int(node.key.upperBound)]
        return node.keyHasEscapes
            ? String(decoding: JSONText.unescaped(raw), as: UTF8.self) : String(decoding: raw, as: UTF8.self)
    }

    /// Every digit of a whole number, as written; nil for fractions, exponents and other kinds.
    package func integerText(of node: Node) -> String? {
        guard node.kind == .number else { return nil }
        let raw = rawValue(of: node)
        for byte in raw where byte != UInt8(ascii: "-") {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        }
        return String(decoding: raw, as: UTF8.self)
    }

    /// Nil for anything but `true` and `false`.
    package func bool(of node: Node) -> Bool? {
        switch node.kind {
        case .true: true
        case .false: false
        case .object, .array, .string, .number, .null: nil
        }
    }

    /// The indices of the members of an object or the elements of an array, in document order.
    package func children(at index: Int) -> ChildIndices {
        guard nodes.indices.contains(index) else { return ChildIndices(data: self, upcoming: 0, end: 0) }
        return ChildIndices(data: self, upcoming: index + 1, end: Int(nodes[index].end))
    }

    /// Walks the direct children of a node.
    package struct ChildIndices: Sequence, IteratorProtocol {
        fileprivate let data: EventData
        fileprivate var upcoming: Int
        fileprivate let end: Int

        package mutating func next() -> Int? {
            guard upcoming < end else { return nil }
            defer { upcoming = Int(data.nodes[upcoming].end) }
            return upcoming
        }
    }
}
