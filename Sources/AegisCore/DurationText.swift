/// The written form of durations, in configuration, catalog and preferences alike: `250ms`, `30s`, `5m`, `24h`, `7d`.
package enum DurationText {
    private static let units: [(name: String, length: Duration)] = [
        ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3_600)),
        ("d", .seconds(86_400)),
    ]
    /// Nothing is set in centuries; the bound keeps sums far from overflow.
    private static let mostUnits = 1_000_000_000

    /// Nil for anything but a whole number and its unit.
    package static func parse(_ text: String) -> Duration? {
        let number = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !number.isEmpty, let count = Int(String(number) ?? ""), count <= mostUnits else { return nil }
        let unit = String(text.utf8.dropFirst(number.count))
        return units.first { $0.name == unit }.map { $0.length * count }
    }

    /// In the largest unit that leaves a whole number; less than a millisecond is left out.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        for (name, length) in units.reversed() where milliseconds != 0 {
            let (count, rest) = milliseconds.quotientAndRemainder(dividingBy: length.wholeMilliseconds)
            if rest == 0 { return "\(count)\(name)" }
        }
        return "0s"
    }
}
