import AegisCore
import AegisEvents
import Testing

@Suite struct PreferencesDocumentTests {
    private func decode(_ text: String) throws(PreferencesProblem) -> Preferences {
        try PreferencesDocument.decode(Array(text.utf8))
    }

    private func problems(_ text: String) -> [String] {
        do throws(PreferencesProblem) {
            _ = try decode(text)
            return []
        } catch {
            return error.fields.map(\.description)
        }
    }

    private let full = Preferences(
        types: ["price_alert": false, "a type of another version": true], categories: ["MESSAGE": false],
        mutedThreads: ["order-\"7\"": UnixTime(milliseconds: 1_767_323_045_123)],
        mutedUntil: UnixTime(milliseconds: 1_767_323_045_000),
        quietHours: QuietHours(
            isEnabled: true, timeZone: "Europe/Berlin",
            windows: [
                QuietHours.Window(days: Set(Weekday.allCases), start: 1_320, end: 420),
                QuietHours.Window(days: [.sat, .sun], start: 0, end: 1_440),
            ]),
        marketing: MarketingConsent(isGranted: true, at: UnixTime(milliseconds: 1_000), source: "settings"),
        playSoundChat: false)

    @Test func `every field is read`() throws {
        let text = """
            {"types":{"price_alert":{"enabled":false},"a type of another version":{"enabled":true}},
             "categories":{"MESSAGE":{"enabled":false}},
             "threads":{"order-\\"7\\"":{"muted_until":"2026-01-02T04:04:05.123+01:00"}},
             "quiet_hours":{"enabled":true,"time_zone":"Europe/Berlin","windows":[
               {"days":["mon","tue","wed","thu","fri","sat","sun"],"start":"22:00","end":"07:00"},
               {"days":["sun","sat"],"start":"00:00","end":"24:00"}]},
             "marketing":{"granted":true,"at":"1970-01-01T00:00:01Z","source":"settings"},
             "playSoundChat":false,"muted_until":"2026-01-02T03:04:05Z"}
            """
        #expect(try decode(text) == full)
    }

    @Test func `preferences survive being written and read`() throws {
        for preferences in [full, .default] {
            #expect(try PreferencesDocument.decode(PreferencesDocument.encode(preferences)) == preferences)
        }
        #expect(
            String(decoding: PreferencesDocument.encode(.default), as: UTF8.self)
                == #"{"types":{},"categories":{},"threads":{},"playSoundChat":true}"#)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func `any preferences survive being written and read`(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var preferences = Preferences()
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let name = "n\(UInt64.random(in: 0...99, using: &random))\"\\\u{1F}é😀"
                preferences.types[name] = Bool.random(using: &random)
                preferences.categories[name] = Bool.random(using: &random)
                preferences.frequencies["f\(name)"] = FrequencyLimit(
                    max: Int.random(in: 1...10_000, using: &random),
                    per: .seconds(60 * Int.random(in: 1...43_200, using: &random)))
                preferences.mutedThreads[name] = UnixTime(
                    milliseconds: Int64.random(in: 0...2_000_000_000_000, using: &random))
            }
            if Bool.random(using: &random) {
                let window = QuietHours.Window(
                    days: [Weekday.allCases.randomElement(using: &random) ?? .mon],
                    start: Int.random(in: 0...1_439, using: &random), end: Int.random(in: 0...1_440, using: &random))
                preferences.quietHours = QuietHours(
                    isEnabled: Bool.random(using: &random), timeZone: nil, windows: [window])
            }
            #expect(try PreferencesDocument.decode(PreferencesDocument.encode(preferences)) == preferences)
        }
    }

    @Test func `nothing said is the default, null too`() throws {
        #expect(try decode("{}") == .default)
        #expect(
            try decode(
                #"{"types":null,"quiet_hours":null,"marketing":null,"muted_until":null,"playSoundChat":null,"threads":{"t":null}}"#
            ) == .default)
    }

    @Test func `every problem is named at once, unknown keys with the nearest known one`() {
        let text = """
            {"typos":{},"types":{"a":{"enabeld":true},"b":{"enabled":1},"c":{"frequency":{"max":1}},"d":5},
             "threads":{"t":{"muted_until":"soon"}},
             "quiet_hours":{"windows":[{"days":["Monday"],"start":"24:00"},{"days":[],"start":"7:00","end":"24:01"}],
             "time_zone":"Mars Base"},"marketing":{"source":7},"playSoundChat":"yes","zzzzzzzz":1}
            """
        #expect(
            problems(text) == [
                "typos: is unknown, perhaps types",
                "types.a.enabeld: is unknown, perhaps enabled",
                "types.b.enabled: must be true or false",
                "types.d: must be an object",
                "types.c.frequency: needs both max and per",
                "threads.t.muted_until: must be a time such as 2026-01-31T12:00:00Z",
                "quiet_hours.windows[0].days[0]: must be one of mon, tue, wed, thu, fri, sat, sun",
                "quiet_hours.windows[0].start: must be HH:MM, 00:00 to 23:59",
                "quiet_hours.windows[0].end: is missing",
                "quiet_hours.windows[1].days: must name a day",
                "quiet_hours.windows[1].start: must be HH:MM, 00:00 to 23:59",
                "quiet_hours.windows[1].end: must be HH:MM, 00:00 to 24:00",
                "quiet_hours.time_zone: is not the name of a time zone such as Europe/Berlin",
                "quiet_hours.enabled: is missing",
                "marketing.source: must be a text",
                "marketing.granted: is missing",
                "playSoundChat: must be true or false",
                "zzzzzzzz: is unknown",
            ])
    }

    @Test func `what is no JSON object is one problem`() {
        #expect(problems("[]") == ["must be an object"])
        #expect(problems("{") == ["the JSON ends early, at byte 1"])
    }

    @Test func `a change leaves alone what it does not name`() throws {
        let change =
            #"{"types":{"price_alert":null,"chat":{"enabled":true}},"quiet_hours":{"enabled":false},"marketing":null}"#
        let changed = try PreferencesDocument.merge(Array(change.utf8), into: full)
        var expected = full
        expected.types = ["a type of another version": true, "chat": true]
        expected.quietHours?.isEnabled = false
        expected.marketing = nil
        #expect(changed == expected)
    }
}
