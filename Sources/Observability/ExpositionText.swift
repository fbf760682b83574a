import AegisPorts

/// Prometheus' text format.
///
/// - Source: Prometheus, "Exposition formats", text-based format 0.0.4.
struct ExpositionText {
    private(set) var text = ""

    mutating func begin(_ name: String, kind: Metric.Kind, help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(Self.number(value))\n"
    }

    /// Buckets hold all that is below their bound, so each includes the one before.
    mutating func histogram(_ name: String, _ labels: [(String, String)], _ histogram: Histogram) {
        var total = 0
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            total += count
            sample("\(name)_bucket", labels + [("le", Self.number(bound))], Double(total))
        }
        total = histogram.counts.reduce(0, +)
        sample("\(name)_bucket", labels + [("le", "+Inf")], Double(total))
        sample("\(name)_sum", labels, histogram.sum)
        sample("\(name)_count", labels, Double(total))
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return value.description
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += #"\\"#
            case "\n": escaped += #"\n"#
            case "\"" where quotes: escaped += #"\""#
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
