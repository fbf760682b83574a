import AegisCore
import Testing

@Suite struct DecideQuietHoursTests {
    private var question: DecisionQuestion

    init() throws {
        question = try .sample()
    }

    private static let everyDay = Set(Weekday.allCases)

    /// The sample at a time of Sunday, 2025-11-30, in UTC.
    private func asked(
        at hour: Int, _ minute: Int = 0, _ windows: QuietHours.Window..., zone: String? = "UTC",
        zones: JumpingZones = JumpingZones(), rule: QuietHoursRule = .defer
    ) -> Decision {
        var question = question
        question.now = Self.sunday(hour, minute)
        question.event.occurredAt = question.now
        question.rules.quietHours = rule
        question.snapshot.preferences.quietHours = QuietHours(isEnabled: true, timeZone: zone, windows: windows)
        return decide(question, localTime: zones)
    }

    private static func sunday(_ hour: Int, _ minute: Int = 0) -> UnixTime {
        .noon - .hours(12) + .minutes(hour * 60 + minute)
    }

    private static let night = QuietHours.Window(days: everyDay, start: 22 * 60, end: 7 * 60 + 30)

    @Test func `a window across midnight holds on both sides of it, to the minute`() {
        #expect(asked(at: 21, 59, Self.night).plan != nil)
        #expect(asked(at: 22, 0, Self.night).postponement == Self.sunday(31, 30))
        #expect(asked(at: 3, 0, Self.night).postponement == Self.sunday(7, 30))
        #expect(asked(at: 7, 29, Self.night).postponement == Self.sunday(7, 30))
        #expect(asked(at: 7, 30, Self.night).plan != nil)
    }

    @Test func `the days of a window are those it begins on`() {
        let saturday = QuietHours.Window(days: [.sat], start: 22 * 60, end: 7 * 60)
        #expect(asked(at: 3, 0, saturday).postponement == Self.sunday(7))
        #expect(asked(at: 23, 0, saturday).plan != nil)
        let sunday = QuietHours.Window(days: [.sun], start: 22 * 60, end: 7 * 60)
        #expect(asked(at: 3, 0, sunday).plan != nil)
        #expect(asked(at: 23, 0, sunday).postponement == Self.sunday(31))
    }

    @Test func `windows that touch are one`() {
        let evening = QuietHours.Window(days: Self.everyDay, start: 20 * 60, end: 1_440)
        let night = QuietHours.Window(days: Self.everyDay, start: 0, end: 6 * 60)
        #expect(asked(at: 21, 0, night, evening).postponement == Self.sunday(30))
        #expect(asked(at: 0, 0, evening).plan != nil)
    }

    @Test func `a window of a whole day ends a day later, even when asked in its first minute`() {
        let day = QuietHours.Window(days: [.sun], start: 8 * 60, end: 8 * 60)
        #expect(asked(at: 9, 0, day).postponement == Self.sunday(32))
        var question = question
        question.rules.timeToLive = .hours(48)
        question.now = Self.sunday(8)
        question.snapshot.preferences.quietHours = QuietHours(isEnabled: true, timeZone: "UTC", windows: [day])
        #expect(question.decision.postponement == Self.sunday(32))
    }

    @Test func `each type has its own answer to quiet hours`() {
        #expect(asked(at: 23, 0, Self.night, rule: .bypass).plan != nil)
        #expect(asked(at: 23, 0, Self.night, rule: .drop).suppression == .quietHours)
        #expect(asked(at: 23, 0, Self.night, rule: .silence).plan?.targets.first?.level == .passive)
        #expect(asked(at: 12, 0, Self.night, rule: .silence).plan?.targets.first?.level == .active)
        #expect(asked(at: 12, 0, Self.night, rule: .drop).plan != nil)
    }

    @Test mutating func `what would come due at or after its expiry has expired`() {
        question.event.expiresAt = Self.sunday(7, 30)
        #expect(asked(at: 3, 0, Self.night).suppression == .expired)
        question.event.expiresAt = Self.sunday(7, 30) + .milliseconds(1)
        #expect(asked(at: 3, 0, Self.night).postponement == Self.sunday(7, 30))
    }

    @Test mutating func `quiet without an end has expired`() {
        question.snapshot.preferences.quietHours = .always
        #expect(question.decision.suppression == .expired)
        question.rules.timeToLive = .hours(10_000)
        question.snapshot.preferences.quietHours?.isEnabled = false
        #expect(question.decision.plan != nil)
    }

    @Test mutating func `the zone is the person's, else the newest device's, else UTC`() throws {
        let zones = JumpingZones(zones: [
            "UTC": .init(), "Asia/Kathmandu": .init(offset: 345), "America/New_York": .init(offset: -300),
        ])
        // At 16:15 UTC it is 22:00 in Kathmandu.
        #expect(asked(at: 16, 14, Self.night, zone: "Asia/Kathmandu", zones: zones).plan != nil)
        #expect(
            asked(at: 16, 15, Self.night, zone: "Asia/Kathmandu", zones: zones).postponement == Self.sunday(25, 45))
        question.snapshot.devices = try [
            .sample(1), .sample(2, timeZone: "Asia/Kathmandu"), .sample(3, timeZone: "America/New_York"),
        ]
        #expect(asked(at: 16, 15, Self.night, zone: nil, zones: zones).postponement == Self.sunday(25, 45))
        #expect(asked(at: 16, 15, Self.night, zone: "Mars/Base", zones: zones).postponement == Self.sunday(25, 45))
        question.snapshot.devices = try [.sample(1, timeZone: "Mars/Base")]
        #expect(asked(at: 16, 15, Self.night, zone: nil, zones: zones).plan != nil)
        #expect(asked(at: 22, 0, Self.night, zone: nil, zones: zones).postponement == Self.sunday(31, 30))
    }

    @Test func `an end that the clock jumps over is where it jumps`() {
        let zones = JumpingZones(zones: ["Z": .init(offset: 0, jumpAt: Self.sunday(2), jump: 60)])
        let window = QuietHours.Window(days: Self.everyDay, start: 22 * 60, end: 2 * 60 + 30)
        #expect(asked(at: 1, 30, window, zone: "Z", zones: zones).postponement == Self.sunday(2))
    }

    @Test func `when the clock is put back an end is its first showing, and the second is quiet again`() {
        let zones = JumpingZones(zones: ["Z": .init(offset: 0, jumpAt: Self.sunday(3), jump: -60)])
        let window = QuietHours.Window(days: Self.everyDay, start: 22 * 60, end: 2 * 60 + 30)
        #expect(asked(at: 1, 30, window, zone: "Z", zones: zones).postponement == Self.sunday(2, 30))
        #expect(asked(at: 2, 45, window, zone: "Z", zones: zones).plan != nil)
        #expect(asked(at: 3, 15, window, zone: "Z", zones: zones).postponement == Self.sunday(3, 30))
    }

    @Test func `a window that makes no sense does no harm`() {
        let outside = QuietHours.Window(days: Self.everyDay, start: -5, end: 99_999)
        #expect(asked(at: 12, 0, outside).suppression == nil)
        #expect(asked(at: 12, 0, QuietHours.Window(days: [], start: 0, end: 1_440)).plan != nil)
        #expect(asked(at: 12, 0, QuietHours.Window(days: Self.everyDay, start: .min, end: .max)).suppression == nil)
    }
}
