/// A wall-clock moment.
///
/// - Unit: whole milliseconds since 1970-01-01T00:00:00Z, leap seconds ignored, as Kafka and APNs count them.
package struct UnixTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment `duration` later, at whole milliseconds; sums beyond the range stay at its end.
    package func advanced(by duration: Duration) -> UnixTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        guard overflow else { return UnixTime(milliseconds: sum) }
        return UnixTime(milliseconds: duration < .zero ? .min : .max)
    }

    /// How long after `earlier` this moment is; negative when it lies before.
    package func since(_ earlier: UnixTime) -> Duration {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return .milliseconds(overflow ? (milliseconds < 0 ? .min : .max) : difference)
    }

    /// The UTC day this moment falls in.
    package var day: UTCDay {
        let length: Int64 = 86_400_000
        let quotient = milliseconds / length
        return UTCDay(number: Int32(clamping: milliseconds % length < 0 ? quotient - 1 : quotient))
    }
}

/// A day of the ledger: whole days since 1970-01-01, in UTC.
package struct UTCDay: Hashable, Comparable, Sendable {
    package let number: Int32

    package init(number: Int32) {
        self.number = number
    }

    package static func < (left: UTCDay, right: UTCDay) -> Bool {
        left.number < right.number
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; durations beyond the range stay at its end.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// As Prometheus and people count.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
