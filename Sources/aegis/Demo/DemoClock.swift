import AegisCore
import AegisPorts
import Runtime

/// The demo's time: it starts at a fixed moment, so that quiet hours and times to live mean the same whenever it is run, and goes
/// on as fast as the real one.
struct DemoClock: TimeSource {
    /// 2026-11-30T12:00:00Z, a Monday.
    static let start = UnixTime(milliseconds: 1_796_040_000_000)

    private let system = SystemClock()
    /// What the demo's clock shows more than the system's.
    let offset: Duration

    init() {
        offset = Self.start.since(system.now())
    }

    func now() -> UnixTime { system.now().advanced(by: offset) }

    func uptime() -> MonotonicTime { system.uptime() }

    func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        try await system.sleep(until: deadline)
    }
}
