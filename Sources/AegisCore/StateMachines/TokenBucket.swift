/// Decides how many pushes may go now: a rate, a burst, and a share of the rate that shrinks when APNs complains.
///
/// Whole numbers throughout: credit is counted in billionths of a push, so a rate of `r` a second adds `r` for each
/// nanosecond and nothing is lost to rounding, however often it is asked.
package struct TokenBucket<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
    private static var unit: Int64 { 1_000_000_000 }
    /// Rate and burst stay within this, so that credit fits its type.
    private static var limit: Int64 { 1_000_000_000 }

    /// Of the full rate, in thousandths; full again one ``recovery`` after it was nothing.
    private struct Slowing: Sendable {
        var share: Int64
        var since: Instant
    }

    /// Pushes a second, at least 1.
    package private(set) var rate: Int
    /// How many may go at once after a pause, at least 1.
    package private(set) var burst: Int
    /// How long the share of the rate takes from nothing to full.
    package let recovery: Duration
    private var credit: Int64
    private var refilledAt: Instant
    private var slowing: Slowing?

    /// Full at `now`.
    package init(rate: Int, burst: Int, recovery: Duration = .seconds(60), at now: Instant) {
        self.rate = Self.bounded(rate)
        self.burst = Self.bounded(burst)
        self.recovery = max(.milliseconds(1), recovery)
        credit = Int64(self.burst) * Self.unit
        refilledAt = now
    }

    /// Takes up to `count` and says how many there were.
    package mutating func take(upTo count: Int, at now: Instant) -> Int {
        refill(at: now)
        let taken = min(Int64(max(0, count)), credit / Self.unit)
        credit -= taken * Self.unit
        return Int(taken)
    }

    /// Gives back what was taken and not used.
    package mutating func giveBack(_ count: Int) {
        let returned = min(Int64(max(0, count)), Int64(burst)) * Self.unit
        credit = min(capacity, credit + returned)
    }

    /// When the next one is there at the present rate: `now` if there is one already.
    package mutating func nextRefill(at now: Instant) -> Instant {
        refill(at: now)
        guard credit < Self.unit else { return now }
        let perNanosecond = effectiveRate(at: now)
        let missing = Self.unit - credit
        return now.advanced(by: .nanoseconds((missing + perNanosecond - 1) / perNanosecond))
    }

    /// Changes rate and burst from `now` on; credit beyond the new burst is lost.
    package mutating func change(rate: Int, burst: Int, at now: Instant) {
        refill(at: now)
        self.rate = Self.bounded(rate)
        self.burst = Self.bounded(burst)
        credit = min(credit, capacity)
    }

    /// APNs has too much to do: halves the share of the rate, down to a hundredth, and the credit with it.
    ///
    /// At most once a second: what was in flight together is told the same together.
    package mutating func slow(at now: Instant) {
        if let slowing, slowing.since.duration(to: now) < .seconds(1) { return }
        refill(at: now)
        slowing = Slowing(share: max(10, share(at: now) / 2), since: now)
        credit /= 2
    }

    /// What of the rate is used at `now`, in thousandths.
    package func share(at now: Instant) -> Int64 {
        guard let slowing else { return 1_000 }
        let elapsed = min(max(.zero, slowing.since.duration(to: now)), recovery)
        // Milliseconds keep the product small; a recovery below one is not possible.
        let length = max(1, recovery.wholeMilliseconds)
        let (product, overflow) = elapsed.wholeMilliseconds.multipliedReportingOverflow(by: 1_000)
        let gained = overflow ? elapsed.wholeMilliseconds / max(1, length / 1_000) : product / length
        return min(1_000, slowing.share + gained)
    }

    private var capacity: Int64 { Int64(burst) * Self.unit }

    private func effectiveRate(at now: Instant) -> Int64 {
        max(1, Int64(rate) * share(at: now) / 1_000)
    }

    /// Adds what has come since the last time, at the share that held then: an estimate on the careful side.
    private mutating func refill(at now: Instant) {
        let elapsed = refilledAt.duration(to: now)
        guard elapsed > .zero else { return }
        let (added, overflow) = effectiveRate(at: refilledAt).multipliedReportingOverflow(by: elapsed.wholeNanoseconds)
        let (sum, carried) = credit.addingReportingOverflow(added)
        credit = overflow || carried ? capacity : min(capacity, sum)
        refilledAt = now
        if share(at: now) == 1_000 { slowing = nil }
    }

    private static func bounded(_ number: Int) -> Int {
        Int(min(max(1, Int64(number)), limit))
    }
}
