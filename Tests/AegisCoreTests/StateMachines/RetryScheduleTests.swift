import AegisCore
import AegisTestKit
import Testing

@Suite struct RetryScheduleTests {
    private let schedule = RetrySchedule(base: .milliseconds(500), cap: .seconds(900), maxAttempts: 8)

    @Test func `the longest wait doubles up to the cap`() {
        #expect((1...4).map { schedule.ceiling(step: $0) } == [0.5, 1, 2, 4].map(Duration.seconds))
        #expect(schedule.ceiling(step: 11) == .seconds(512))
        #expect(schedule.ceiling(step: 12) == .seconds(900))
        #expect(schedule.ceiling(step: .max) == .seconds(900))
        #expect(schedule.ceiling(step: .min) == .milliseconds(500))
    }

    @Test func `used up attempts end it`() {
        var chance = SeededGenerator(seed: 1)
        #expect(schedule.nextDelay(afterAttempts: 7, using: &chance) != nil)
        #expect(schedule.nextDelay(afterAttempts: 8, using: &chance) == nil)
        #expect(schedule.nextDelay(afterAttempts: 8, retryAfter: .seconds(1), using: &chance) == nil)
    }

    @Test(arguments: 1...12)
    func `the wait is spread over the whole interval`(step: Int) {
        var chance = SeededGenerator(seed: UInt64(step))
        let ceiling = schedule.ceiling(step: step)
        let waits = (0..<1_000).map { _ in schedule.delay(step: step, using: &chance) }
        #expect(waits.allSatisfy { $0 >= .zero && $0 <= ceiling })
        #expect(waits.contains { $0 < ceiling / 10 })
        #expect(waits.contains { $0 > ceiling / 10 * 9 })
    }

    @Test func `a Retry-After is the lower bound, with jitter on top`() {
        var chance = SeededGenerator(seed: 7)
        let waits = (0..<100).map { _ in schedule.delay(step: 1, retryAfter: .seconds(20), using: &chance) }
        #expect(waits.allSatisfy { $0 >= .seconds(20) && $0 <= .milliseconds(20_500) })
        #expect(Set(waits).count > 90)
    }

    @Test func `absurd settings and demands neither trap nor wait for ever`() {
        var chance = SeededGenerator(seed: 3)
        let huge = RetrySchedule(base: .seconds(Int64.max), cap: .seconds(Int64.max), maxAttempts: .max)
        #expect(huge.delay(step: .max, using: &chance) >= .zero)
        let negative = RetrySchedule(base: .seconds(-5), cap: .seconds(-1), maxAttempts: -1)
        #expect(negative.delay(step: 3, using: &chance) == .zero)
        #expect(negative.nextDelay(afterAttempts: 0, using: &chance) == nil)
        let demanded = schedule.delay(step: 1, retryAfter: .seconds(Int64.max), using: &chance)
        #expect(demanded <= .seconds(30 * 86_400 + 1))
        #expect(schedule.delay(step: 1, retryAfter: .seconds(-9), using: &chance) >= .zero)
    }
}
