/// How long to wait before the next connect: doubled with every failure, jittered so that instances do not march in step.
struct ReconnectBackoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private(set) var failures = 0

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The wait after one more failure: from half of the doubled wait to the whole of it.
    mutating func failed(using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(failures, 16)
        failures += 1
        let whole = min(longest, first * (1 << doublings))
        let share = Int64.random(in: 500...1_000, using: &generator)
        return whole * share / 1_000
    }

    mutating func succeeded() {
        failures = 0
    }
}
