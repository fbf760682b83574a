import AegisContent
import AegisCore
import AegisEvents
import Testing

@Suite struct ZoneRulesTests {
    private let rules = ZoneRules()

    private struct NoTime: Error {}

    private func time(_ text: String) throws -> UnixTime {
        guard let time = Timestamp.parse(text) else { throw NoTime() }
        return time
    }

    @Test(arguments: [
        ("2026-03-29T00:59:59Z", "Europe/Berlin", Weekday.sun, 119),
        ("2026-03-29T01:00:00Z", "Europe/Berlin", .sun, 180),
        ("2026-10-25T00:30:00Z", "Europe/Berlin", .sun, 150), ("2026-10-25T01:30:00Z", "Europe/Berlin", .sun, 150),
        ("2026-01-01T18:20:00Z", "Asia/Kathmandu", .fri, 5), ("2026-01-01T03:29:00Z", "America/St_Johns", .wed, 1_439),
        ("2026-07-01T02:30:00Z", "America/St_Johns", .wed, 0), ("1969-12-31T23:59:59.500Z", "UTC", .wed, 1_439),
    ]) func `the wall clock is right on both sides of a change`(
        moment: String, zone: String, weekday: Weekday, minutes: Int
    ) throws {
        #expect(rules.localTime(at: try time(moment), in: zone) == LocalTime(weekday: weekday, minutes: minutes))
    }

    @Test(arguments: [
        // An ordinary day, the moment itself, a moment later.
        ("2026-01-01T12:00:00Z", 420, "Europe/Berlin", "2026-01-02T06:00:00Z"),
        ("2026-01-02T06:00:00Z", 420, "Europe/Berlin", "2026-01-02T06:00:00Z"),
        ("2026-01-02T06:00:00.001Z", 420, "Europe/Berlin", "2026-01-03T06:00:00Z"),
        // Clocks go from 02:00 to 03:00: 02:30 counts as shown at the jump, and the day after it is there again.
        ("2026-03-28T23:00:00Z", 150, "Europe/Berlin", "2026-03-29T01:00:00Z"),
        ("2026-03-29T01:00:01Z", 150, "Europe/Berlin", "2026-03-30T00:30:00Z"),
        ("2026-03-28T23:00:00Z", 420, "Europe/Berlin", "2026-03-29T05:00:00Z"),
        // Clocks go back from 03:00 to 02:00: 02:30 is shown twice.
        ("2026-10-24T23:00:00Z", 150, "Europe/Berlin", "2026-10-25T00:30:00Z"),
        ("2026-10-25T00:31:00Z", 150, "Europe/Berlin", "2026-10-25T01:30:00Z"),
        ("2026-10-25T01:31:00Z", 150, "Europe/Berlin", "2026-10-26T01:30:00Z"),
        ("2026-01-01T00:00:00Z", 420, "Asia/Kathmandu", "2026-01-01T01:15:00Z"),
        ("2026-03-08T05:00:00Z", 150, "America/St_Johns", "2026-03-08T05:30:00Z"),
        ("2026-11-01T04:00:00Z", 90, "America/St_Johns", "2026-11-01T04:00:00Z"),
        ("2026-11-01T04:00:01Z", 90, "America/St_Johns", "2026-11-01T05:00:00Z"),
        ("2026-01-01T12:00:00Z", 1_440, "UTC", "2026-01-02T00:00:00Z"),
    ]) func `the next time of day is found across changes`(
        after: String, minutes: Int, zone: String, expected: String
    ) throws {
        #expect(rules.next(minutes: minutes, after: try time(after), in: zone) == (try time(expected)))
    }

    @Test(arguments: ["Mars/Base", "", "../etc/passwd", String(repeating: "A", count: 10_000)])
    func `an unknown zone has no local time`(zone: String) {
        #expect(rules.localTime(at: UnixTime(milliseconds: 0), in: zone) == nil)
        #expect(rules.next(minutes: 0, after: UnixTime(milliseconds: 0), in: zone) == nil)
    }

    @Test(arguments: [Int64.min, Int64.max]) func `a moment no calendar reaches is no trap`(milliseconds: Int64) {
        #expect(rules.localTime(at: UnixTime(milliseconds: milliseconds), in: "UTC") == nil)
        #expect(rules.next(minutes: 0, after: UnixTime(milliseconds: milliseconds), in: "UTC") == nil)
    }

    @Test func `every hour of a year has a next quiet end within 25 hours that shows it or is a jump`() throws {
        for zone in ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"] {
            for hour in 0..<(366 * 24) {
                let now = UnixTime(milliseconds: 1_767_225_600_000 + Int64(hour) * 3_600_000)
                let next = try #require(rules.next(minutes: 420, after: now, in: zone))
                #expect(next >= now && next.since(now) <= .seconds(25 * 3_600))
                #expect(rules.localTime(at: next, in: zone)?.minutes == 420)
            }
        }
    }
}
