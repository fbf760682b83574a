extension Screening {
    /// Whether a run shows the number of a payment card, whole or grouped, perhaps with a short number around it.
    func isCardNumber(_ run: DigitRun) -> Bool {
        guard run.digits.count >= 13, !run.hasPlus, !isReference(before: run.firstToken) else { return false }
        for first in run.groups.indices {
            // What stands before the card is a count at most.
            if first > 0, run.groups[first - 1].count > 3 || run.groups[first].separator != UInt8(ascii: " ") {
                if !isWholeRow(run) { break }
                return false
            }
            var total = 0
            for last in first..<run.groups.count {
                if last > first, !isCardSeparator(run, at: last, first: first) { break }
                total += run.groups[last].count
                if total > 19 { break }
                guard total >= 13, hasCardGroups(run, first...last), run.groups.count - last <= 3 else { continue }
                let offset = run.groups[first].offset
                if CardNumber.isValid(run.digits[offset..<offset + total]) { return true }
            }
        }
        return false
    }

    /// Whether every group is a single digit or pair, so that only the whole row can be a number.
    private func isWholeRow(_ run: DigitRun) -> Bool {
        run.groups.allSatisfy { $0.count <= 2 }
    }

    private func isCardSeparator(_ run: DigitRun, at index: Int, first: Int) -> Bool {
        let separator = run.groups[index].separator
        guard separator == UInt8(ascii: " ") || separator == UInt8(ascii: "-") else { return false }
        return index == first + 1 || separator == run.groups[first + 1].separator
    }

    /// Cards are printed 4-4-4-4, 4-6-5 or whole; tiny groups are a disguise if they make up the whole run.
    private func hasCardGroups(_ run: DigitRun, _ range: ClosedRange<Int>) -> Bool {
        if range.count == 1 { return true }
        if range.count == run.groups.count { return run.groups[range.lowerBound].count <= 8 }
        return run.groups[range.lowerBound].count == 4
            && range.dropFirst().allSatisfy {
                run.groups[$0].count <= 6 && run.groups[$0].count >= ($0 == range.upperBound ? 1 : 4)
            }
    }
}

/// What makes a row of digits a card number.
enum CardNumber {
    /// Length and first digits are an issuer's, and the last digit checks.
    ///
    /// - Source: ISO/IEC 7812-1 (Luhn's formula); the number ranges that the card schemes publish.
    static func isValid(_ digits: ArraySlice<UInt8>) -> Bool {
        hasIssuer(digits) && passesLuhn(digits)
    }

    static func passesLuhn(_ digits: ArraySlice<UInt8>) -> Bool {
        var sum = 0
        var doubles = false
        for digit in digits.reversed() {
            let value = Int(digit) * (doubles ? 2 : 1)
            sum += value > 9 ? value - 9 : value
            doubles.toggle()
        }
        return sum % 10 == 0
    }

    private static func hasIssuer(_ digits: ArraySlice<UInt8>) -> Bool {
        let prefix = digits.prefix(6).reduce(0) { $0 * 10 + Int($1) }
        let length = digits.count
        switch prefix {
        case 400_000...499_999: return length == 13 || length == 16 || length == 19  // Visa
        case 510_000...559_999, 222_100...272_099: return length == 16  // Mastercard
        case 340_000...349_999, 370_000...379_999: return length == 15  // American Express
        case 300_000...305_999, 309_500...309_599, 360_000...369_999, 380_000...399_999:
            return length == 14 || length == 16 || length == 19  // Diners Club
        case 601_100...601_199, 644_000...659_999: return (16...19).contains(length)  // Discover, RuPay
        case 352_800...358_999: return (16...19).contains(length)  // JCB
        case 620_000...629_999, 810_000...817_999: return (16...19).contains(length)  // UnionPay
        case 500_000...509_999, 560_000...589_999, 630_000...639_999, 670_000...679_999:
            return (13...19).contains(length)  // Maestro, Elo, RuPay
        case 220_000...220_499: return (16...19).contains(length)  // Mir
        case 979_200...979_299: return length == 16  // Troy
        default: return false
        }
    }
}
