package import AegisCore
import Foundation
import Synchronization

/// Local time by the time zone database that Foundation brings.
package final class ZoneRules: LocalTimeRules, Sendable {
    private let zones = Mutex<[String: Zone]>([:])

    /// A zone and the newest interval that was asked for, in which its offset does not change.
    private struct Zone {
        /// Nil for an unknown name.
        var zone: TimeZone?
        /// In seconds since 1970; empty before the first question.
        var interval: Range<Int64> = 0..<0
        var offset: Int64 = 0
    }

    package init() {}

    package func localTime(at time: UnixTime, in zone: String) -> LocalTime? {
        guard let seconds = Self.seconds(time), let offset = offset(at: seconds, in: zone) else { return nil }
        let local = seconds + offset
        let (day, second) = Self.flooredDivision(local, by: 86_400)
        // 1970-01-01 was a Thursday.
        let weekday = Int(Self.flooredDivision(day + 3, by: 7).remainder)
        return LocalTime(weekday: Weekday.allCases[weekday], minutes: Int(second / 60))
    }

    /// Moments are the first of their minute: one that lies inside the minute asked for has its next a day later.
    package func next(minutes: Int, after time: UnixTime, in zone: String) -> UnixTime? {
        guard (0...1_440).contains(minutes), let floor = Self.seconds(time) else { return nil }
        let earliest = floor * 1_000 == time.milliseconds ? floor : floor + 1
        if let moment = steadyMoment(showing: minutes, from: earliest, in: zone) {
            return UnixTime(milliseconds: moment * 1_000)
        }
        guard let zone = timeZone(zone) else { return nil }
        let today = Self.flooredDivision(floor + Self.offset(of: zone, at: floor), by: 86_400).quotient
        var best: Int64?
        for day in today - 1...today + 2 {
            let wall = day * 86_400 + Int64(minutes) * 60
            for moment in Self.moments(showing: wall, in: zone) where moment >= earliest {
                best = min(best ?? moment, moment)
            }
        }
        return best.map { UnixTime(milliseconds: $0 * 1_000) }
    }

    /// The next moment where the offset does not change until then, which is nearly always.
    private func steadyMoment(showing minutes: Int, from earliest: Int64, in name: String) -> Int64? {
        // A second earlier, so that a jump at this very moment is seen.
        guard let (interval, offset) = interval(at: earliest - 1, in: name), interval.contains(earliest) else {
            return nil
        }
        let wall = earliest + offset
        var target = Self.flooredDivision(wall, by: 86_400).quotient * 86_400 + Int64(minutes % 1_440) * 60
        if target < wall { target += 86_400 }
        return interval.contains(target - offset) ? target - offset : nil
    }

    /// What the wall clock of an IANA zone is ahead of UTC by at `time`, in seconds; nil for an unknown zone.
    func offset(at time: UnixTime, in zone: String) -> Int64? {
        Self.seconds(time).flatMap { offset(at: $0, in: zone) }
    }

    private func offset(at seconds: Int64, in name: String) -> Int64? {
        interval(at: seconds, in: name)?.offset
    }

    private func interval(at seconds: Int64, in name: String) -> (interval: Range<Int64>, offset: Int64)? {
        zones.withLock { zones in
            if let known = zones[name], known.interval.contains(seconds) { return (known.interval, known.offset) }
            var entry = Self.entry(of: name, in: &zones)
            guard let zone = entry.zone else { return nil }
            entry.offset = Self.offset(of: zone, at: seconds)
            let next = zone.nextDaylightSavingTimeTransition(after: Date(timeIntervalSince1970: Double(seconds)))
            // A calendar that knows no further change may learn of one: an offset is believed for a year.
            let limit = seconds + 31_536_000
            let end = next.map { min(limit, Int64($0.timeIntervalSince1970.rounded(.down))) } ?? limit
            let begin = end == entry.interval.upperBound ? min(entry.interval.lowerBound, seconds) : seconds
            entry.interval = begin..<max(end, begin + 1)
            zones[name] = entry
            return (entry.interval, entry.offset)
        }
    }

    private func timeZone(_ name: String) -> TimeZone? {
        zones.withLock { Self.entry(of: name, in: &$0).zone }
    }

    private static func entry(of name: String, in zones: inout [String: Zone]) -> Zone {
        if let known = zones[name] { return known }
        // Names come from outside, so how many are remembered has a bound.
        if zones.count >= 2_048 { zones.removeAll() }
        let isPlausible = (1...64).contains(name.utf8.count) && !name.utf8.contains(UInt8(ascii: "."))
        let entry = Zone(zone: isPlausible ? TimeZone(identifier: name) : nil)
        zones[name] = entry
        return entry
    }

    /// When the wall clock shows `wall`, in seconds since 1970 of a clock without a zone: once, twice where clocks went back,
    /// or the jump itself where they went forward over it.
    private static func moments(showing wall: Int64, in zone: TimeZone) -> [Int64] {
        let before = offset(of: zone, at: wall - 86_400)
        let after = offset(of: zone, at: wall + 86_400)
        var moments: [Int64] = []
        for candidate in Set([before, after]) where offset(of: zone, at: wall - candidate) == candidate {
            moments.append(wall - candidate)
        }
        guard moments.isEmpty, after > before else { return moments }
        var (low, high) = (wall - after, wall - before)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(of: zone, at: middle) == before { low = middle } else { high = middle }
        }
        return [high]
    }

    private static func offset(of zone: TimeZone, at seconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
    }

    /// Nil for what no calendar reaches.
    private static func seconds(_ time: UnixTime) -> Int64? {
        let seconds = flooredDivision(time.milliseconds, by: 1_000).quotient
        return (-62_135_596_800...253_402_300_799).contains(seconds) ? seconds : nil
    }

    private static func flooredDivision(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = value % divisor
        return remainder < 0 ? (value / divisor - 1, remainder + divisor) : (value / divisor, remainder)
    }
}
