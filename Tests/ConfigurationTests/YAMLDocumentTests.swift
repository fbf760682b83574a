import Configuration
import Testing

@Suite struct YAMLDocumentTests {
    private func parse(_ text: String) -> YAMLDocument {
        YAMLDocument(parsing: Array(text.utf8), file: "f.yaml")
    }

    @Test func `every value knows its line and column`() throws {
        let document = parse("a: 1\nb:\n  - x\n  - {c: \"2\"}\n")
        let mark = { (line: Int, column: Int) in YAMLMark(line: line, column: column) }
        let scalar = { (text: String, isPlain: Bool, mark: YAMLMark) in
            YAMLNode(content: .scalar(text, isPlain: isPlain), mark: mark)
        }
        let inner = YAMLEntry(key: "c", mark: mark(4, 6), value: scalar("2", false, mark(4, 9)))
        let list = YAMLNode(
            content: .sequence([scalar("x", true, mark(3, 5)), YAMLNode(content: .mapping([inner]), mark: mark(4, 5))]),
            mark: mark(3, 3))
        #expect(document.problems.isEmpty)
        #expect(
            document.root?.content
                == .mapping([
                    YAMLEntry(key: "a", mark: mark(1, 1), value: scalar("1", true, mark(1, 4))),
                    YAMLEntry(key: "b", mark: mark(2, 1), value: list),
                ]))
    }

    @Test func `a key that is there twice is a problem, and the rest is still read`() {
        let document = parse("a:\n  b:\n    - {c: 1, c: 2}\nd: 1\n")
        #expect(document.problems.map(\.description) == ["f.yaml:3: a.b[0].c: this key is here twice"])
        #expect(document.root != nil)
    }

    @Test(arguments: [
        ("a: [1, 2\nb: 3\n", 2), ("a: 1\n  b: 2\n", 2), ("a: 'x\n", 2), ("a: *none\n", 1), ("a: &a [*a]\n", 1),
        ("a: 1\n---\nb: 2\n", 2), ("a: !!binary x\n", 1), ("[1]: 2\n", 1), ("\ta: 1\n", 1), ("a: 1\nb: \u{1}\n", 2),
    ])
    func `what is no YAML, or more than is understood, is a problem at its line`(text: String, line: Int) {
        let document = parse(text)
        #expect(document.root == nil)
        #expect(document.problems.map(\.line) == [line])
    }

    @Test func `aliases stand for what they name`() {
        let document = parse("a: &x {k: v}\nb: *x\n")
        guard case .mapping(let entries)? = document.root?.content, entries.count == 2 else {
            Issue.record("two keys are expected")
            return
        }
        #expect(entries[0].value.content == entries[1].value.content)
        #expect(entries[1].value.mark == YAMLMark(line: 2, column: 4))
    }

    @Test func `an alias bomb costs nothing and is refused`() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        let document = parse(text)
        #expect(document.root == nil)
        #expect(document.problems.first?.message.contains("aliases written out") == true)
    }

    @Test(arguments: ["[", "{a: ", "- ", "? "])
    func `nesting without end is refused`(opening: String) {
        let document = parse(String(repeating: opening, count: 20_000))
        #expect(document.root == nil)
        #expect(document.problems.count == 1)
    }

    @Test func `depth by aliases counts as depth`() {
        var text = "a0: &a0 [x]\n"
        for level in 1...40 { text += "a\(level): &a\(level) [*a\(level - 1)]\n" }
        #expect(parse(text).problems.first?.message == "more than 32 levels deep")
    }

    @Test func `a file too large is not even looked at`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: YAMLDocument.largestFile + 1)
        #expect(YAMLDocument(parsing: bytes, file: "f").problems.map(\.description) == ["f: is larger than 1024 KiB"])
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `no bytes are fatal`(seed: UInt64) throws {
        let folder = try ScratchFolder()
        var random = Seeded(state: seed)
        let samples = [Array(Samples.configuration.utf8), Array(Samples.catalog.utf8)]
        let marks = Array("[]{}:-&*!|>'\"%@`#,? \n\t$\u{FEFF}".utf8)
        for round in 0..<16 {
            var bytes: [UInt8]
            if round % 4 == 0 {
                bytes = (0..<Int.random(in: 0...400, using: &random)).map { _ in .random(in: 0...255, using: &random) }
            } else {
                bytes = samples[round % 2]
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[index] =
                        round % 4 == 1 ? .random(in: 0...255, using: &random) : marks.randomElement(using: &random) ?? 0
                }
            }
            let document = YAMLDocument(parsing: bytes, file: "f")
            #expect(document.problems.allSatisfy { ($0.line ?? 1) >= 1 })
            let text = String(decoding: bytes, as: UTF8.self)
            // Either way there is an answer: a configuration, or problems.
            _ = try folder.problems(round % 2 == 0 ? text : Samples.configuration, catalog: text)
        }
    }
}

/// SplitMix64: the same numbers for the same seed.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
