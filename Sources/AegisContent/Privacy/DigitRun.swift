/// Groups of digits that belong together, with what parts them.
///
/// Dates at the front are set aside, times never join.
struct DigitRun {
    struct Group {
        let token: Int
        let start: Int
        let count: Int
        /// Where the group's digits begin in ``DigitRun/digits``.
        let offset: Int
        /// The sign before the group; zero for the first.
        let separator: UInt8
    }

    private(set) var groups: [Group] = []
    /// The values of all digits.
    private(set) var digits: [UInt8] = []
    /// The token behind the run.
    var nextToken: Int
    /// Whether a plus stands before it.
    var hasPlus = false
    /// Whether a parenthesis around the first group opens.
    var opensParenthesis = false
    /// Whether it is the rest of a decimal number, or a time.
    var isFraction = false

    var firstToken: Int { groups.first?.token ?? nextToken }

    init(nextToken: Int) {
        self.nextToken = nextToken
    }

    mutating func append(_ token: Token, at index: Int, from bytes: [UInt8], separator: UInt8) {
        let count = token.end - token.start
        groups.append(
            Group(token: index, start: token.start, count: count, offset: digits.count, separator: separator))
        for position in token.start..<token.end { digits.append(bytes[position] &- UInt8(ascii: "0")) }
        nextToken = index + 1
    }

    /// The number in a group; groups of ten digits and more count as very large.
    func value(_ index: Int) -> Int {
        guard groups.indices.contains(index), groups[index].count < 10 else { return .max }
        let group = groups[index]
        return digits[group.offset..<group.offset + group.count].reduce(0) { $0 * 10 + Int($1) }
    }

    func has(lengths: [Int]) -> Bool {
        groups.count == lengths.count && groups.indices.allSatisfy { groups[$0].count == lengths[$0] }
    }

    /// Whether all separators are one of these.
    func isParted(by allowed: UInt8...) -> Bool {
        groups.dropFirst().allSatisfy { allowed.contains($0.separator) }
    }
}

extension Screening {
    /// More groups than any number has; the rest of a longer row is read as a run of its own.
    private static let mostGroups = 32

    /// The run that starts with a number.
    func digitRun(from index: Int) -> DigitRun {
        var run = DigitRun(nextToken: index + 1)
        guard tokens.indices.contains(index) else { return run }
        if tokens[index].gap == .none, index > 0 {
            run.hasPlus = isMark(index - 1, UInt8(ascii: "+"))
            run.opensParenthesis = isMark(index - 1, UInt8(ascii: "("))
            run.isFraction = tokens[index - 1].gap == .none && continuesNumber(index)
        }
        if isClock(index) { run.isFraction = true }
        if let end = dateEnd(from: index) {
            run.nextToken = end
            return run
        }
        run.append(tokens[index], at: index, from: bytes, separator: 0)
        while run.groups.count < Self.mostGroups, !run.isFraction {
            let next = run.nextToken
            guard let (joined, separator) = joinedNumber(after: next - 1), !isClock(joined) else { break }
            // A date behind a number is not part of it.
            if separator == UInt8(ascii: " "), dateEnd(from: joined) != nil { break }
            run.append(tokens[joined], at: joined, from: bytes, separator: separator)
        }
        return run
    }

    /// Whether a number goes on at this token: `,45` or `:30` behind another.
    private func continuesNumber(_ index: Int) -> Bool {
        guard let before = token(index - 2), before.kind == .number else { return false }
        return isMark(index - 1, UInt8(ascii: ",")) || isMark(index - 1, UInt8(ascii: "."))
            || isMark(index - 1, UInt8(ascii: ":"))
    }

    /// The next number of a run, and what stands between.
    private func joinedNumber(after index: Int) -> (Int, UInt8)? {
        guard let next = token(index + 1) else { return nil }
        if next.kind == .number { return next.gap == .blank ? (index + 1, UInt8(ascii: " ")) : nil }
        guard next.kind == .mark, let number = token(index + 2), number.kind == .number else {
            return closedParenthesis(after: index)
        }
        let sign = bytes[next.start]
        switch sign {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"):
            return next.gap == .none && number.gap == .none ? (index + 2, sign) : nil
        case UInt8(ascii: ")"):
            return next.gap == .none && number.gap != .wide ? (index + 2, sign) : nil
        case UInt8(ascii: "("):
            return next.gap != .wide && number.gap == .none ? (index + 2, sign) : nil
        default:
            return nil
        }
    }

    /// `)-` between two numbers.
    private func closedParenthesis(after index: Int) -> (Int, UInt8)? {
        guard isMark(index + 1, UInt8(ascii: ")")), isMark(index + 2, UInt8(ascii: "-")),
            let number = token(index + 3), number.kind == .number, number.gap == .none
        else { return nil }
        return (index + 3, UInt8(ascii: ")"))
    }

    /// Whether the number is part of a time or of an address with colons.
    func isClock(_ index: Int) -> Bool {
        if let after = token(index + 1), after.gap == .none, isMark(index + 1, UInt8(ascii: ":")),
            let number = token(index + 2), number.gap == .none, number.kind == .number || number.kind == .mixed
        {
            return true
        }
        guard let this = token(index), this.gap == .none, isMark(index - 1, UInt8(ascii: ":")),
            tokens[index - 1].gap == .none, let before = token(index - 2)
        else { return false }
        return before.kind == .number
    }

    /// The token behind a date that starts here: 2026-11-30, 30.11.2026, 11/30/26.
    func dateEnd(from index: Int) -> Int? {
        guard let first = token(index), let second = token(index + 2), let third = token(index + 4),
            first.kind == .number, second.kind == .number, token(index + 1)?.kind == .mark,
            token(index + 3)?.kind == .mark, second.gap == .none, third.gap == .none,
            token(index + 1)?.gap == Token.Gap.none, token(index + 3)?.gap == Token.Gap.none
        else { return nil }
        let sign = bytes[tokens[index + 1].start]
        guard sign == bytes[tokens[index + 3].start],
            sign == UInt8(ascii: "-") || sign == UInt8(ascii: "/") || sign == UInt8(ascii: ".")
        else { return nil }
        // A fourth group of the same kind makes it something else; 2026-11-30T12:00 has a third with letters.
        if let fourth = token(index + 6), fourth.kind == .number, fourth.gap == .none,
            isMark(index + 5, sign), tokens[index + 5].gap == .none
        {
            return nil
        }
        let (one, two) = (number(first), number(second))
        if third.kind == .mixed {
            return isYear(first) && (1...12).contains(two) ? index + 5 : nil
        }
        guard third.kind == .number else { return nil }
        let three = number(third)
        if isYear(first) {
            return (1...12).contains(two) && (1...31).contains(three) && third.end - third.start <= 2 ? index + 5 : nil
        }
        let isDay = (1...31).contains(one) && (1...12).contains(two) || (1...12).contains(one) && (1...31).contains(two)
        return isDay && (isYear(third) || third.end - third.start == 2) ? index + 5 : nil
    }

    /// A number of up to nine digits; longer ones count as very large.
    private func number(_ token: Token) -> Int {
        guard token.end - token.start < 10 else { return .max }
        return bytes[token.start..<token.end].reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
    }

    func isYear(_ token: Token) -> Bool {
        token.kind == .number && token.end - token.start == 4 && (1900...2099).contains(number(token))
    }
}
