import AegisCore
import Testing

@Suite struct DecideTests {
    private var question: DecisionQuestion

    init() throws {
        question = try .sample()
    }

    @Test func `without an objection it goes to every device`() throws {
        let plan = try #require(question.decision.plan)
        #expect(plan.targets.map(\.device.id) == [DeviceID(1)])
        #expect(plan.expiresAt == .noon + .hours(24))
        #expect(plan.trace.isEmpty)
    }

    // MARK: Ledger

    @Test(arguments: [LedgerState.sent, .suppressed, .rejected], [false, true])
    mutating func `what the ledger has closed is a duplicate, due or not`(state: LedgerState, isDue: Bool) {
        question.snapshot.entry = LedgerEntry(state: state)
        question.isDue = isDue
        #expect(question.decision == .duplicate)
    }

    @Test mutating func `what is deferred is a duplicate until it is due`() {
        question.snapshot.entry = LedgerEntry(state: .deferred)
        #expect(question.decision == .duplicate)
        question.isDue = true
        #expect(question.decision.plan != nil)
    }

    @Test mutating func `what is claimed goes to the devices without an outcome`() throws {
        question.snapshot.devices = try [.sample(1), .sample(2), .sample(3)]
        question.snapshot.entry = LedgerEntry(state: .claimed, closedDevices: [DeviceID(1), DeviceID(3)])
        #expect(question.decision.plan?.targets.map(\.device.id) == [DeviceID(2)])
    }

    @Test mutating func `what is claimed and has an outcome everywhere is done, not suppressed`() throws {
        question.snapshot.entry = LedgerEntry(state: .claimed, closedDevices: [DeviceID(1)])
        #expect(question.decision == .duplicate)
        question.snapshot.devices = []
        #expect(question.decision == .duplicate)
        question.snapshot.devices = try [.sample(2, authorization: .denied)]
        #expect(question.decision == .duplicate)
    }

    // MARK: Time

    @Test mutating func `what is older than retention has expired`() {
        question.rules.timeToLive = .hours(10_000)
        question.event.occurredAt = .noon - question.retention
        #expect(question.decision.plan != nil)
        question.event.occurredAt = .noon - question.retention - .milliseconds(1)
        #expect(question.decision.suppression == .expired)
    }

    @Test mutating func `nobody is notified of their own action`() throws {
        question.event.actor = question.user
        #expect(question.decision.suppression == .selfAction)
        question.event.actor = try UserID("somebody-else")
        #expect(question.decision.plan != nil)
    }

    @Test mutating func `the time to live ends in the very moment it is over`() {
        question.event.occurredAt = .noon - .hours(24) + .milliseconds(1)
        #expect(question.decision.plan?.expiresAt == .noon + .milliseconds(1))
        question.event.occurredAt = .noon - .hours(24)
        #expect(question.decision.suppression == .expired)
    }

    @Test mutating func `the event's own expiry shortens and never lengthens the time to live`() {
        question.event.expiresAt = .noon + .hours(1)
        #expect(question.decision.plan?.expiresAt == .noon + .hours(1))
        question.event.expiresAt = .noon + .hours(100)
        #expect(question.decision.plan?.expiresAt == .noon + .hours(24))
        question.event.expiresAt = .noon
        #expect(question.decision.suppression == .expired)
    }

    @Test mutating func `a delivery time is waited for and the time to live counts from it`() {
        question.event.deliverAt = .noon + .hours(48)
        #expect(question.decision == .postpone(until: .noon + .hours(48), rule: .schedule, trace: []))
        question.now = .noon + .hours(48)
        #expect(question.decision.plan?.expiresAt == .noon + .hours(72))
    }

    @Test mutating func `a delivery time at or after the expiry has expired at once`() {
        question.event.deliverAt = .noon + .hours(2)
        question.event.expiresAt = .noon + .hours(2)
        #expect(question.decision.suppression == .expired)
    }

    // MARK: Preferences

    @Test mutating func `a type is on or off by choice, else by default`() {
        question.rules.isOnByDefault = false
        #expect(question.decision.suppression == .typeOff)
        question.snapshot.preferences.types = ["order_confirmed": true]
        #expect(question.decision.plan != nil)
        question.rules.isOnByDefault = true
        question.snapshot.preferences.types = ["order_confirmed": false]
        #expect(question.decision.suppression == .typeOff)
    }

    @Test mutating func `a category is on until it is switched off`() {
        question.snapshot.preferences.categories = ["ORDERS": false]
        #expect(question.decision.suppression == .categoryOff)
        question.rules.category = nil
        #expect(question.decision.plan != nil)
    }

