/// A name of the catalog as Swift writes it: `ACTION_APPROVAL` and `action-approval` are `actionApproval`.
///
/// The same name gives the same identifier in every export; different names may give the same one, which is for the
/// caller to find.
struct SwiftName: Hashable, Sendable {
    /// As a declaration writes it, in backticks where it is a keyword.
    let declared: String
    /// Without backticks.
    let identifier: String

    init(_ name: String) {
        var words: [String] = [""]
        for scalar in name.unicodeScalars {
            if Self.isPart(scalar) {
                words[words.count - 1].unicodeScalars.append(scalar)
            } else if words.last?.isEmpty == false {
                words.append("")
            }
        }
        words.removeAll(where: \.isEmpty)
        var identifier = words.first.map(Self.lowered) ?? ""
        for word in words.dropFirst() { identifier += Self.raised(word) }
        if identifier.isEmpty {
            // Nothing of it is a letter, so its scalars are counted out.
            identifier = "u" + name.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: "_")
        }
        if identifier.utf8.first.map({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) ?? false {
            identifier = "_" + identifier
        }
        if Self.taken.contains(identifier) { identifier += "_" }
        self.identifier = identifier
        declared = Self.keywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    /// A text as a literal of one line.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            default:
                switch scalar.properties.generalCategory {
                // Marks of direction and the like would change how the line reads.
                case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
                    literal += "\\u{\(String(scalar.value, radix: 16))}"
                default: literal.unicodeScalars.append(scalar)
                }
            }
        }
        return literal + "\""
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: scalar.value >= 0xC0 && scalar.properties.isXIDStart
        }
    }

    /// `OrderConfirmed` is `orderConfirmed`, `URLOpened` is `urlOpened`, `APPROVE` is `approve`.
    private static func lowered(_ word: String) -> String {
        guard word.contains(where: \.isLowercase) else { return word.lowercased() }
        let capitals = word.prefix { $0.isUppercase }.count
        let count = max(1, capitals - 1)
        return word.prefix(count).lowercased() + word.dropFirst(count)
    }

    private static func raised(_ word: String) -> String {
        let word = word.contains(where: \.isLowercase) ? word : word.lowercased()
        return word.prefix(1).uppercased() + word.dropFirst()
    }

    /// Names that every enumeration of texts has itself, or that read as an absent value.
    private static let taken: Set<String> = ["allCases", "hashValue", "init", "none", "rawValue", "self", "some"]

    /// - Source: "The Swift Programming Language", Lexical Structure, Keywords and Punctuation.
    private static let keywords = Set(
        """
        associatedtype borrowing class consuming deinit enum extension fileprivate func import inout internal let nonisolated
        open operator precedencegroup private protocol public rethrows static struct subscript typealias var break case catch
        continue default defer do else fallthrough for guard if in repeat return switch throw where while as await false is
        nil super throws true try
        """.split { $0 == " " || $0 == "\n" }.map(String.init))
}
