import AegisCore
import Testing

@Suite struct CircuitBreakerTests {
    private let start = TestInstant.start
    private let tokens: [DeviceToken]

    init() throws {
        tokens = try DeviceToken.distinct(10)
    }

    @Test func `a pause opens it at once, is told once and keeps its reason`() {
        var breaker = CircuitBreaker<TestInstant>()
        #expect(breaker.admit(at: start) == .send)
        #expect(breaker.pause(at: start, because: "InvalidProviderToken") == true)
        #expect(breaker.pause(at: start + .seconds(1), because: "Forbidden") == false)
        #expect(breaker.reason == "InvalidProviderToken")
        #expect(breaker.admit(at: start + .seconds(59)) == .wait(until: start + .seconds(60)))
    }

    @Test func `one probe goes after a minute and nothing beside it`() {
        var breaker = CircuitBreaker<TestInstant>()
        _ = breaker.pause(at: start, because: "BadTopic")
        let due = start + .seconds(60)
        #expect(breaker.nextProbe == due)
        #expect(breaker.admit(at: due) == .probe)
        #expect(breaker.admit(at: due) == .wait(until: due + .seconds(60)))
        #expect(breaker.succeeded() == true)
        #expect(breaker.admit(at: due) == .send)
        #expect(breaker.reason == nil)
    }

    @Test func `each failed probe doubles the wait, up to half an hour`() {
        var breaker = CircuitBreaker<TestInstant>()
        _ = breaker.pause(at: start, because: "BadTopic")
        var now = start + .seconds(60)
        for wait in [2, 4, 8, 16, 30, 30] {
            #expect(breaker.admit(at: now) == .probe)
            breaker.failed(at: now, because: "Forbidden")
            let due = now + .seconds(wait * 60)
            #expect(breaker.admit(at: now) == .wait(until: due))
            now = due
        }
        #expect(breaker.reason == "Forbidden")
    }

    @Test func `a probe that is refused by a pausing answer counts as failed`() {
        var breaker = CircuitBreaker<TestInstant>()
        _ = breaker.pause(at: start, because: "BadTopic")
        let due = start + .seconds(60)
        #expect(breaker.admit(at: due) == .probe)
        #expect(breaker.pause(at: due, because: "BadTopic") == false)
        #expect(breaker.nextProbe == due + .seconds(120))
    }

    @Test func `a probe whose answer is lost does not wedge the app`() {
        var breaker = CircuitBreaker<TestInstant>()
        _ = breaker.pause(at: start, because: "BadTopic")
        #expect(breaker.admit(at: start + .seconds(60)) == .probe)
        #expect(breaker.admit(at: start + .seconds(120)) == .probe)
    }

    @Test func `answers to what was sent before it opened change nothing`() {
        var breaker = CircuitBreaker<TestInstant>()
        _ = breaker.pause(at: start, because: "BadTopic")
        #expect(breaker.succeeded() == false)
        breaker.failed(at: start, because: "Forbidden")
        #expect(breaker.suspect(tokens[1], at: start, because: "TopicDisallowed") == false)
        #expect(breaker.nextProbe == start + .seconds(60))
        #expect(breaker.reason == "BadTopic")
    }

    @Test func `five distinct tokens open it, one token never does`() {
        var breaker = CircuitBreaker<TestInstant>()
        for _ in 0..<100 { #expect(breaker.suspect(tokens[1], at: start, because: "TopicDisallowed") == false) }
        for number in 2...4 { #expect(breaker.suspect(tokens[number], at: start, because: "TopicDisallowed") == false) }
        #expect(breaker.admit(at: start) == .send)
        #expect(breaker.suspect(tokens[5], at: start, because: "TopicDisallowed") == true)
        #expect(breaker.reason == "TopicDisallowed")
    }

    @Test func `a success between clears the suspicion`() {
        var breaker = CircuitBreaker<TestInstant>()
        for number in 1...4 { _ = breaker.suspect(tokens[number], at: start, because: "TopicDisallowed") }
        #expect(breaker.succeeded() == false)
        for number in 5...8 { #expect(breaker.suspect(tokens[number], at: start, because: "TopicDisallowed") == false) }
        #expect(!breaker.isOpen)
    }

    @Test func `a changed credential closes it and forgets the long wait`() {
        var breaker = CircuitBreaker<TestInstant>()
        _ = breaker.pause(at: start, because: "InvalidProviderToken")
        #expect(breaker.admit(at: start + .seconds(60)) == .probe)
        breaker.failed(at: start + .seconds(60), because: "InvalidProviderToken")
        breaker.reset()
        #expect(breaker.admit(at: start + .seconds(61)) == .send)
        #expect(breaker.pause(at: start + .seconds(61), because: "InvalidProviderToken") == true)
        #expect(breaker.nextProbe == start + .seconds(121))
    }

    @Test func `the limit and the waits are settings`() {
        var breaker = CircuitBreaker<TestInstant>(
            suspectLimit: 1, firstCooldown: .seconds(3), longestCooldown: .seconds(4))
        #expect(breaker.suspect(tokens[1], at: start, because: "400") == true)
        #expect(breaker.admit(at: start + .seconds(3)) == .probe)
        breaker.failed(at: start + .seconds(3), because: "400")
        #expect(breaker.nextProbe == start + .seconds(7))
    }
}
