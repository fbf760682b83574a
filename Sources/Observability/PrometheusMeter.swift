package import AegisPorts
import Runtime

/// Keeps every metric in memory and writes them as Prometheus reads them.
///
/// A metric has at most ``seriesLimit`` series; label values that come later are counted together under `other`, so that
/// a mistake elsewhere cannot fill the memory. A call that does not fit its metric changes nothing and is counted in
/// `aegis_metric_misuse_total`.
package final class PrometheusMeter: Meter {
    static let misuseName = "aegis_metric_misuse_total"
    static let misuseHelp = "Calls that did not fit their metric and changed nothing: a mistake in Aegis."

    package let seriesLimit: Int
    private let families: [Metric: MetricFamily]
    private let misuse = Lock<[String: Int]>([:])

    /// - Parameter version: of the program, for `aegis_build_info`.
    package init(version: String, seriesLimit: Int = 2_000) {
        self.seriesLimit = seriesLimit
        families = Dictionary(
            uniqueKeysWithValues: Metric.allCases.map { ($0, MetricFamily($0.definition, seriesLimit: seriesLimit)) })
        set(1, of: .buildInfo, [version])
    }

    /// Counts, or moves a gauge.
    package func add(_ amount: Int, to metric: Metric, _ labels: [String]) {
        change(metric) { $0.add(Double(amount), labels) }
    }

    /// Sets a gauge.
    package func set(_ value: Double, of metric: Metric, _ labels: [String]) {
        change(metric) { $0.set(value, labels) }
    }

    /// Forgets a series of a gauge.
    package func remove(_ metric: Metric, _ labels: [String]) {
        change(metric) { $0.remove(labels) }
    }

    /// Observes in a histogram; a counter of seconds takes the sum.
    package func observe(_ seconds: [Double], in metric: Metric, _ labels: [String]) {
        change(metric) { $0.observe(seconds, labels) }
    }

    /// Everything, in the text format 0.0.4: metrics in the order of their declaration, series in that of their labels.
    package func exposition() -> String {
        var text = ExpositionText()
        for metric in Metric.allCases {
            let definition = metric.definition
            text.begin(metric.rawValue, kind: definition.kind, help: definition.help)
            for (labels, value) in families[metric]?.series() ?? [] {
                let pairs = Array(zip(definition.labels, labels))
                switch value {
                case .number(let number): text.sample(metric.rawValue, pairs, number)
                case .histogram(let histogram): text.histogram(metric.rawValue, pairs, histogram)
                }
            }
        }
        text.begin(Self.misuseName, kind: .counter, help: Self.misuseHelp)
        for (name, count) in misuse.withLock({ $0.sorted { $0.key < $1.key } }) {
            text.sample(Self.misuseName, [("metric", name)], Double(count))
        }
        for figure in ProcessFigures.read() {
            text.begin(figure.name.rawValue, kind: figure.name.kind, help: figure.name.help)
            text.sample(figure.name.rawValue, [], figure.value)
        }
        return text.text
    }

    private func change(_ metric: Metric, _ body: (MetricFamily) -> Bool) {
        guard let family = families[metric], body(family) else {
            misuse.withLock { $0[metric.rawValue, default: 0] += 1 }
            return
        }
    }
}
