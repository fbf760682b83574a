extension Screening {
    /// Whether a run is a telephone number: international, in a form that nothing else has, or called one.
    ///
    /// - Source: ITU-T E.164 for lengths; the national forms are those in common use.
    func isPhoneNumber(_ run: DigitRun) -> Bool {
        let total = run.digits.count
        guard total >= 7, total <= 15, run.groups.count <= 7, !run.isFraction else { return false }
        if run.hasPlus { return total >= (run.groups.count == 1 ? 10 : 8) }
        if isReference(before: run.firstToken) { return false }
        if isInternational(run) || isNorthAmerican(run) || hasAreaInParentheses(run) { return true }
        if isNational(run) || isChineseMobile(run) { return true }
        return isPlausible(run) && isNear(.phone, from: run.firstToken, to: run.nextToken)
    }

    /// `00` and a country, in groups.
    private func isInternational(_ run: DigitRun) -> Bool {
        run.digits.count >= 10 && run.groups.count > 1 && run.digits[0] == 0 && run.digits[1] == 0
            && run.digits[2] != 0 && run.isParted(by: UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "/"))
    }

    /// 555-867-5309, 1-800-555-0199, 310.555.0123.
    private func isNorthAmerican(_ run: DigitRun) -> Bool {
        let area = run.groups.count - 3
        guard run.has(lengths: [3, 3, 4]) || run.has(lengths: [1, 3, 3, 4]) && run.digits[0] == 1,
            run.isParted(by: UInt8(ascii: "-")) || run.isParted(by: UInt8(ascii: "."))
        else { return false }
        return run.digits[run.groups[area].offset] >= 2 && run.digits[run.groups[area + 1].offset] >= 2
    }

    /// (555) 867-5309, (040) 123456, 8 (495) 123-45-67.
    private func hasAreaInParentheses(_ run: DigitRun) -> Bool {
        guard let closing = run.groups.firstIndex(where: { $0.separator == UInt8(ascii: ")") }), closing > 0 else {
            return false
        }
        let area = run.groups[closing - 1]
        let opens = area.separator == UInt8(ascii: "(") || closing == 1 && run.opensParenthesis
        let rest = run.digits.count - run.groups[closing].offset
        return opens && (1...5).contains(area.count) && rest >= 5 && run.digits.count >= 8
    }

    /// A trunk zero, an area, groups: 0171/2345678, 06 12 34 56 78, 020 7946 0958, 090-1234-5678.
    private func isNational(_ run: DigitRun) -> Bool {
        guard (9...12).contains(run.digits.count), (2...5).contains(run.groups.count), run.digits[0] == 0,
            run.digits[1] != 0, run.groups[0].count >= 2, run.groups[0].count <= 5,
            run.isParted(by: UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "."))
        else { return false }
        return run.digits.count <= 11 || run.groups.count == 2
    }

    /// 138 0013 8000.
    private func isChineseMobile(_ run: DigitRun) -> Bool {
        run.has(lengths: [3, 4, 4]) && run.digits[0] == 1 && run.digits[1] >= 3
            && run.isParted(by: UInt8(ascii: " "), UInt8(ascii: "-"))
    }

    /// A length and groups that numbers called telephone numbers have.
    private func isPlausible(_ run: DigitRun) -> Bool {
        run.digits.count <= 12 && run.groups.count <= 5
            && run.isParted(by: UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "."))
    }
}
