import AegisCore

/// Local time of zones with a fixed offset, each of which may change it once; found by looking at every minute.
struct JumpingZones: LocalTimeRules {
    struct Zone: Sendable {
        /// Minutes ahead of UTC.
        var offset = 0
        var jumpAt: UnixTime?
        /// Minutes by which the clock is put forward at the jump; negative puts it back.
        var jump = 0
    }

    var zones: [String: Zone] = ["UTC": Zone()]

    func localTime(at time: UnixTime, in zone: String) -> LocalTime? {
        zones[zone].map { Self.local(Self.wallMinutes(at: time, in: $0)) }
    }

    func next(minutes: Int, after time: UnixTime, in zone: String) -> UnixTime? {
        guard let zone = zones[zone] else { return nil }
        var shown = Self.wallMinutes(at: time, in: zone)
        if Self.local(shown).minutes == minutes { return time }
        var moment = time.nextMinute
        while moment < time.advanced(by: .seconds(3 * 86_400)) {
            let next = Self.wallMinutes(at: moment, in: zone)
            // Put back, the clock skips nothing; put forward, it counts as having shown what it jumped over.
            let passed = next > shown ? shown + 1...next : next...next
            if passed.contains(where: { $0 - Self.floor($0, 1_440) * 1_440 == minutes }) { return moment }
            shown = next
            moment = moment.nextMinute
        }
        return nil
    }

    /// Minutes of the wall clock since its own 1970-01-01T00:00, a Thursday.
    private static func wallMinutes(at time: UnixTime, in zone: Zone) -> Int {
        let hasJumped = zone.jumpAt.map { time >= $0 } ?? false
        return floor(Int(time.milliseconds), 60_000) + zone.offset + (hasJumped ? zone.jump : 0)
    }

    private static func local(_ wall: Int) -> LocalTime {
        let day = floor(wall, 1_440)
        let weekday = Weekday.allCases[(day + 3) - 7 * floor(day + 3, 7)]
        return LocalTime(weekday: weekday, minutes: wall - 1_440 * day)
    }

    private static func floor(_ number: Int, _ divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
    }
}

extension UnixTime {
    /// The next full minute after this moment.
    var nextMinute: UnixTime { UnixTime(milliseconds: (milliseconds / 60_000 + 1) * 60_000) }

    static func + (time: UnixTime, duration: Duration) -> UnixTime { time.advanced(by: duration) }
    static func - (time: UnixTime, duration: Duration) -> UnixTime { time.advanced(by: .zero - duration) }
}

extension Duration {
    static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
    static func hours(_ count: Int) -> Duration { .seconds(3_600 * count) }
}
