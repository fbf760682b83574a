package import AegisCore
package import AegisPorts
import Glibc

/// The clocks of the system.
package struct SystemClock: TimeSource {
    package init() {}

    package func now() -> UnixTime {
        let time = Self.read(CLOCK_REALTIME)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    package func uptime() -> MonotonicTime {
        let time = Self.read(CLOCK_MONOTONIC)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        let wait = uptime().duration(to: deadline)
        do {
            try await Task.sleep(for: max(wait, Duration.zero), tolerance: nil, clock: .continuous)
        } catch {
            throw CancellationError()
        }
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // Fails only for a clock the system does not have; these two are always there.
        unsafe clock_gettime(clock, &time)
        return time
    }
}
