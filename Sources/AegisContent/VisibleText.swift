import AegisCore

/// One text of an alert where it stands in the payload.
struct VisibleText {
    let key: StaticString
    /// Escaped, between its quotes.
    var range: Range<Int>
}

/// Cuts texts so that they still read as texts.
enum TextTrimmer {
    private static let ellipsis = "…"

    /// The longest beginning that ends between characters and, with an ellipsis, takes at most `budget` bytes escaped.
    ///
    /// Empty where not even one character fits.
    static func trim(_ text: String, to budget: Int) -> String {
        let room = budget - ellipsis.utf8.count
        var used = 0
        var end = text.startIndex
        var total = 0
        var isWhole = true
        for index in text.indices {
            total += escapedSize(of: text[index])
            if total <= room {
                used = total
                end = text.index(after: index)
            }
            if total > budget {
                isWhole = false
                break
            }
        }
        if isWhole { return text }
        guard used > 0 else { return "" }
        var kept = text[..<end]
        while let last = kept.last, last.isWhitespace { kept.removeLast() }
        return kept.isEmpty ? "" : kept + ellipsis
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
