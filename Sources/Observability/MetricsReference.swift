import AegisPorts

/// The page `docs/metrics.md`, written from the declarations that the program itself uses.
package enum MetricsReference {
    package static func markdown() -> String {
        var page = """
            # Metrics

            `GET /metrics` answers in Prometheus' text format 0.0.4. Times are in seconds. Label values are bounded: a metric
            keeps at most 2,000 series, what comes later is counted under `other`. No label is ever a user or a device token.

            This page is generated from the declarations in the program; a test fails when it differs.

            | metric | kind | labels | meaning |
            |---|---|---|---|

            """
        for metric in Metric.allCases {
            let definition = metric.definition
            page += row(metric.rawValue, definition.kind, definition.labels, definition.help)
        }
        page += row(PrometheusMeter.misuseName, .counter, ["metric"], PrometheusMeter.misuseHelp)
        for name in ProcessFigures.Name.allCases {
            page += row(name.rawValue, name.kind, [], name.help)
        }
        let bounds = Histogram.bounds.map(ExpositionText.number).joined(separator: ", ")
        return page + "\nEvery histogram has the buckets \(bounds) and `+Inf`.\n"
    }

    private static func row(_ name: String, _ kind: Metric.Kind, _ labels: [String], _ help: String) -> String {
        let labels = labels.map { "`\($0)`" }.joined(separator: ", ")
        return "| `\(name)` | \(kind.rawValue) | \(labels) | \(help) |\n"
    }
}
