import AegisCore

/// The forms a language has for a counted thing.
///
/// - Source: Unicode CLDR, "Language Plural Rules", for whole numbers. A language that is not listed here tells one from other.
package enum PluralCategory: String, Hashable, Sendable, CaseIterable {
    case zero, one, two, few, many, other

    init(of count: Int64, in locale: LocaleTag) {
        let language = locale.text.prefix { $0 != "-" }.lowercased()
        let number = count.magnitude
        let (units, tens) = (number % 10, number % 100)
        switch language {
        case "ja", "zh", "ko", "th", "vi", "id", "ms", "my", "lo":
            self = .other
        case "fr", "pt", "hy", "hi", "fa", "bn":
            self = number <= 1 ? .one : .other
        case "ru", "uk", "be":
            self = Self.eastSlavic(units, tens, rest: .many)
        case "sr", "hr", "bs":
            self = Self.eastSlavic(units, tens, rest: .other)
        case "pl":
            if number == 1 {
                self = .one
            } else {
                self = (2...4).contains(units) && !(12...14).contains(tens) ? .few : .many
            }
        case "cs", "sk":
            self = number == 1 ? .one : (2...4).contains(number) ? .few : .other
        case "ar":
            switch number {
            case 0: self = .zero
            case 1: self = .one
            case 2: self = .two
            default: self = (3...10).contains(tens) ? .few : (11...99).contains(tens) ? .many : .other
            }
        case "he":
            self = number == 1 ? .one : number == 2 ? .two : .other
        default:
            self = number == 1 ? .one : .other
        }
    }

    private static func eastSlavic(_ units: UInt64, _ tens: UInt64, rest: PluralCategory) -> PluralCategory {
        if units == 1, tens != 11 { return .one }
        return (2...4).contains(units) && !(12...14).contains(tens) ? .few : rest
    }
}
