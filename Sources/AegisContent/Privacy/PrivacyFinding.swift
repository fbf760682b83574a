/// What a text shows that no lock screen should.
///
/// The raw values serve as reasons and metric labels; the cases stand in the order in which one is named where a text
/// shows several.
package enum PrivacyFinding: String, Hashable, Sendable, CaseIterable {
    case cardNumber = "card_number"
    case iban
    case credential
    case nationalID = "national_id"
    case password
    case oneTimeCode = "one_time_code"
    case email
    case phone
    case amount

    /// As a reason says it.
    package var words: String {
        switch self {
        case .cardNumber: "a card number"
        case .iban: "an IBAN"
        case .credential: "a key or token"
        case .nationalID: "a national identity number"
        case .password: "a password"
        case .oneTimeCode: "a one-time code"
        case .email: "an e-mail address"
        case .phone: "a phone number"
        case .amount: "an amount of money"
        }
    }
}
