/// One reading of one text: its folded bytes, its tokens, and the rules over both.
///
/// The rules live in extensions, one file a subject.
struct Screening {
    let bytes: [UInt8]
    let tokens: [Token]

    func finding(rule: PrivacyRule) -> PrivacyFinding? {
        var found = FindingSet()
        var index = 0
        while index < tokens.count {
            index = read(at: index, into: &found)
        }
        if showsCredential() { found.insert(.credential) }
        if rule == .amountsAllowed { found.remove(.amount) }
        return found.gravest
    }

    /// Reads what starts at a token.
    ///
    /// - Returns: where to go on, always further on.
    private func read(at index: Int, into found: inout FindingSet) -> Int {
        let token = tokens[index]
        if token.meaning.contains(.password), showsPassword(named: index) { found.insert(.password) }
        switch token.kind {
        case .number:
            let run = digitRun(from: index)
            read(run, into: &found)
            return run.nextToken
        case .mixed:
            if isIBAN(from: index) { found.insert(.iban) }
            if isLetteredNationalID(from: index) { found.insert(.nationalID) }
            if isLetteredCode(from: index) { found.insert(.oneTimeCode) }
        case .word:
            if isMark(index + 1, UInt8(ascii: "-")) {
                if isLetteredNationalID(from: index) { found.insert(.nationalID) }
                if isLetteredCode(from: index) { found.insert(.oneTimeCode) }
            }
            if !token.meaning.isDisjoint(with: [.currency, .isoCode]), isAmount(around: index) {
                found.insert(.amount)
            }
        case .other:
            if startsWithCurrency(index), isNumber(index - 1, gapTo: index) { found.insert(.amount) }
            if token.meaning.contains(.currency), isAmount(around: index) { found.insert(.amount) }
        case .currency:
            if isAmount(around: index) { found.insert(.amount) }
        case .mark:
            if byte(token.start) == UInt8(ascii: "@"), isEmail(around: token.start) { found.insert(.email) }
        }
        return index + 1
    }

    private func read(_ run: DigitRun, into found: inout FindingSet) {
        guard run.digits.count >= 4 else { return }
        if isCardNumber(run) {
            found.insert(.cardNumber)
        } else if isNationalID(run) {
            found.insert(.nationalID)
        } else if isPhoneNumber(run) {
            found.insert(.phone)
        } else if isNumericCode(run) {
            found.insert(.oneTimeCode)
        }
    }

    // MARK: Looking around

    /// Zero outside the text.
    func byte(_ position: Int) -> UInt8 {
        bytes.indices.contains(position) ? bytes[position] : 0
    }

    func token(_ index: Int) -> Token? {
        tokens.indices.contains(index) ? tokens[index] : nil
    }

    /// Whether the token is this one sign.
    func isMark(_ index: Int, _ mark: UInt8) -> Bool {
        guard let token = token(index), token.kind == .mark else { return false }
        return bytes[token.start] == mark
    }

    /// Whether a sentence ends with this token: a full stop after a short word is taken for an abbreviation.
    func endsSentence(_ index: Int) -> Bool {
        guard let mark = token(index), mark.kind == .mark, let next = token(index + 1), next.gap != .none else {
            return false
        }
        let sign = bytes[mark.start]
        if sign == UInt8(ascii: "!") || sign == UInt8(ascii: "?") { return true }
        guard sign == UInt8(ascii: ".") else { return false }
        guard let before = token(index - 1) else { return true }
        return before.kind != .word || before.end - before.start > 4
    }

    /// Whether an order, a parcel, a flight … is what the number at this token counts.
    ///
    /// Looks back over signs, "no." and the like, and one word it does not know.
    func isReference(before index: Int) -> Bool {
        var unknown = 0
        var position = index - 1
        while position >= 0, position >= index - 8 {
            let token = tokens[position]
            if endsSentence(position) { return false }
            if !token.meaning.isDisjoint(with: [.reference, .harmless]) { return true }
            if !token.meaning.isDisjoint(with: [.phone, .nationalID, .password, .secretCode, .code]) { return false }
            if token.kind != .mark, token.meaning.isDisjoint(with: [.filler, .copula]) {
                unknown += 1
                if unknown > 1 { return false }
            }
            position -= 1
        }
        return false
    }

    /// Whether a word of this meaning stands within `reach` tokens before or `after` tokens behind.
    func isNear(_ meaning: Meaning, from first: Int, to next: Int, reach: Int = 7, after: Int = 4) -> Bool {
        var position = first - 1
        while position >= 0, position >= first - reach {
            if endsSentence(position) { break }
            if !tokens[position].meaning.isDisjoint(with: meaning) { return true }
            position -= 1
        }
        position = next
        while position < tokens.count, position < next + after {
            if endsSentence(position) { return false }
            if !tokens[position].meaning.isDisjoint(with: meaning) { return true }
            position += 1
        }
        return false
    }
}

/// The kinds found so far.
struct FindingSet {
    private var found: UInt16 = 0

    mutating func insert(_ finding: PrivacyFinding) {
        found |= Self.bit(of: finding)
    }

    mutating func remove(_ finding: PrivacyFinding) {
        found &= ~Self.bit(of: finding)
    }

    var gravest: PrivacyFinding? {
        guard found != 0 else { return nil }
        return PrivacyFinding.allCases.first { found & Self.bit(of: $0) != 0 }
    }

    private static func bit(of finding: PrivacyFinding) -> UInt16 {
        switch finding {
        case .cardNumber: 1
        case .iban: 2
        case .credential: 4
        case .nationalID: 8
        case .password: 16
        case .oneTimeCode: 32
        case .email: 64
        case .phone: 128
        case .amount: 256
        }
    }
}
