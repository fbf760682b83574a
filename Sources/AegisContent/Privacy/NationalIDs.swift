extension Screening {
    /// Whether a run is the number of a person in one of the countries that ``PersonNumber`` knows.
    func isNationalID(_ run: DigitRun) -> Bool {
        let digits = run.digits
        guard (8...15).contains(digits.count), !run.hasPlus, !run.isFraction else { return false }
        // Groups of their own kind are enough; in one piece it could as well be the number of an order.
        let isOwnForm = run.has(lengths: [1, 2, 2, 2, 3, 3, 2]) || run.has(lengths: [3, 3, 3, 2])
        guard isOwnForm || !isReference(before: run.firstToken) else { return false }
        let isNamed = isNear(.nationalID, from: run.firstToken, to: run.nextToken)
        switch digits.count {
        case 8:
            return run.groups.count == 1 && hasSpanishLetter(behind: run)
        case 9:
            if isSocialSecurity(run), isNamed || run.isParted(by: UInt8(ascii: "-")) && run.groups.count == 3 {
                return true
            }
            return isNamed && (PersonNumber.isDutch(digits) || PersonNumber.isSocialSecurity(digits))
        case 11:
            if run.groups.count == 1 || run.has(lengths: [2, 3, 3, 3]) {
                if PersonNumber.isGermanTax(digits) || isNamed && PersonNumber.isBrazilian(digits) { return true }
                return run.groups.count == 1 && PersonNumber.isPolish(digits)
            }
            return run.has(lengths: [3, 3, 3, 2]) && PersonNumber.isBrazilian(digits)
        case 15:
            return PersonNumber.isFrench(digits)
        default:
            return false
        }
    }

    private func isSocialSecurity(_ run: DigitRun) -> Bool {
        run.has(lengths: [3, 2, 4]) && run.isParted(by: UInt8(ascii: "-"), UInt8(ascii: " "))
            && PersonNumber.isSocialSecurity(run.digits)
    }

    /// Whether a hyphen and the right letter follow, as in 12345678-Z.
    private func hasSpanishLetter(behind run: DigitRun) -> Bool {
        guard isMark(run.nextToken, UInt8(ascii: "-")), let letter = token(run.nextToken + 1), letter.kind == .word,
            letter.end - letter.start == 1, letter.gap == .none
        else { return false }
        return PersonNumber.spanishLetter(of: run.digits) == bytes[letter.start] & 0xDF
    }

    /// Whether a Spanish DNI or NIE or an Italian codice fiscale starts with this token.
    func isLetteredNationalID(from index: Int) -> Bool {
        let token = tokens[index]
        switch token.end - token.start {
        case 1:
            guard isMark(index + 1, UInt8(ascii: "-")), let number = self.token(index + 2), number.kind == .number,
                number.end - number.start == 7, isMark(index + 3, UInt8(ascii: "-")),
                let letter = self.token(index + 4), letter.end - letter.start == 1, letter.gap == .none
            else { return false }
            return isSpanish([bytes[token.start]] + bytes[number.start..<number.end] + [bytes[letter.start]])
        case 9 where token.kind == .mixed:
            return !isReference(before: index) && isSpanish(Array(bytes[token.start..<token.end]))
        case 16 where token.kind == .mixed:
            return PersonNumber.isItalian(
                bytes[token.start..<token.end].map { ByteClass($0) == .letter ? $0 & 0xDF : $0 })
        default:
            return false
        }
    }

    /// Eight digits, or X, Y or Z and seven, and their letter.
    private func isSpanish(_ characters: [UInt8]) -> Bool {
        guard characters.count == 9 else { return false }
        var digits: [UInt8] = []
        switch characters[0] & 0xDF {
        case UInt8(ascii: "X"), UInt8(ascii: "Y"), UInt8(ascii: "Z"):
            digits.append((characters[0] & 0xDF) &- UInt8(ascii: "X"))
        default:
            digits.append(characters[0] &- UInt8(ascii: "0"))
        }
        for character in characters[1..<8] { digits.append(character &- UInt8(ascii: "0")) }
        guard digits.allSatisfy({ $0 < 10 }), ByteClass(characters[8]) == .letter else { return false }
        return PersonNumber.spanishLetter(of: digits) == characters[8] & 0xDF
    }
}

