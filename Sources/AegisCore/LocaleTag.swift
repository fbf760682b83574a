/// A language, perhaps with a region: `de`, `de-AT`, `pt-BR`.
///
/// - Shape: BCP 47 subtags joined by `-`; an underscore is read as `-`. Case is kept as written and compared as ASCII.
package struct LocaleTag: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// Nil for what no locale looks like: empty, over 35 bytes, or other than letters, digits and separators.
    package init?(_ candidate: String) {
        var written = ""
        for character in candidate.unicodeScalars {
            switch character {
            case "a"..."z", "A"..."Z", "0"..."9", "-": written.unicodeScalars.append(character)
            case "_": written.unicodeScalars.append("-")
            default: return nil
            }
        }
        guard !written.isEmpty, written.utf8.count <= 35, written.first != "-", written.last != "-" else { return nil }
        text = written
    }

    /// The tag without its last subtag: `de-AT` becomes `de`, `de` becomes nil.
    package var parent: LocaleTag? {
        guard let separator = text.lastIndex(of: "-") else { return nil }
        return LocaleTag(String(text[..<separator]))
    }

    package var description: String { text }
}
