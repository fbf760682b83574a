package import AegisCore

/// Reads UTF-8 bytes once, strictly, into the index that events keep of their data.
///
/// The root may be of any kind. Strings stay as they were escaped; numbers keep every digit. Nothing recurses, so no depth
/// of nesting reaches the stack, and every limit is checked before the work that it bounds.
///
/// - Source: RFC 8259, made stricter: unique keys, no lone surrogate, no escaped NUL.
package enum JSONScanner {
    /// - Throws: ``JSONFault`` with the first fault and its byte position.
    package static func scan(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONFault) -> EventData {
        guard bytes.count <= limits.bytes else { throw JSONFault(.tooLarge(limit: limits.bytes), at: limits.bytes) }
        if let foreign = foreignEncoding(of: bytes) { throw JSONFault(foreign, at: 0) }
        guard bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { return try scanMarkless(bytes, limits: limits) }
        do throws(JSONFault) {
            return try scanMarkless(Array(bytes.dropFirst(3)), limits: limits)
        } catch {
            throw JSONFault(error.kind, at: error.position + 3)
        }
    }

    private static func scanMarkless(_ bytes: [UInt8], limits: JSONLimits) throws(JSONFault) -> EventData {
        guard !bytes.isEmpty else { throw JSONFault(.empty, at: 0) }
        var pass = ScanPass(limits: limits, size: bytes.count)
        try pass.document(bytes.span)
        return EventData(bytes: bytes, nodes: pass.nodes)
    }

    /// What the first bytes say, where they say that it is no UTF-8 text at all.
    private static func foreignEncoding(of bytes: [UInt8]) -> JSONFault.Kind? {
        guard bytes.count > 1 else { return bytes.first == 0 ? .registryFrame(schema: nil) : nil }
        switch (bytes[0], bytes[1]) {
        case (0x00, _):
            guard bytes.count >= 5 else { return .registryFrame(schema: nil) }
            return .registryFrame(schema: bytes[1..<5].reduce(0) { $0 << 8 | UInt32($1) })
        case (0x03, _): return .glueFrame
        case (0x1F, 0x8B): return .gzip
        case (0x28, 0xB5): return bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) ? .zstandard : nil
        case (0xFF, 0xFE), (0xFE, 0xFF), (_, 0x00): return .utf16
        default: return nil
        }
    }
}

/// One pass over a document.
private struct ScanPass {
    private(set) var nodes: [EventData.Node] = []
    private let limits: JSONLimits
    /// The containers that are not closed yet, outermost first.
    private var open: [Int] = []
    private var position = 0

    init(limits: JSONLimits, size: Int) {
        self.limits = limits
        nodes.reserveCapacity(min(size / 12, 1_024) + 4)
    }

