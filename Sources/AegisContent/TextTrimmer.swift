/// Cuts texts so that they still read as texts.
enum TextTrimmer {
    // U+2026.
    static let ellipsis: [UInt8] = [0xE2, 0x80, 0xA6]

    /// All but the last of the first `length` characters, to go before an ellipsis; nil where the text has no more than those.
    ///
    /// A character is what a person sees as one: a family of emoji, a flag, a letter with its marks.
    static func beginning(of text: ArraySlice<UInt8>, longerThan length: Int) -> ArraySlice<UInt8>? {
        // No character is shorter than a byte.
        guard length > 0, text.count > length else { return nil }
        if isPlain(text.prefix(length + 1)) { return text.prefix(length - 1) }
        let string = String(decoding: text, as: UTF8.self)
        // Two characters past the end of a string are no index, so a long text is not counted to its end.
        guard string.index(string.startIndex, offsetBy: length + 1, limitedBy: string.endIndex) != nil else {
            return nil
        }
        return text.prefix(string.prefix(length - 1).utf8.count)
    }

    /// Whether each byte is a character of its own; a carriage return may not be.
    private static func isPlain(_ text: ArraySlice<UInt8>) -> Bool {
        for byte in text where byte >= 0x80 || byte == 0x0D { return false }
        return true
    }

    /// The longest beginning that ends between characters and, with an ellipsis, takes at most `budget` bytes escaped.
    ///
    /// Empty where not even one character fits.
    static func trim(_ text: String, to budget: Int) -> String {
        let room = budget - ellipsis.count
        var end = text.startIndex
        var total = 0
        var isWhole = true
        for index in text.indices {
            total += escapedSize(of: text[index])
            if total <= room { end = text.index(after: index) }
            if total > budget {
                isWhole = false
                break
            }
        }
        if isWhole { return text }
        var kept = text[..<end]
        while let last = kept.last, last.isWhitespace { kept.removeLast() }
        return kept.isEmpty ? "" : kept + "…"
    }

    private static func escapedSize(of character: Character) -> Int {
        var size = 0
        for byte in character.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: size += 2
            case 0..<0x20: size += 6
            default: size += 1
            }
        }
        return size
    }
}
