extension Screening {
    /// Whether a number stands before or behind the currency at this token.
    func isAmount(around index: Int) -> Bool {
        let token = tokens[index]
        if token.kind == .word {
            if token.meaning.contains(.isoCode), !isCapital(token), !token.meaning.contains(.currency) { return false }
            if token.meaning.contains(.ambiguousCurrency) {
                return isPrecise(before: index) || isPrecise(behind: index)
            }
        }
        return numberIndex(before: index) != nil || numberIndex(behind: index) != nil
    }

    /// The number directly before a currency: `12 €`, `19,- €`, `250.– CHF`.
    private func numberIndex(before index: Int) -> Int? {
        guard let before = token(index - 1), tokens[index].gap != .wide else { return nil }
        if before.kind == .number { return index - 1 }
        guard isMark(index - 1, UInt8(ascii: "-")), before.gap == .none,
            isMark(index - 2, UInt8(ascii: ",")) || isMark(index - 2, UInt8(ascii: ".")),
            let number = token(index - 3), number.kind == .number
        else { return nil }
        return index - 3
    }

    /// The number directly behind a currency, perhaps with a sign or the full stop of an abbreviation between.
    ///
    /// Words that count things, such as "real" or "ft", stand behind their number alone.
    private func numberIndex(behind index: Int) -> Int? {
        let token = tokens[index]
        if token.meaning.contains(.currency), !isPrefixWord(token) { return nil }
        var next = index + 1
        if let mark = self.token(next), mark.kind == .mark, mark.gap != .wide,
            isMark(next, UInt8(ascii: "-")) || isMark(next, UInt8(ascii: "+"))
                || token.kind == .word && mark.gap == .none && isMark(next, UInt8(ascii: "."))
        {
            next += 1
        }
        guard let number = self.token(next), number.kind == .number, number.gap != .wide else { return nil }
        return next
    }

    private func isPrefixWord(_ token: Token) -> Bool {
        token.meaning.contains(.isoCode) && isCapital(token) || token.end - token.start == 2
    }

    private func isCapital(_ token: Token) -> Bool {
        bytes[token.start..<token.end].allSatisfy { $0 & 0x20 == 0 }
    }

    /// Whether an amount, and not a version or a count, stands before a code that is other things as well.
    private func isPrecise(before index: Int) -> Bool {
        guard isCapital(tokens[index]), let number = numberIndex(before: index) else { return false }
        return isTwoOrMore(tokens[number])
    }

    private func isPrecise(behind index: Int) -> Bool {
        guard isCapital(tokens[index]), let number = numberIndex(behind: index) else { return false }
        if isMark(number + 1, UInt8(ascii: ".")) || isMark(number + 1, UInt8(ascii: ",")),
            let decimals = token(number + 2), decimals.kind == .number, decimals.gap == .none,
            decimals.end - decimals.start >= 2
        {
            return true
        }
        return tokens[number].end - tokens[number].start >= 3 && !isYear(tokens[number])
    }

    private func isTwoOrMore(_ token: Token) -> Bool {
        token.end - token.start >= 2
    }

    /// 円, 元, 원 and the like, where a run of characters begins with them.
    func startsWithCurrency(_ index: Int) -> Bool {
        let start = tokens[index].start
        return Self.currencyCharacters.contains { character in
            character.indices.allSatisfy { byte(start + $0) == character[$0] }
        }
    }

    private static let currencyCharacters: [[UInt8]] = ["円", "元", "원", "块", "塊", "圆", "圓", "万円", "万元", "만원", "บาท"]
        .map { Array($0.utf8) }

    func isNumber(_ index: Int, gapTo next: Int) -> Bool {
        guard let number = token(index) else { return false }
        return number.kind == .number && tokens[next].gap != .wide
    }
}
