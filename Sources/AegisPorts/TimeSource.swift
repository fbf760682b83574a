package import AegisCore

/// The clock, so that tests own it.
package protocol TimeSource: Sendable {
    /// Wall clock: for what leaves the process or is stored.
    func now() -> UnixTime
    /// Monotonic: for deadlines and rates. Only differences mean anything.
    func uptime() -> MonotonicTime
    /// Returns at `deadline`, or throws when the task is cancelled.
    func sleep(until deadline: MonotonicTime) async throws(CancellationError)
}

/// A moment of a clock that never jumps, counted in nanoseconds from an arbitrary start.
package struct MonotonicTime: InstantProtocol, Hashable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return MonotonicTime(nanoseconds: seconds < 0 ? .min : .max) }
        let (sum, carried) = nanoseconds.addingReportingOverflow(whole &+ attoseconds / 1_000_000_000)
        return MonotonicTime(nanoseconds: carried ? (seconds < 0 ? .min : .max) : sum)
    }

    package func duration(to other: MonotonicTime) -> Duration {
        .nanoseconds(other.nanoseconds &- nanoseconds)
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