/// The checks of national numbers of persons.
///
/// Digits come as values, letters as ASCII capitals.
enum PersonNumber {
    /// US: no area 000, 666 or 9xx, no group 00, no serial 0000.
    ///
    /// - Source: Social Security Administration, "Social Security Number Randomization".
    static func isSocialSecurity(_ digits: [UInt8]) -> Bool {
        guard digits.count == 9 else { return false }
        let (area, group, serial) = (value(digits[0..<3]), value(digits[3..<5]), value(digits[5..<9]))
        return area != 0 && area != 666 && area < 900 && group != 0 && serial != 0
    }

    /// Germany, tax: of the first ten digits one appears twice or three times; ISO 7064, MOD 11,10.
    static func isGermanTax(_ digits: [UInt8]) -> Bool {
        guard digits.count == 11, digits[0] != 0 else { return false }
        var counts = [Int](repeating: 0, count: 10)
        for digit in digits[..<10] { counts[Int(digit % 10)] += 1 }
        guard counts.filter({ $0 > 1 }).count == 1, counts.allSatisfy({ $0 <= 3 }) else { return false }
        var product = 10
        for digit in digits[..<10] {
            let sum = (Int(digit) + product) % 10
            product = (sum == 0 ? 10 : sum) * 2 % 11
        }
        return (11 - product) % 10 == Int(digits[10])
    }

    /// France: sex, year, month, place, order, and 97 minus the rest modulo 97.
    static func isFrench(_ digits: [UInt8]) -> Bool {
        guard digits.count == 15, (1...4).contains(digits[0]) || digits[0] >= 7 && digits[0] <= 8 else { return false }
        let month = value(digits[3..<5])
        guard (1...12).contains(month) || (20...42).contains(month) || month >= 50 else { return false }
        return 97 - value(digits[..<13]) % 97 == value(digits[13...])
    }

    /// Spain: the letter of a number modulo 23.
    static func spanishLetter(of digits: [UInt8]) -> UInt8 {
        let letters: [UInt8] = Array("TRWAGMYFPDXBNJZSQVHLCKE".utf8)
        return letters[value(digits[...]) % 23]
    }

    /// Italy: six letters, year, month letter, day, place, and a letter that checks.
    ///
    /// - Source: Decreto ministeriale 12 March 1974. Digits of namesakes may be replaced by LMNPQRSTUV.
    static func isItalian(_ characters: [UInt8]) -> Bool {
        let shape: [UInt8] = Array("AAAAAA00A00A000A".utf8)
        guard characters.count == shape.count else { return false }
        let odd: [Int] = [
            1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
        ]
        var sum = 0
        for (index, character) in characters.enumerated() {
            let isLetter = ByteClass(character) == .letter
            guard isLetter || shape[index] == UInt8(ascii: "0") else { return false }
            let value = Int(character &- (isLetter ? UInt8(ascii: "A") : UInt8(ascii: "0")))
            guard odd.indices.contains(value) else { return false }
            if index == 15 { return sum % 26 == value }
            sum += index.isMultiple(of: 2) ? odd[value] : value
        }
        return false
    }

    /// Poland: a date of birth from 1900 to 2099, and weights 1, 3, 7, 9.
    static func isPolish(_ digits: [UInt8]) -> Bool {
        guard digits.count == 11 else { return false }
        let (month, day) = (value(digits[2..<4]), value(digits[4..<6]))
        guard (1...12).contains(month) || (21...32).contains(month), (1...31).contains(day) else { return false }
        let weights = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]
        return (10 - weighted(digits, by: weights) % 10) % 10 == Int(digits[10])
    }

    /// Brazil: two digits that check modulo 11, not all the same.
    static func isBrazilian(_ digits: [UInt8]) -> Bool {
        guard digits.count == 11, digits.contains(where: { $0 != digits[0] }) else { return false }
        let first = weighted(digits, by: [10, 9, 8, 7, 6, 5, 4, 3, 2]) * 10 % 11 % 10
        let second = weighted(digits, by: [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) * 10 % 11 % 10
        return first == Int(digits[9]) && second == Int(digits[10])
    }

    /// The Netherlands: weights 9 to 2 and −1, modulo 11.
    static func isDutch(_ digits: [UInt8]) -> Bool {
        guard digits.count == 9, digits.contains(where: { $0 != 0 }) else { return false }
        return (weighted(digits, by: [9, 8, 7, 6, 5, 4, 3, 2]) - Int(digits[8])) % 11 == 0
    }

    private static func weighted(_ digits: [UInt8], by weights: [Int]) -> Int {
        zip(digits, weights).reduce(0) { $0 + Int($1.0) * $1.1 }
    }

    /// At most 15 digits, so that nothing overflows.
    private static func value(_ digits: ArraySlice<UInt8>) -> Int {
        digits.reduce(0) { $0 * 10 + Int($1) }
    }
}
