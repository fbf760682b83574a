import AegisCore
import AegisTestKit

/// Questions of every kind, so that each rule is met alone and together with others.
struct QuestionGenerator {
    private var chance: SeededGenerator

    init(seed: UInt64) {
        chance = SeededGenerator(seed: seed)
    }

    mutating func next() throws -> (question: DecisionQuestion, zones: JumpingZones) {
        let now = UnixTime(milliseconds: UnixTime.noon.milliseconds + Int64.random(in: 0..<604_800_000, using: &chance))
        var question = try DecisionQuestion.sample()
        question.now = now
        question.isDue = oneIn(3)
        question.threadID = oneIn(2) ? "thread-1" : nil
        question.event = try event(around: now)
        question.rules = rules()
        question.snapshot.preferences = preferences(around: now)
        question.snapshot.devices = try (0..<Int.random(in: 0...5, using: &chance)).map { number in
            var device = try device(Int64(number))
            device.registeredAt = now - hours(0...16)
            return device
        }
        question.snapshot.entry = entry()
        question.snapshot.recentSends = sends(before: now)
        question.apps = apps()
        return (question, zones(around: now))
    }

    private mutating func oneIn(_ number: Int) -> Bool { Int.random(in: 0..<number, using: &chance) == 0 }

    private mutating func pick<Element>(_ choices: [Element], else fallback: Element) -> Element {
        choices.randomElement(using: &chance) ?? fallback
    }

    private mutating func hours(_ range: ClosedRange<Int>) -> Duration { .hours(Int.random(in: range, using: &chance)) }

    private mutating func event(around now: UnixTime) throws -> DomainEvent {
        let user = try UserID("user-42")
        return try DomainEvent(
            identity: EventIdentity(source: oneIn(6) ? "aegis:digest" : "s", id: "e"), type: "t",
            occurredAt: oneIn(20) ? now - .hours(24 * 31) : now - hours(0...6), recipients: .users([user]),
            actor: oneIn(3) ? UserID(oneIn(8) ? "user-42" : "user-1") : nil,
            deliverAt: oneIn(8) ? now + hours(-3...6) : nil, expiresAt: oneIn(4) ? now + hours(-1...12) : nil,
            app: oneIn(6) ? pick([AppID.shop, .chat], else: .shop) : nil)
    }

    private mutating func rules() -> NotificationRules {
        let sounds: [SoundRule] = [.none, .named("default"), .critical(name: "siren", volume: 500)]
        return NotificationRules(
            name: "order_confirmed", priority: pick(Priority.allCases, else: .high),
            category: oneIn(3) ? nil : "ORDERS", reason: oneIn(4) ? "chat-message" : "order_confirmed",
            interruptionLevel: pick(InterruptionLevel.allCases, else: .active), sound: pick(sounds, else: .none),
            badge: pick(BadgeRule.allCases, else: .none), timeToLive: hours(1...48),
            consent: oneIn(5) ? .marketing : .transactional, isOnByDefault: !oneIn(10),
            quietHours: pick(QuietHoursRule.allCases, else: .defer), frequency: frequency(),
            pushType: oneIn(3) ? pick(PushType.allCases, else: .alert) : .alert)
    }

    private mutating func limit() -> FrequencyLimit {
        FrequencyLimit(max: Int.random(in: 1...4, using: &chance), per: hours(1...4))
    }

    private mutating func frequency() -> FrequencyRule? {
        guard !oneIn(3) else { return nil }
        return FrequencyRule(limit: limit(), over: pick(FrequencyOverflow.allCases, else: .drop))
    }

    private mutating func sends(before now: UnixTime) -> [UnixTime] {
        // Some stand at the very edge of a window, and some share a moment.
        (0..<Int.random(in: 0...6, using: &chance)).map { _ in
            oneIn(3) ? now - hours(0...4) : now - .minutes(Int.random(in: 0...300, using: &chance))
        }.sorted()
    }

    private mutating func preferences(around now: UnixTime) -> Preferences {
        var preferences = Preferences(playSoundChat: oneIn(2))
        if oneIn(4) { preferences.types["order_confirmed"] = !oneIn(4) }
        if oneIn(4) { preferences.types["other"] = false }
        if oneIn(4) { preferences.frequencies["order_confirmed"] = limit() }
        if oneIn(4) { preferences.categories["ORDERS"] = !oneIn(3) }
        if oneIn(6) { preferences.mutedUntil = now + hours(-1...1) }
        if oneIn(6) { preferences.mutedThreads["thread-1"] = now + hours(-1...1) }
        if oneIn(2) { preferences.marketing = MarketingConsent(isGranted: !oneIn(3), at: nil, source: nil) }
        if !oneIn(3) { preferences.quietHours = quietHours() }
        return preferences
    }

    private mutating func quietHours() -> QuietHours {
        let windows = (0..<Int.random(in: 0...3, using: &chance)).map { _ in
            let days = Weekday.allCases.filter { _ in !oneIn(3) }
            // None begins in the hour that a clock put back shows twice: put back, it would leave the window again.
            var start = Int.random(in: 0..<1_440, using: &chance)
            if (120..<180).contains(start) { start += 60 }
            let end = oneIn(8) ? start : Int.random(in: 0...1_440, using: &chance)
            return QuietHours.Window(days: Set(days), start: start, end: end)
        }
        return QuietHours(isEnabled: !oneIn(8), timeZone: zoneName(), windows: windows)
    }

    private mutating func zoneName() -> String? {
        pick([nil, "UTC", "Forward", "Back", "Unknown"], else: nil)
    }

    private mutating func device(_ number: Int64) throws -> Device {
        try .sample(
            number, app: pick([.shop, .chat, AppID("com.example.gone")], else: .shop),
            environment: oneIn(4) ? .sandbox : .production,
            kind: oneIn(4) ? pick(DeviceKind.allCases, else: .device) : .device,
            authorization: oneIn(2) ? .authorized : pick(Authorization.allCases, else: .denied), timeZone: zoneName())
    }

    private mutating func entry() -> LedgerEntry? {
        guard oneIn(3) else { return nil }
        let state = oneIn(3) ? pick(LedgerState.allCases, else: .sent) : .claimed
        let closed = (0..<5).filter { _ in oneIn(3) }.map { DeviceID(Int64($0)) }
        return LedgerEntry(state: state, closedDevices: oneIn(2) ? Set(closed) : [])
    }

    private mutating func apps() -> [AppID: AppRules] {
        var apps: [AppID: AppRules] = [:]
        for id in [AppID.shop, .chat] where !oneIn(8) {
            apps[id] = AppRules(
                id: id, badge: pick(BadgeMode.allCases, else: .server), hasTimeSensitive: oneIn(2),
                hasCriticalAlerts: oneIn(2), environments: oneIn(2) ? [.production] : [.production, .sandbox])
        }
        return apps
    }

    /// One clock is put forward from 02:00 to 03:00, the other back from 03:00 to 02:00, on a day about `now`.
    private mutating func zones(around now: UnixTime) -> JumpingZones {
        let offset = 15 * Int.random(in: -40...48, using: &chance)
        let day = now.milliseconds / 86_400_000 + Int64.random(in: -1...1, using: &chance)
        let midnight = UnixTime(milliseconds: day * 86_400_000) - .minutes(offset)
        return JumpingZones(zones: [
            "UTC": .init(),
            "Forward": .init(offset: offset, jumpAt: midnight + .hours(2), jump: 60),
            "Back": .init(offset: offset, jumpAt: midnight + .hours(3), jump: -60),
        ])
    }
}
