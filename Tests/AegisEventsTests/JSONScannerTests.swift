import AegisCore
import AegisEvents
import Testing

@Suite struct JSONScannerTests {
    private func fault(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) -> JSONFault? {
        do throws(JSONFault) {
            _ = try JSONScanner.scan(bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    private func fault(_ text: String) -> JSONFault? { fault(Array(text.utf8)) }

    @Test func `a document becomes a flat list in its own order`() throws {
        let text = #" { "a" : [1, {"b":"x\ny"}], "c":null , "d":true,"e":false,"f":-0.5e+10 } "#
        let data = try JSONScanner.scan(Array(text.utf8))
        #expect(data.nodes.map(\.kind) == [.object, .array, .number, .object, .string, .null, .true, .false, .number])
        #expect(data.nodes.map(\.end) == [9, 5, 3, 5, 5, 6, 7, 8, 9])
        #expect(data.children(at: 0).map { data.key(of: data.nodes[$0]) } == ["a", "c", "d", "e", "f"])
        #expect(data.nodes[4].valueHasEscapes)
        #expect(data.text(of: data.nodes[4]) == "x\ny")
        #expect(String(decoding: data.rawValue(of: data.nodes[8]), as: UTF8.self) == "-0.5e+10")
        #expect(String(decoding: data.rawValue(of: data.nodes[1]), as: UTF8.self) == #"[1, {"b":"x\ny"}]"#)
        let node = try #require(data.node(at: ["a", "1", "b"].map { Array($0.utf8) }))
        #expect(data.text(of: node) == "x\ny")
    }

    @Test func `a whole number keeps every digit, other kinds are no whole number`() throws {
        let data = try JSONScanner.scan(Array("[90071992547409931234567890,-7,1.0,1e3,\"5\",true]".utf8))
        #expect(
            data.children(at: 0).map { data.integerText(of: data.nodes[$0]) } == [
                "90071992547409931234567890", "-7", nil, nil, nil, nil,
            ])
        #expect(data.bool(of: data.nodes[6]) == true)
        #expect(data.bool(of: data.nodes[5]) == nil)
    }

    @Test func `every escape is resolved, a surrogate pair among them`() throws {
        let data = try JSONScanner.scan(Array(#"["\"\\\/\b\f\n\r\t\u00e4\u20AC\ud83d\ude00"]"#.utf8))
        #expect(data.text(of: data.nodes[1]) == "\"\\/\u{8}\u{C}\n\r\tä€😀")
    }

    @Test(arguments: [
        ("", JSONFault.Kind.empty, 0), ("  ", .truncated, 2), ("{", .truncated, 1), ("[1", .truncated, 2),
        ("[1,]", .unexpectedByte, 3), ("{\"a\":1,}", .unexpectedByte, 7), ("{\"a\" 1}", .unexpectedByte, 5),
        ("[1 2]", .unexpectedByte, 3), ("{a:1}", .unexpectedByte, 1), ("nul", .truncated, 3),
        ("nulL", .unexpectedByte, 3),
        ("'a'", .unexpectedByte, 0), ("\"a", .truncated, 2), ("\"\u{1}\"", .controlCharacter, 1),
        ("\"\\x\"", .invalidEscape, 1), ("\"\\u12g4\"", .invalidEscape, 1), ("\"\\u12", .truncated, 5),
        ("\"\\ud800\"", .loneSurrogate, 1), ("\"\\udc00\"", .loneSurrogate, 1),
        ("\"\\ud800\\u0041\"", .loneSurrogate, 1), ("\"\\u0000\"", .nul, 1),
        ("01", .invalidNumber, 0), ("-", .invalidNumber, 0), ("1.", .invalidNumber, 0), ("1e", .invalidNumber, 0),
        (".5", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), ("{} {}", .trailingBytes, 3), ("1]", .trailingBytes, 1),
        ("{\"a\":1,\"a\":2}", .duplicateKey, 8), ("{\"a\":1,\"\\u0061\":2}", .duplicateKey, 8),
        ("NaN", .unexpectedByte, 0), ("[}", .unexpectedByte, 1), ("\u{FEFF}[1,]", .unexpectedByte, 6),
    ]) func `a fault has its name and its place`(text: String, kind: JSONFault.Kind, position: Int) {
        #expect(fault(text) == JSONFault(kind, at: position))
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0x80, 0x22], [0x22, 0xF0, 0x9F, 0x98], [0x22, 0xC3],
        ] as [[UInt8]]) func `what is not UTF-8 is refused`(bytes: [UInt8])
    {
        #expect(fault(bytes) == JSONFault(.invalidUTF8, at: 1))
    }

    @Test func `every Unicode scalar is read raw`() throws {
        for scalars in [
            0x80...0x7FF, 0xFFD...0x1010, 0xD7F0...0xD7FF, 0xE000...0xE010, 0xFFF0...0x1_0010, 0x10_FFF0...0x10_FFFF,
        ] {
            let text = String(String.UnicodeScalarView(scalars.compactMap { Unicode.Scalar(UInt32($0)) }))
            let data = try JSONScanner.scan(Array("\"\(text)\"".utf8))
            #expect(data.text(of: data.nodes[0]) == text)
        }
    }

    @Test func `a byte order mark is stripped`() throws {
        let data = try JSONScanner.scan([0xEF, 0xBB, 0xBF] + Array("{}".utf8))
        #expect(data == EventData.empty)
    }

    @Test(
        arguments: [
            ([0x1F, 0x8B, 0x08], JSONFault.Kind.gzip), ([0x28, 0xB5, 0x2F, 0xFD], .zstandard),
            ([0, 0, 0, 0, 11, 0x7B, 0x7D], .registryFrame(schema: 11)), ([0], .registryFrame(schema: nil)),
            ([0x03, 0x00], .glueFrame), ([0xFF, 0xFE, 0x7B], .utf16), ([0xFE, 0xFF, 0x00], .utf16),
            ([0x7B, 0x00], .utf16),
        ] as [([UInt8], JSONFault.Kind)]) func `another encoding is named`(bytes: [UInt8], kind: JSONFault.Kind)
    {
        #expect(fault(bytes) == JSONFault(kind, at: 0))
    }

    @Test func `a bomb of nesting or digits is refused at its limit`() {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        #expect(fault(deep) == JSONFault(.tooDeep(limit: 64), at: 64))
        let digits = [UInt8](repeating: UInt8(ascii: "9"), count: 10_000)
        #expect(fault(digits) == JSONFault(.numberTooLong(limit: 1_024), at: 0))
        #expect(fault([UInt8](repeating: 0x20, count: 1_048_577))?.kind == .tooLarge(limit: 1_048_576))
    }

    @Test func `64 levels and 64 digits are read`() throws {
        let nested = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try JSONScanner.scan(Array(nested.utf8)).nodes.count == 64)
        let digits = String(repeating: "7", count: 64)
        let data = try JSONScanner.scan(Array(digits.utf8))
        #expect(data.integerText(of: data.nodes[0]) == digits)
    }

    @Test func `a repeated key among very many is found`() throws {
        let members = (0..<20_000).map { "\"k\($0)\":0" }
        let unique = Array("{\(members.joined(separator: ","))}".utf8)
        #expect(try JSONScanner.scan(unique).nodes.count == 20_001)
        #expect(fault("{\(members.joined(separator: ",")),\"k7\":1}")?.kind == .duplicateKey)
    }

    @Test func `an escaped text is read back as it was`() {
        let text = "\u{1}\u{1F} \"quoted\" \\ /\n\t\u{8}\u{C}\r ä€😀\u{7F}"
        var escaped: [UInt8] = []
        JSONText.appendEscaped(text, to: &escaped)
        #expect(String(decoding: JSONText.unescaped(escaped[...]), as: UTF8.self) == text)
        #expect(String(decoding: escaped, as: UTF8.self).contains("ä€😀\u{7F}"))
    }
}
