/// Screens what a person would read on a lock screen for what nobody else should read there.
///
/// Texts are screened as they will be shown, after rendering. A first look over the bytes lets a text pass that has
/// nothing any rule needs; the others are folded (digits of other scripts, blanks, hyphens, accents), cut into tokens
/// and read once by the rules. The work grows with the length of the text, whatever it holds.
///
/// The answer names a kind and never a place or a value, so that it can be logged.
package struct PrivacyGuard: Sendable {
    private let vocabulary: Vocabulary

    /// Reads the word lists: make one and keep it.
    package init() {
        vocabulary = Vocabulary()
    }

    /// The gravest thing that `text` shows and `rule` forbids; nil where it may be sent.
    package func finding(in text: String, rule: PrivacyRule) -> PrivacyFinding? {
        finding(in: text.utf8.span, rule: rule)
    }

    /// As ``finding(in:rule:)-(String,_)``, over UTF-8 that need not be well formed.
    package func finding(in text: Span<UInt8>, rule: PrivacyRule) -> PrivacyFinding? {
        guard Self.deservesReading(text) else { return nil }
        let folded = FoldedText(text)
        let screening = Screening(bytes: folded.bytes, tokens: vocabulary.tokens(of: folded.bytes))
        return screening.finding(rule: rule)
    }

    /// The shortest run without a blank that may be a key although no digit is in it.
    private static let longRun = 20

    /// False where a text has nothing that any rule starts from.
    ///
    /// Digits, signs of addresses and of `name: value`, the `ss` of all words like password, the first bytes of
    /// characters that fold to one of these, the hyphens around a PEM header, and long runs.
    private static func deservesReading(_ text: Span<UInt8>) -> Bool {
        var run = 0
        var previous: UInt8 = 0
        for index in text.indices {
            let byte = text[index]
            if byte > 0x3F {
                run += 1
                if run >= longRun, byte < 0x80 { return true }
                switch byte {
                case UInt8(ascii: "@"), 0xD9, 0xDB, 0xDF, 0xE0, 0xE1, 0xEF: return true
                case 0x91 where previous == 0xE2, 0x9D where previous == 0xF0: return true
                case UInt8(ascii: "s"), UInt8(ascii: "S"):
                    if previous | 0x20 == UInt8(ascii: "s") { return true }
                case 0x80...: run = 0
                default: break
                }
            } else if byte == UInt8(ascii: " ") {
                run = 0
            } else if byte >= UInt8(ascii: "0"), byte != UInt8(ascii: "?"), byte != UInt8(ascii: ";") {
                return true
            } else {
                run += 1
                if run >= longRun || byte == UInt8(ascii: "-") && previous == byte { return true }
            }
            previous = byte
        }
        return false
    }
}
