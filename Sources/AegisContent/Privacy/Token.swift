/// A piece of a folded text: a word, a number, or one sign.
struct Token {
    enum Kind: UInt8 {
        /// ASCII letters.
        case word
        /// ASCII digits.
        case number
        /// ASCII letters and digits.
        case mixed
        /// Characters of other scripts.
        case other
        /// A currency sign.
        case currency
        /// One sign.
        case mark
    }

    /// What parts a token from the one before it.
    enum Gap: UInt8 {
        case none
        case blank
        case wide
    }

    let start: Int
    let end: Int
    let kind: Kind
    let gap: Gap
    let meaning: Meaning
}

/// What a word says about the numbers and names around it.
struct Meaning: OptionSet {
    let rawValue: UInt32

    /// "code": a secret if nothing says that it is a discount, an error or a place.
    static let code = Meaning(rawValue: 1 << 0)
    /// "OTP", "PIN", "passcode": a secret by itself.
    static let secretCode = Meaning(rawValue: 1 << 1)
    /// "verification", "login": makes a code a secret.
    static let securing = Meaning(rawValue: 1 << 2)
    /// "promo", "zip", "error": makes a code harmless.
    static let harmless = Meaning(rawValue: 1 << 3)
    static let password = Meaning(rawValue: 1 << 4)
    /// What follows is the secret even where it is made of ordinary words.
    static let phrase = Meaning(rawValue: 1 << 5)
    /// "order", "flight", "version": what follows counts or names something public.
    static let reference = Meaning(rawValue: 1 << 6)
    static let phone = Meaning(rawValue: 1 << 7)
    static let nationalID = Meaning(rawValue: 1 << 8)
    /// Currency words, and ISO codes if they are capitals.
    static let currency = Meaning(rawValue: 1 << 9)
    static let isoCode = Meaning(rawValue: 1 << 10)
    /// "token", "key", "secret".
    static let credential = Meaning(rawValue: 1 << 11)
    /// "Bearer", "Basic": a credential follows directly.
    static let scheme = Meaning(rawValue: 1 << 12)
    /// "is", "lautet": joins a name to its value.
    static let copula = Meaning(rawValue: 1 << 13)
    /// "enter", "type", "use".
    static let entering = Meaning(rawValue: 1 << 14)
    /// "to", "in": what follows "enter 1234".
    static let purpose = Meaning(rawValue: 1 << 15)
    /// "changed", "expires", "sent": tells of a secret without showing it.
    static let state = Meaning(rawValue: 1 << 16)
    /// "your", "no.", "the": says nothing by itself.
    static let filler = Meaning(rawValue: 1 << 17)
    /// "commit", "checksum": a long hexadecimal number next to it is public.
    static let digest = Meaning(rawValue: 1 << 18)
    /// ISO codes that are other things as well: PHP, COP.
    static let ambiguousCurrency = Meaning(rawValue: 1 << 19)
}
