/// Says how long to wait before something is tried again: exponential with full jitter, bounded in number and length.
///
/// Full jitter spreads what failed together over the whole interval, so that it does not come back together.
package struct RetrySchedule: Hashable, Sendable {
    /// The longest wait after the first failure; it doubles from one to the next.
    package var base: Duration
    /// No wait is longer, but for what a `Retry-After` demands.
    package var cap: Duration
    /// How often one notification is tried on one device.
    package var maxAttempts: Int

    /// The longest `Retry-After` that is believed: APNs itself keeps nothing for longer than 30 days.
    private static let longestDemand = Duration.seconds(30 * 86_400)

    package init(base: Duration = .milliseconds(500), cap: Duration = .seconds(900), maxAttempts: Int = 8) {
        self.base = base
        self.cap = cap
        self.maxAttempts = maxAttempts
    }

    /// The wait after `attempts` counted attempts have failed; nil when they are used up.
    package func nextDelay(
        afterAttempts attempts: Int, retryAfter: Duration? = nil, using chance: inout some RandomNumberGenerator
    ) -> Duration? {
        guard attempts < maxAttempts else { return nil }
        return delay(step: attempts, retryAfter: retryAfter, using: &chance)
    }

    /// The wait after `step` failures in a row, from 1, whether they count as attempts or not; never ends.
    ///
    /// A `Retry-After` is the lower bound, and the jitter comes on top: all who were told the same would else return at the
    /// same moment.
    package func delay(
        step: Int, retryAfter: Duration? = nil, using chance: inout some RandomNumberGenerator
    ) -> Duration {
        let jitter = Duration.nanoseconds(Int64.random(in: 0...ceiling(step: step).wholeNanoseconds, using: &chance))
        guard let retryAfter, retryAfter > .zero else { return jitter }
        return min(retryAfter, Self.longestDemand) + jitter
    }

    /// The longest wait after `step` failures in a row, from 1.
    package func ceiling(step: Int) -> Duration {
        let limit = max(.zero, cap)
        var ceiling = min(max(.zero, base), limit)
        var doublings = max(1, step) - 1
        while doublings > 0, ceiling > .zero, limit > ceiling {
            // Compared before it is doubled: the sum could leave the range of a duration.
            ceiling = limit - ceiling > ceiling ? ceiling + ceiling : limit
            doublings -= 1
        }
        return ceiling
    }
}

extension Duration {
    /// Whole nanoseconds, rounded towards zero; durations beyond the range stay at its end.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}
