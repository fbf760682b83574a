import AegisCore
import AegisPorts
import Foundation
import Runtime
import Testing

@Suite struct SystemClockTests {
    @Test func `the wall clock is the system's and the other never goes back`() {
        let clock = SystemClock()
        let difference = Double(clock.now().milliseconds) / 1_000 - Date().timeIntervalSince1970
        #expect(abs(difference) < 5)
        var last = clock.uptime()
        for _ in 0..<1_000 {
            let next = clock.uptime()
            #expect(next >= last)
            last = next
        }
    }

    @Test func `sleeping ends no earlier than the deadline, at once for a past one`() async throws {
        let clock = SystemClock()
        let deadline = clock.uptime().advanced(by: .milliseconds(20))
        try await clock.sleep(until: deadline)
        #expect(clock.uptime() >= deadline)
        try await clock.sleep(until: MonotonicTime(nanoseconds: 0))
    }

    @Test(.timeLimit(.minutes(1)))
    func `a cancelled sleep throws`() async {
        let sleeper = Task { () -> Bool in
            do {
                try await SystemClock().sleep(until: SystemClock().uptime().advanced(by: .seconds(3_600)))
                return false
            } catch {
                return true
            }
        }
        sleeper.cancel()
        #expect(await sleeper.value)
    }
}
