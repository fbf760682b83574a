import AegisContent
import AegisTestKit
import Testing

@Suite struct PrivacyHostileTests {
    private let screen = PrivacyGuard()

    private func time(_ unit: String, of length: Int) -> Duration {
        let text = String(repeating: unit, count: length / unit.utf8.count)
        return ContinuousClock().measure { _ = screen.finding(in: text, rule: .strict) }
    }

    @Test(arguments: [
        "7", "@", "a@", "4 ", "4242-", "DE89 ", "code: 1 ", "password ", "password: ", "eyJ", "SK-", "a@b.", "1.", "密",
        "$1",
        "1:", "(1)", "x=", "-----BEGIN", "\u{200B}", "is your code 1", "x1-", "+1 ", "aB3",
    ]) func `a long text takes time in proportion to its length`(unit: String) {
        // The better of two runs, with room for a busy machine: work that grew with the square would be 64 times as much.
        let short = min(time(unit, of: 8_192), time(unit, of: 8_192))
        let long = min(time(unit, of: 65_536), time(unit, of: 65_536))
        #expect(long < short * 32 + .milliseconds(50))
    }

    @Test func `a megabyte of digits or ten thousand at signs hide nothing and harm nothing`() {
        #expect(screen.finding(in: String(repeating: "7", count: 1_000_000), rule: .strict) == nil)
        #expect(screen.finding(in: String(repeating: "@", count: 10_000), rule: .strict) == nil)
        let tail = String(repeating: "@", count: 10_000) + " Card 4111 1111 1111 1111"
        #expect(screen.finding(in: tail, rule: .strict) == .cardNumber)
    }

    /// Pieces that bring random texts near the rules.
    private static let pieces = [
        "code", "is", "your", ":", "=", " ", " ", "-", ".", "/", "@", "+", "(", ")", "4", "12", "4111", "1111", "€",
        "$", "USD",
        "password", "passwort", "PIN", "DE89", "X", "Z", "é", "１", "٣", "验证码", "コード", "\u{200B}", "\u{00A0}", "eyJ",
        "sk_",
        "token", "key", "#", ",", "\n", "\"", "🙂", "2026", "円", "com", "A1b2C3", "Bearer",
    ]

    @Test(arguments: [UInt64(1), 2, 3, 4]) func `random texts are judged alike each time`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let other = PrivacyGuard()
        for _ in 0..<5_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...24, using: &generator) {
                text += Self.pieces.randomElement(using: &generator) ?? ""
            }
            #expect(screen.finding(in: text, rule: .strict) == other.finding(in: text, rule: .strict))
        }
    }

    @Test(arguments: [UInt64(5), 6]) func `bytes that are no text are judged without a trap`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let first = screen.finding(in: bytes.span, rule: .strict)
            #expect(screen.finding(in: bytes.span, rule: .strict) == first)
            _ = screen.finding(in: String(decoding: bytes, as: UTF8.self), rule: .strict)
        }
    }

    @Test func `a text cut anywhere is judged without a trap`() {
        let text = Array("Code: １２３４ é 4111-1111 a@b.co DE89 3704 sk_ €12 验证码 X-1234567-L (0) 1:2".utf8)
        for start in text.indices {
            for end in start..<text.count {
                let part = Array(text[start...end])
                _ = screen.finding(in: part.span, rule: .strict)
            }
        }
        #expect(screen.finding(in: "", rule: .strict) == nil)
    }
}