    mutating func document(_ text: Span<UInt8>) throws(JSONFault) {
        skipBlanks(text)
        try value(text, key: (0..<0, false))
        while let container = open.last {
            skipBlanks(text)
            let byte = try next(text)
            let isObject = nodes[container].kind == .object
            if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                try close(text)
                continue
            }
            if nodes.count > container + 1 {
                guard byte == UInt8(ascii: ",") else { throw fault(.unexpectedByte) }
                position += 1
                skipBlanks(text)
            }
            try value(text, key: isObject ? try key(text) : (0..<0, false))
        }
        skipBlanks(text)
        guard position == text.count else { throw fault(.trailingBytes) }
    }

    private func fault(_ kind: JSONFault.Kind) -> JSONFault {
        JSONFault(kind, at: position)
    }

    private func next(_ text: Span<UInt8>) throws(JSONFault) -> UInt8 {
        guard position < text.count else { throw fault(.truncated) }
        return text[position]
    }

    private mutating func skipBlanks(_ text: Span<UInt8>) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func key(_ text: Span<UInt8>) throws(JSONFault) -> (range: Range<Int32>, hasEscapes: Bool) {
        guard try next(text) == UInt8(ascii: "\"") else { throw fault(.unexpectedByte) }
        let key = try string(text)
        skipBlanks(text)
        guard try next(text) == UInt8(ascii: ":") else { throw fault(.unexpectedByte) }
        position += 1
        skipBlanks(text)
        return key
    }

    private mutating func value(
        _ text: Span<UInt8>, key: (range: Range<Int32>, hasEscapes: Bool)
    ) throws(JSONFault) {
        let start = Int32(truncatingIfNeeded: position)
        var kind: EventData.Kind
        var range = start..<start
        var hasEscapes = false
        switch try next(text) {
        case UInt8(ascii: "\""):
            kind = .string
            (range, hasEscapes) = try string(text)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < limits.depth else { throw fault(.tooDeep(limit: limits.depth)) }
            kind = text[position] == UInt8(ascii: "{") ? .object : .array
            open.append(nodes.count)
            position += 1
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            kind = .number
            try number(text)
        case UInt8(ascii: "t"):
            kind = .true
            try literal("true", text)
        case UInt8(ascii: "f"):
            kind = .false
            try literal("false", text)
        case UInt8(ascii: "n"):
            kind = .null
            try literal("null", text)
        default:
            throw fault(.unexpectedByte)
        }
        if kind != .string { range = start..<Int32(truncatingIfNeeded: position) }
        nodes.append(
            EventData.Node(
                kind: kind, key: key.range, keyHasEscapes: key.hasEscapes, value: range, valueHasEscapes: hasEscapes,
                end: Int32(truncatingIfNeeded: nodes.count + 1)))
    }

    private mutating func literal(_ word: StaticString, _ text: Span<UInt8>) throws(JSONFault) {
        for byte in word.description.utf8 {
            guard try next(text) == byte else { throw fault(.unexpectedByte) }
            position += 1
        }
    }

    private mutating func close(_ text: Span<UInt8>) throws(JSONFault) {
        guard let container = open.popLast() else { throw fault(.unexpectedByte) }
        position += 1
        nodes[container].value = nodes[container].value.lowerBound..<Int32(truncatingIfNeeded: position)
        nodes[container].end = Int32(truncatingIfNeeded: nodes.count)
        if nodes[container].kind == .object { try refuseRepeatedKeys(of: container, text) }
    }
}

// MARK: Strings

extension ScanPass {
    private mutating func string(
        _ text: Span<UInt8>
    ) throws(JSONFault) -> (range: Range<Int32>, hasEscapes: Bool) {
        position += 1
        let start = Int32(truncatingIfNeeded: position)
        var hasEscapes = false
        while position < text.count {
            let byte = text[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<Int32(truncatingIfNeeded: position - 1), hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape(text)
            case 0..<0x20:
                throw fault(.controlCharacter)
            case 0x20..<0x80:
                position += 1
            default:
                try multibyteScalar(text)
            }
        }
        throw fault(.truncated)
    }