    @Test mutating func `mute holds until its time, for everything or for a thread`() {
        question.threadID = "order-7"
        question.snapshot.preferences.mutedUntil = .noon + .milliseconds(1)
        #expect(question.decision.suppression == .muted)
        question.snapshot.preferences.mutedUntil = .noon
        #expect(question.decision.plan != nil)
        question.snapshot.preferences.mutedThreads = ["order-7": .noon + .hours(1)]
        #expect(question.decision.suppression == .muted)
        question.threadID = "order-8"
        #expect(question.decision.plan != nil)
    }

    @Test mutating func `marketing needs consent`() {
        question.rules.consent = .marketing
        #expect(question.decision.suppression == .noMarketingConsent)
        question.snapshot.preferences.marketing = MarketingConsent(isGranted: false, at: nil, source: nil)
        #expect(question.decision.suppression == .noMarketingConsent)
        question.snapshot.preferences.marketing = MarketingConsent(isGranted: true, at: nil, source: nil)
        #expect(question.decision.plan != nil)
    }

    @Test mutating func `a critical type ignores mute and quiet hours but not its own switch`() {
        question.rules.priority = .critical
        question.snapshot.preferences.mutedUntil = .noon + .hours(1)
        question.snapshot.preferences.quietHours = .always
        #expect(question.decision.plan != nil)
        question.isTraced = true
        #expect(question.decision.trace.contains { $0.rule == .mute && $0.finding.contains("critical") })
        #expect(question.decision.trace.contains { $0.rule == .quietHours && $0.finding.contains("critical") })
        question.snapshot.preferences.types = ["order_confirmed": false]
        #expect(question.decision.suppression == .typeOff)
    }

    // MARK: Order

    @Test mutating func `the first rule that objects decides`() throws {
        let past = UnixTime.noon - .hours(1)
        question.snapshot = RecipientSnapshot(
            devices: [],
            preferences: Preferences(
                types: ["order_confirmed": false], categories: ["ORDERS": false], mutedUntil: .noon + .hours(1),
                quietHours: .always),
            entry: LedgerEntry(state: .sent))
        question.rules.consent = .marketing
        question.rules.quietHours = .drop
        question.event.actor = question.user
        question.event.expiresAt = past
        question.event.deliverAt = .noon + .hours(1)
        question.event.occurredAt = .noon - question.retention - .hours(1)

        #expect(question.decision == .duplicate)
        question.snapshot.entry = nil
        question.isTraced = true
        #expect(question.decision.trace.last?.rule == .age)
        question.event.occurredAt = past
        #expect(question.decision.suppression == .selfAction)
        question.event.actor = nil
        #expect(question.decision.trace.last?.rule == .expiry)
        question.event.expiresAt = nil
        #expect(question.decision.postponement == .noon + .hours(1))
        question.event.deliverAt = nil
        #expect(question.decision.suppression == .typeOff)
        question.snapshot.preferences.types = [:]
        #expect(question.decision.suppression == .categoryOff)
        question.snapshot.preferences.categories = [:]
        #expect(question.decision.suppression == .muted)
        question.snapshot.preferences.mutedUntil = nil
        #expect(question.decision.suppression == .noMarketingConsent)
        question.rules.consent = .transactional
        #expect(question.decision.suppression == .quietHours)
        question.snapshot.preferences.quietHours = nil
        #expect(question.decision.suppression == .noDevice)
        question.snapshot.devices = try [.sample(authorization: .denied)]
        #expect(question.decision.suppression == .notAuthorized)
        question.snapshot.devices = try [.sample()]
        #expect(question.decision.plan != nil)
    }

    @Test mutating func `a traced answer is the same answer with its steps in the order of asking`() throws {
        question.snapshot.preferences.quietHours = QuietHours(isEnabled: true, timeZone: nil, windows: [])
        let answer = question.decision
        question.isTraced = true
        let traced = question.decision
        #expect(traced.untraced == answer)
        let order = DecisionStep.Rule.allCases
        let places = traced.trace.compactMap { order.firstIndex(of: $0.rule) }
        #expect(places == places.sorted())
        #expect(!traced.trace.isEmpty)
        #expect(traced.trace.allSatisfy { !$0.finding.contains("user-42") && !$0.finding.contains("abab") })
    }
}

extension QuietHours {
    /// Quiet at every hour of every day, in UTC.
    static let always = QuietHours(
        isEnabled: true, timeZone: "UTC", windows: [Window(days: Set(Weekday.allCases), start: 0, end: 0)])
}
