internal import Glibc

/// The operating system's clocks.
package enum SystemTime {
    /// Milliseconds since 1970.
    package static func wallClockMilliseconds() -> Int64 {
        let now = read(CLOCK_REALTIME)
        return Int64(now.tv_sec) &* 1000 &+ Int64(now.tv_nsec) / 1_000_000
    }

    /// Milliseconds that never go back: delays and idle times.
    static func monotonicMilliseconds() -> Int64 {
        let now = read(CLOCK_MONOTONIC)
        return Int64(now.tv_sec) &* 1000 &+ Int64(now.tv_nsec) / 1_000_000
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var now = timespec()
        unsafe clock_gettime(clock, &now)
        return now
    }
}
