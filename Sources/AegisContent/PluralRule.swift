import AegisCore

/// Which form of a counted thing a language takes for a whole number.
///
/// - Source: Unicode CLDR, "Language Plural Rules", cardinals. A language that is not listed here tells one from other.
enum PluralRule: Hashable, Sendable {
    case oneOther, other, zeroAndOne, french, spanish, eastSlavic, southSlavic, polish, czech, arabic, hebrew
    case lithuanian, latvian, slovenian, romanian, icelandic, filipino, welsh, irish, maltese

    init(_ locale: LocaleTag) {
        let tag = locale.text.lowercased()
        switch tag.prefix(while: { $0 != "-" }) {
        case "ja", "zh", "yue", "ko", "th", "vi", "id", "ms", "my", "lo", "km", "jv", "bo", "wo", "to", "sah":
            self = .other
        case "hi", "fa", "bn", "gu", "kn", "am", "zu", "as", "hy", "si": self = .zeroAndOne
        case "fr": self = .french
        case "pt": self = tag == "pt-pt" ? .spanish : .french
        case "es", "it", "ca": self = .spanish
        case "ru", "uk", "be": self = .eastSlavic
        case "sr", "hr", "bs", "sh": self = .southSlavic
        case "pl": self = .polish
        case "cs", "sk": self = .czech
        case "ar": self = .arabic
        case "he", "iw": self = .hebrew
        case "lt": self = .lithuanian
        case "lv": self = .latvian
        case "sl": self = .slovenian
        case "ro", "mo": self = .romanian
        case "is", "mk": self = .icelandic
        case "fil", "tl": self = .filipino
        case "cy": self = .welsh
        case "ga": self = .irish
        case "mt": self = .maltese
        default: self = .oneOther
        }
    }

    func category(of count: Int64) -> PluralCategory {
        let number = count.magnitude
        let (units, tens) = (number % 10, number % 100)
        let isTeen = (11...19).contains(tens)
        switch self {
        case .other: return .other
        case .oneOther: return number == 1 ? .one : .other
        case .zeroAndOne: return number <= 1 ? .one : .other
        case .french: return number <= 1 ? .one : number % 1_000_000 == 0 ? .many : .other
        case .spanish: return number == 1 ? .one : number != 0 && number % 1_000_000 == 0 ? .many : .other
        case .eastSlavic: return Self.slavic(units, tens, rest: .many)
        case .southSlavic: return Self.slavic(units, tens, rest: .other)
        case .polish: return number == 1 ? .one : Self.isFew(units, tens) ? .few : .many
        case .czech: return number == 1 ? .one : (2...4).contains(number) ? .few : .other
        case .arabic:
            switch number {
            case 0: return .zero
            case 1: return .one
            case 2: return .two
            default: return (3...10).contains(tens) ? .few : (11...99).contains(tens) ? .many : .other
            }
        case .hebrew: return number == 1 ? .one : number == 2 ? .two : .other
        case .lithuanian: return isTeen || units == 0 ? .other : units == 1 ? .one : .few
        case .latvian: return isTeen || units == 0 ? .zero : units == 1 ? .one : .other
        case .slovenian: return tens == 1 ? .one : tens == 2 ? .two : tens == 3 || tens == 4 ? .few : .other
        case .romanian: return number == 1 ? .one : number == 0 || (1...19).contains(tens) ? .few : .other
        case .icelandic: return units == 1 && tens != 11 ? .one : .other
        case .filipino: return units == 4 || units == 6 || units == 9 ? .other : .one
        case .welsh:
            switch number {
            case 0: return .zero
            case 1: return .one
            case 2: return .two
            case 3: return .few
            case 6: return .many
            default: return .other
            }
        case .irish:
            switch number {
            case 1: return .one
            case 2: return .two
            case 3...6: return .few
            case 7...10: return .many
            default: return .other
            }
        case .maltese:
            if number == 1 { return .one }
            if number == 2 { return .two }
            return number == 0 || (3...10).contains(tens) ? .few : isTeen ? .many : .other
        }
    }

    private static func isFew(_ units: UInt64, _ tens: UInt64) -> Bool {
        (2...4).contains(units) && !(12...14).contains(tens)
    }

    private static func slavic(_ units: UInt64, _ tens: UInt64, rest: PluralCategory) -> PluralCategory {
        if units == 1, tens != 11 { return .one }
        return isFew(units, tens) ? .few : rest
    }
}
