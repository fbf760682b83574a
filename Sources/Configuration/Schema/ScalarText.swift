internal import AegisCore

/// The written forms of durations, sizes, fractions and switches.
enum ScalarText {
    private static let sizeUnits = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]
    /// Nothing is configured in centuries; the bound keeps sums far from overflow.
    private static let mostUnits = 1_000_000_000

    static func duration(_ text: String) -> Duration? { DurationText.parse(text) }

    static func text(_ duration: Duration) -> String { DurationText.text(duration) }

    /// `512B`, `64KiB`, `1MiB`, `2GiB` in bytes; nil for anything else.
    static func size(_ text: String) -> Int? {
        guard let (count, unit) = countAndUnit(text) else { return nil }
        return sizeUnits.first { $0.0 == unit }.map { count * $0.1 }
    }

    /// A size in the largest unit that leaves a whole number.
    static func text(bytes: Int) -> String {
        for (name, length) in sizeUnits.reversed() where bytes > 0 && bytes.isMultiple(of: length) {
            return "\(bytes / length)\(name)"
        }
        return "0B"
    }

    /// A fraction of 0 to 1 in thousandths; nil for anything else.
    static func thousandths(_ text: String) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let whole = digits(first), parts.count <= 2, whole <= 1 else { return nil }
        guard parts.count == 2 else { return whole * 1_000 }
        guard (1...3).contains(parts[1].utf8.count), let part = digits(parts[1]) else { return nil }
        let scale = [100, 10, 1][parts[1].utf8.count - 1]
        let value = whole * 1_000 + part * scale
        return value <= 1_000 ? value : nil
    }

    /// The switches of YAML 1.1, in any case.
    static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "on", "yes": true
        case "false", "off", "no": false
        default: nil
        }
    }

    private static func countAndUnit(_ text: String) -> (count: Int, unit: String)? {
        let number = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = digits(number), count <= mostUnits else { return nil }
        return (count, String(text.dropFirst(number.count)))
    }

    /// A whole number of ASCII digits alone: no sign, no space.
    static func digits(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
