import AegisPorts
import Runtime

/// The series of one metric.
///
/// Every call answers whether it fitted the metric; what did not fit has changed nothing.
final class MetricFamily: Sendable {
    enum Value: Sendable {
        case number(Double)
        case histogram(Histogram)
    }

    private let definition: Metric.Definition
    private let seriesLimit: Int
    private let values: Lock<[[String]: Value]>

    init(_ definition: Metric.Definition, seriesLimit: Int) {
        self.definition = definition
        self.seriesLimit = seriesLimit
        // What has no labels is there from the start, so that its rate is known from the first change on.
        values = Lock(definition.labels.isEmpty ? [[]: Self.empty(definition.kind)] : [:])
    }

    func add(_ amount: Double, _ labels: [String]) -> Bool {
        switch definition.kind {
        case .counter:
            guard amount >= 0 else { return false }
        case .gauge:
            break
        case .histogram:
            return false
        }
        return update(labels) { value in
            if case .number(let number) = value { value = .number(number + amount) }
        }
    }

    func set(_ number: Double, _ labels: [String]) -> Bool {
        guard definition.kind == .gauge else { return false }
        return update(labels) { $0 = .number(number) }
    }

    func remove(_ labels: [String]) -> Bool {
        guard definition.kind == .gauge, labels.count == definition.labels.count else { return false }
        values.withLock { $0[labels] = nil }
        return true
    }

    func observe(_ seconds: [Double], _ labels: [String]) -> Bool {
        guard definition.kind != .gauge, seconds.allSatisfy(\.isFinite) else { return false }
        return update(labels) { value in
            switch value {
            case .number(let number):
                value = .number(seconds.reduce(number) { $0 + max($1, 0) })
            case .histogram(var histogram):
                // Given up before it is changed, so that the buckets are changed in place.
                value = .number(0)
                for second in seconds { histogram.observe(second) }
                value = .histogram(histogram)
            }
        }
    }

    /// In the order of the label values.
    func series() -> [(labels: [String], value: Value)] {
        values.withLock { $0.map { (labels: $0.key, value: $0.value) } }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    private func update(_ labels: [String], _ body: (inout Value) -> Void) -> Bool {
        guard labels.count == definition.labels.count else { return false }
        values.withLock { values in
            if values[labels] != nil || values.count < seriesLimit {
                body(&values[labels, default: Self.empty(definition.kind)])
            } else {
                let other = [String](repeating: "other", count: labels.count)
                body(&values[other, default: Self.empty(definition.kind)])
            }
        }
        return true
    }

    private static func empty(_ kind: Metric.Kind) -> Value {
        switch kind {
        case .counter, .gauge: .number(0)
        case .histogram: .histogram(Histogram())
        }
    }
}

/// How often a duration fell below each bound.
struct Histogram: Sendable {
    /// Upper bounds in seconds, from 1 ms to 10 min; one more bucket takes what is longer.
    static let bounds: [Double] = [
        0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
    ]

    /// Not summed up: one count for each bound, then what is above the last.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var sum = 0.0

    /// Clocks of two machines can make a duration negative: it counts as none.
    mutating func observe(_ seconds: Double) {
        let duration = max(seconds, 0)
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        sum += duration
    }
}
