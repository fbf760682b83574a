import AegisCore
import AegisPipeline
import AegisPorts
import Foundation

/// What the demo has shown, as a table or as JSON.
struct DemoResult {
    enum Verdict: String, Encodable {
        case asDeclared = "as_declared"
        case unexpected
        case missing
    }

    struct Row: Encodable {
        var row: DemoRow
        var verdict: Verdict
    }

    struct Event: Encodable {
        var number: Int
        var about: String
        var rows: [Row]
    }

    private struct Document: Encodable {
        struct Summary: Encodable {
            var events: Int
            var rows: Int
            var mismatches: Int
            var outcomes: [String: Int]
            var latencyMedianMilliseconds: Double
            var latencyMaximumMilliseconds: Double

            enum CodingKeys: String, CodingKey {
                case events, rows, mismatches, outcomes
                case latencyMedianMilliseconds = "kafka_to_apns_ms_median"
                case latencyMaximumMilliseconds = "kafka_to_apns_ms_max"
            }
        }

        var events: [Event]
        var summary: Summary
    }

    var duration: Duration
    /// Milliseconds, ascending.
    var latencies: [Double]
    var events: [Event] = []
    /// By installation.
    var hashes: [String: String] = [:]
    private(set) var mismatches = 0
    private(set) var outcomes: [String: Int] = [:]

    init(duration: Duration, latencies: [Double]) {
        self.duration = duration
        self.latencies = latencies
    }

    /// Counts, once all rows are there.
    mutating func finish() {
        for row in events.flatMap(\.rows) {
            if row.verdict != .asDeclared { mismatches += 1 }
            if row.verdict != .missing { outcomes[row.row.outcome, default: 0] += 1 }
        }
    }

    private var rowCount: Int { events.reduce(0) { $0 + $1.rows.count } }
    private var median: Double { latencies.isEmpty ? 0 : latencies[latencies.count / 2] }

    func json() -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = Document(
            events: events,
            summary: Document.Summary(
                events: events.count, rows: rowCount, mismatches: mismatches, outcomes: outcomes,
                latencyMedianMilliseconds: median, latencyMaximumMilliseconds: latencies.last ?? 0))
        guard let data = try? encoder.encode(document) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }

    func table(isColoured: Bool) -> String {
        var lines: [(cells: [String], verdict: Verdict)] = []
        for event in events {
            for row in event.rows {
                let cells = ["\(event.number)"] + row.row.cells(hash: hashes[row.row.device]) + [event.about]
                lines.append((cells, row.verdict))
            }
        }
        let headings = ["#"] + DemoRow.headings + ["what it shows"]
        let widths = headings.indices.map { column in
            lines.map { $0.cells[column].count }.reduce(headings[column].count, max)
        }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            return String(padded.reversed().drop { $0 == " " }.reversed())
        }
        var text = line(headings) + "\n"
        for (cells, verdict) in lines {
            let row = line(cells)
            switch verdict {
            case .asDeclared: text += row + "\n"
            case .unexpected: text += paint(row + "  <- not declared", isColoured) + "\n"
            case .missing: text += paint(row + "  <- declared and missing", isColoured) + "\n"
            }
        }
        return text + "\n" + summary
    }

    private func paint(_ text: String, _ isColoured: Bool) -> String {
        isColoured ? "\u{1B}[31m\(text)\u{1B}[0m" : text
    }

    private var summary: String {
        let totals = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let verdict =
            mismatches == 0
            ? "Every row is as examples/demo declares it."
            : "\(mismatches) rows differ from what examples/demo declares."
        return """
            \(events.count) events, \(rowCount) rows: \(totals).
            From Kafka to the answer of APNs: median \(milliseconds(median)), at most \(milliseconds(latencies.last ?? 0)).
            \(verdict)

            What to try next:
              aegis apns-simulator --keys run           APNs on this machine
              aegis serve --config examples/local.yaml  the service against a broker and that simulator
              aegis publish --config examples/local.yaml --topic domain.events examples/events/order_confirmed.json
              aegis preview --config examples/local.yaml examples/events/order_confirmed.json
            """
    }

    private func milliseconds(_ value: Double) -> String {
        String(format: "%.0f ms", value)
    }
}