    /// The well-formed sequences: Unicode Standard, table 3-7.
    private mutating func multibyteScalar(_ text: Span<UInt8>) throws(JSONFault) {
        let lead = text[position]
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xE1...0xEC, 0xEE...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: throw fault(.invalidUTF8)
        }
        guard position + length <= text.count, second.contains(text[position + 1]) else { throw fault(.invalidUTF8) }
        for following in 2..<max(2, length) {
            guard text[position + following] & 0xC0 == 0x80 else { throw fault(.invalidUTF8) }
        }
        position += length
    }

    private mutating func escape(_ text: Span<UInt8>) throws(JSONFault) {
        guard position + 1 < text.count else { throw fault(.truncated) }
        switch text[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let code = try codeUnit(text, at: position)
            switch code {
            case 0:
                throw fault(.nul)
            case 0xDC00..<0xE000:
                throw fault(.loneSurrogate)
            case 0xD800..<0xDC00:
                guard position + 7 < text.count, text[position + 6] == UInt8(ascii: "\\"),
                    text[position + 7] == UInt8(ascii: "u"),
                    (0xDC00..<0xE000).contains(try codeUnit(text, at: position + 6))
                else { throw fault(.loneSurrogate) }
                position += 12
            default:
                position += 6
            }
        default:
            throw fault(.invalidEscape)
        }
    }

    /// The four hexadecimal digits of the escape that begins at `start`.
    private func codeUnit(_ text: Span<UInt8>, at start: Int) throws(JSONFault) -> UInt32 {
        guard start + 6 <= text.count else { throw JSONFault(.truncated, at: text.count) }
        var code: UInt32 = 0
        for index in start + 2..<start + 6 {
            let digit: UInt8
            switch text[index] {
            case let byte where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): digit = byte &- 0x30
            case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): digit = byte &- 0x61 &+ 10
            case let byte where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): digit = byte &- 0x41 &+ 10
            default: throw JSONFault(.invalidEscape, at: start)
            }
            code = code << 4 | UInt32(digit)
        }
        return code
    }
}

// MARK: Numbers and keys

extension ScanPass {
    private mutating func number(_ text: Span<UInt8>) throws(JSONFault) {
        let start = position
        if text[position] == UInt8(ascii: "-") { position += 1 }
        if position < text.count, text[position] == UInt8(ascii: "0") {
            position += 1
            if position < text.count, isDigit(text[position]) { throw JSONFault(.invalidNumber, at: start) }
        } else {
            try digits(text, from: start)
        }
        if position < text.count, text[position] == UInt8(ascii: ".") {
            position += 1
            try digits(text, from: start)
        }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < text.count, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits(text, from: start)
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func digits(_ text: Span<UInt8>, from start: Int) throws(JSONFault) {
        let first = position
        while position < text.count, isDigit(text[position]) {
            position += 1
            guard position - start <= limits.numberBytes else {
                throw JSONFault(.numberTooLong(limit: limits.numberBytes), at: start)
            }
        }
        guard position > first else { throw JSONFault(.invalidNumber, at: start) }
    }

    /// Two readers that disagree on which of two equal keys counts can be played against each other, so neither is read.
    private func refuseRepeatedKeys(of container: Int, _ text: Span<UInt8>) throws(JSONFault) {
        let end = nodes.count
        var members = 0
        var hasEscapes = false
        var index = container + 1
        while index < end {
            members += 1
            hasEscapes = hasEscapes || nodes[index].keyHasEscapes
            index = Int(nodes[index].end)
        }
        guard members > 1 else { return }
        if members > 16 || hasEscapes { return try refuseRepeatedKeysBySet(of: container, text) }
        index = container + 1
        while index < end {
            var other = Int(nodes[index].end)
            while other < end {
                if isSameKey(nodes[index].key, nodes[other].key, text) {
                    throw JSONFault(.duplicateKey, at: Int(nodes[other].key.lowerBound))
                }
                other = Int(nodes[other].end)
            }
            index = Int(nodes[index].end)
        }
    }

    private func isSameKey(_ left: Range<Int32>, _ right: Range<Int32>, _ text: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for step in 0..<left.count where text[Int(left.lowerBound) + step] != text[Int(right.lowerBound) + step] {
            return false
        }
        return true
    }

    private func refuseRepeatedKeysBySet(of container: Int, _ text: Span<UInt8>) throws(JSONFault) {
        var seen: Set<[UInt8]> = []
        var index = container + 1
        while index < nodes.count {
            let node = nodes[index]
            var key: [UInt8] = []
            key.reserveCapacity(node.key.count)
            for byte in node.key { key.append(text[Int(byte)]) }
            if node.keyHasEscapes { key = JSONText.unescaped(key[...]) }
            guard seen.insert(key).inserted else { throw JSONFault(.duplicateKey, at: Int(node.key.lowerBound)) }
            index = Int(node.end)
        }
    }
}
