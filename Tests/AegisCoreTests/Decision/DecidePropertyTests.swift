import AegisCore
import Testing

@Suite struct DecidePropertyTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `it agrees with the rules written down a second time, traced or not`(seed: UInt64) throws {
        var generator = QuestionGenerator(seed: seed)
        for number in 0..<200 {
            var (question, zones) = try generator.next()
            let answer = decide(question, localTime: zones).untraced
            let expected = SlowDecision(question: question, zones: zones).answer()
            #expect(answer == expected, "question \(number) of seed \(seed)")
            question.isTraced = true
            #expect(decide(question, localTime: zones).untraced == answer, "question \(number) of seed \(seed)")
        }
    }

    @Test func `the questions meet every answer`() throws {
        var generator = QuestionGenerator(seed: 1)
        var met: [String: Int] = [:]
        for _ in 0..<8_000 {
            let (question, zones) = try generator.next()
            switch decide(question, localTime: zones) {
            case .send: met["send", default: 0] += 1
            case .duplicate: met["duplicate", default: 0] += 1
            case .postpone(_, let rule, _): met["postpone \(rule.rawValue)", default: 0] += 1
            case .suppress(let reason, _): met[reason.rawValue, default: 0] += 1
            case .join(_, let reason, _): met["join \(reason.rawValue)", default: 0] += 1
            }
        }
        let reasons: [SuppressionReason] = [
            .noDevice, .notAuthorized, .typeOff, .categoryOff, .muted, .noMarketingConsent, .quietHours, .expired,
            .selfAction, .frequencyCap,
        ]
        let answers =
            [
                "send", "duplicate", "postpone schedule", "postpone quiet_hours", "postpone frequency", "join digested",
                "join silent_throttle",
            ] + reasons.map(\.rawValue)
        for answer in answers { #expect(met[answer, default: 0] >= 3, "\(answer)") }
        #expect(met.count == answers.count)
    }

    @Test(arguments: 100..<110 as Range<UInt64>)
    func `nothing is sent twice, late, or to a device that has its outcome`(seed: UInt64) throws {
        var generator = QuestionGenerator(seed: seed)
        for _ in 0..<100 {
            let (question, zones) = try generator.next()
            switch decide(question, localTime: zones) {
            case .send(let plan):
                #expect(!plan.targets.isEmpty)
                #expect(plan.expiresAt > question.now)
                #expect(Set(plan.targets.map(\.device.id)).count == plan.targets.count)
                let closed = question.snapshot.entry?.closedDevices ?? []
                #expect(plan.targets.allSatisfy { !closed.contains($0.device.id) })
            case .postpone(let until, _, _):
                #expect(until > question.now)
                #expect(question.event.expiresAt.map { until < $0 } ?? true)
            case .join(let digest, _, _):
                #expect(digest.dueAt > question.now)
            case .suppress, .duplicate:
                break
            }
        }
    }
}
