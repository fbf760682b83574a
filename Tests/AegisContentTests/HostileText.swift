import AegisTestKit

/// Makes texts that break careless writers of JSON and careless cutters of texts.
struct HostileText {
    var generator: SeededGenerator

    // Without U+FEFF, which Foundation's reader of JSON drops after each escape.
    private static let units = [
        "a", "Z", "7", " ", ".", "/", "\"", "\\", "\u{1}", "\u{8}", "\t", "\n", "\u{C}", "\r", "\r\n", "\u{1F}",
        "\u{7F}", "\u{85}", "\u{2028}", "é", "e\u{301}", "ß", "漢", "字", "مرحبا", "שלום", "\u{202E}", "\u{200F}",
        "\u{200D}",
        "👨‍👩‍👧‍👦", "🇩🇪", "🇩🇪🇫🇷", "1️⃣", "👍🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{FFFD}", "\u{E000}", "\u{10FFFF}", "ก็", "한", "ㅎㅏㄴ", "</script>",
        "{{x}}", "%2F", "..", "?#&=", "'", "`",
    ]

    mutating func text() -> String {
        let length =
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: 0
            case 1: 10_000
            case 2, 3: Int.random(in: 300...1_500, using: &generator)
            default: Int.random(in: 1...40, using: &generator)
            }
        // Mostly plain, mostly wild, or one unit again and again.
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return String(repeating: Self.units.randomElement(using: &generator) ?? "a", count: length)
        case 1: return String(repeating: "plain text ", count: length / 11 + 1)
        default:
            var text = ""
            for _ in 0..<length { text += Self.units.randomElement(using: &generator) ?? "a" }
            return text
        }
    }

    /// The text as a JSON string whose writer escaped more or less than it must.
    mutating func json(_ text: String) -> String {
        let style = Int.random(in: 0..<3, using: &generator)
        var json = "\""
        for scalar in text.unicodeScalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            switch (style, scalar) {
            case (0, "/"): json += "\\/"
            case (0, "\n"): json += "\\n"
            case (0, "\""): json += "\\\""
            case (1, _) where !mustEscape: json.unicodeScalars.append(scalar)
            case (2, _) where !mustEscape && Bool.random(using: &generator): json.unicodeScalars.append(scalar)
            default:
                guard mustEscape || style == 2 else {
                    json.unicodeScalars.append(scalar)
                    continue
                }
                for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                    let digits = String(unit, radix: 16)
                    json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return json + "\""
    }
}
