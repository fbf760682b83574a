import AegisCore
import Testing

/// What changed an outcome is said without being asked for, with its value and its time.
@Suite struct DecideEffectsTests {
    private var question: DecisionQuestion

    init() throws {
        question = try .sample()
    }

    private var effects: [String] { question.effects.trace.map { "\($0.rule.rawValue): \($0.finding)" } }

    @Test func `nothing is said where nothing interfered`() {
        #expect(effects.isEmpty)
    }

    @Test mutating func `a critical type that passes mute and quiet hours leaves a trace`() {
        question.rules.priority = .critical
        question.snapshot.preferences.mutedUntil = .noon + .hours(1)
        question.snapshot.preferences.quietHours = .always
        #expect(question.effects.plan != nil)
        #expect(question.effects.trace.map(\.rule) == [.mute, .quietHours])
        #expect(effects.last?.hasPrefix("quiet_hours: quiet in UTC until ") == true)
        #expect(effects.last?.hasSuffix("which critical types ignore") == true)
    }

    @Test mutating func `a level above the app's entitlements is lowered, and says so`() {
        question.rules.interruptionLevel = .critical
        #expect(question.effects.plan?.targets.map(\.level) == [.active])
        #expect(effects.count == 1)
        #expect(effects.first?.contains("active, as it lacks the entitlement for critical") == true)
    }

    @Test mutating func `a suppression names rule and time`() {
        question.event.expiresAt = .noon - .hours(1)
        #expect(effects == ["expiry: expired at \(Timestamp.rfc3339(.noon - .hours(1)))"])
    }

    @Test mutating func `a limit names what was sent and when the next may go`() {
        let limit = FrequencyLimit(max: 1, per: .hours(2))
        question.rules.frequency = FrequencyRule(limit: limit, over: .defer)
        question.snapshot.recentSends = [.noon - .hours(1)]
        #expect(question.effects.postponement == .noon + .hours(1))
        let next = Timestamp.rfc3339(.noon + .hours(1))
        #expect(effects == ["frequency: 1 in 2h were sent; the next may go at \(next)"])
    }

    @Test func `the ledger keeps them as one short text`() {
        #expect(DecisionStep.text(of: []) == nil)
        let steps = (0..<100).map { DecisionStep(.level, "step \($0)") }
        let text = DecisionStep.text(of: steps) ?? ""
        #expect(text.hasPrefix("level: step 0; level: step 1; "))
        #expect((400...512).contains(text.utf8.count))
    }
}
