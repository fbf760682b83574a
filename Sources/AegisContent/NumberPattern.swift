import Foundation

/// How numbers look in one locale: signs, separators and digits, learned from Foundation's own spelling.
///
/// A pattern is kept only if it spells a list of numbers, both signs and every length among them, byte for byte as Foundation
/// does; where it cannot, Foundation is asked for each number.
struct NumberPattern: Sendable {
    private struct Affixes: Equatable, Sendable {
        var prefix: [UInt8]
        var suffix: [UInt8]
    }

    private var positive: Affixes
    private var negative: Affixes
    private var digits: [[UInt8]]
    /// Digits after the point at the least.
    let places: Int
    /// Whether every digit is one byte: then it is the digit's value above this.
    private var firstDigit: UInt8?
    private var grouping: [UInt8]
    private var point: [UInt8]
    private var firstGroup: Int
    private var otherGroups: Int
    /// From how many whole digits on there are groups at all.
    private var grouped: Int

    /// - Parameters:
    ///   - places: How many digits stand after the point at the least, which for money is always.
    ///   - spell: Foundation's spelling.
    init?(places: Int, spell: (Decimal) -> String) {
        self.places = places
        let unit = Decimal(sign: .plus, exponent: -places, significand: 1)
        guard let shape = Shape(spell(Decimal(1_234_567_890_123)), places: places),
            let minus = Shape(spell(Decimal(-1_234_567_890_123)), places: places),
            let long = Shape(spell(Decimal(12_345)), places: places),
            let short = Shape(spell(Decimal(1_234)), places: places)
        else { return nil }
        positive = Affixes(prefix: Array(shape.prefix.utf8), suffix: Array(shape.suffix.utf8))
        negative = Affixes(prefix: Array(minus.prefix.utf8), suffix: Array(minus.suffix.utf8))
        grouping = Array(shape.separators.last.map { String($0.text) }?.utf8 ?? "".utf8)
        if shape.separators.isEmpty {
            (firstGroup, otherGroups, grouped) = (3, 3, .max)
        } else {
            firstGroup = 13 - (shape.separators.last?.position ?? 10)
            otherGroups =
                shape.separators.count > 1
                ? (shape.separators[shape.separators.count - 1].position
                    - shape.separators[shape.separators.count - 2].position) : firstGroup
            grouped = !short.separators.isEmpty ? 4 : !long.separators.isEmpty ? 5 : 6
        }
        digits = (0..<10).compactMap { digit in
            Shape(spell(Decimal(digit)), places: places)?.digits.first.map { Array(String($0).utf8) }
        }
        guard digits.count == 10, firstGroup > 0, otherGroups > 0 else { return nil }
        firstDigit = digits.allSatisfy { $0.count == 1 } ? digits[0][0] : nil
        let half = spell(places > 0 ? Decimal(1) : Decimal(sign: .plus, exponent: -1, significand: 15))
        point = Array((Shape.point(of: half) ?? "").utf8)
        guard
            Self.probes.allSatisfy({ probe in
                let number = Decimal(probe) * (places > 0 ? unit : 1)
                return matches(number, places: places, spell)
            })
        else { return nil }
        if places == 0, !point.isEmpty {
            guard
                ["0.5", "-0.25", "1234.5", "-98765.125", "1234567.891234", "0.000001"].allSatisfy({ text in
                    Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map {
                        matches($0, places: 0, spell)
                    } ?? false
                })
            else { return nil }
        }
        let parts = [positive.prefix, positive.suffix, negative.prefix, negative.suffix, grouping, point]
        guard (parts + digits).allSatisfy({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C } }) else {
            return nil
        }
    }

    private static let probes: [Int64] = [
        0, 1, 9, 10, 42, 99, 100, 678, 999, 1_000, 1_234, 9_999, 10_000, 12_345, 99_999, 100_000, 123_456, 999_999,
        1_000_000, 1_234_567, 12_345_678, 123_456_789, 1_234_567_890, 98_765_432_109_876, 1_234_567_890_123_456, -1, -9,
        -10, -99, -100, -999, -1_000, -1_234, -10_000, -12_345, -100_000, -1_000_000, -1_234_567, -1_234_567_890_123,
    ]

    private func matches(_ number: Decimal, places: Int, _ spell: (Decimal) -> String) -> Bool {
        let plain = number.formatted(
            .number.grouping(.never).precision(.fractionLength(places...max(places, 6)))
                .locale(Locale(identifier: "en_US_POSIX")))
        guard var digits = DecimalDigits(Array(plain.utf8)[...]) else { return false }
        digits.pad(to: places)
        var bytes: [UInt8] = []
        append(digits, to: &bytes)
        return String(decoding: bytes, as: UTF8.self) == spell(number)
            && bytes.elementsEqual(spell(number).utf8)
    }

    /// Writes a number as it has its digits, none added and none cut; its bytes need no escape in JSON.
    func append(_ number: DecimalDigits, to bytes: inout [UInt8]) {
        let affixes = number.isNegative ? negative : positive
        bytes.append(contentsOf: affixes.prefix)
        let whole = number.count - number.fraction
        let hasGroups = whole >= grouped
        for index in 0..<number.count {
            if index == whole {
                bytes.append(contentsOf: point)
            } else if hasGroups, index > 0, index < whole, isBorder(whole - index) {
                bytes.append(contentsOf: grouping)
            }
            let digit = number.digits[index]
            if let firstDigit {
                bytes.append(firstDigit &+ digit)
            } else {
                bytes.append(contentsOf: digits[Int(digit)])
            }
        }
        bytes.append(contentsOf: affixes.suffix)
    }

    /// Whether a separator stands where `rest` whole digits are to come.
    private func isBorder(_ rest: Int) -> Bool {
        rest == firstGroup || rest > firstGroup && (rest - firstGroup) % otherGroups == 0
    }
}

/// A spelled number taken apart.
private struct Shape {
    var prefix = ""
    var suffix = ""
    var digits: [Character] = []
    /// What stands between whole digits, and after how many of them.
    var separators: [(position: Int, text: Character)] = []

    /// Nil where digits and separators do not alternate as in plain numbers.
    init?(_ text: String, places: Int) {
        let characters = Array(text)
        guard let first = characters.firstIndex(where: \.isWholeNumber),
            let last = characters.lastIndex(where: \.isWholeNumber)
        else { return nil }
        prefix = String(characters[..<first])
        suffix = String(characters[(last + 1)...])
        for character in characters[first...last] {
            if character.isWholeNumber {
                digits.append(character)
            } else {
                separators.append((digits.count, character))
            }
        }
        if places > 0 {
            guard separators.last?.position == digits.count - places else { return nil }
            separators.removeLast()
        }
    }

    /// What stands between the first digit and the second of a number below ten with a fraction.
    static func point(of text: String) -> String? {
        let characters = Array(text)
        guard let first = characters.firstIndex(where: \.isWholeNumber), first + 1 < characters.count else {
            return nil
        }
        let rest = characters[(first + 1)...]
        guard let next = rest.firstIndex(where: \.isWholeNumber) else { return nil }
        return String(rest[..<next])
    }
}

extension DecimalDigits {
    /// Adds zeros until `places` digits stand after the point.
    fileprivate mutating func pad(to places: Int) {
        while fraction < places { appendZero() }
    }
}
