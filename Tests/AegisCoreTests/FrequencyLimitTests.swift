import AegisCore
import Testing

@Suite struct FrequencyLimitTests {
    private let limit = FrequencyLimit(max: 2, per: .seconds(100))

    private func at(_ seconds: Int64) -> UnixTime { UnixTime(milliseconds: seconds * 1_000) }

    @Test func `a window with room admits now`() {
        #expect(limit.nextAdmission(after: [], at: at(0)) == nil)
        #expect(limit.nextAdmission(after: [at(0)], at: at(0)) == nil)
    }

    @Test func `a full window admits one when its oldest send leaves it`() {
        #expect(limit.nextAdmission(after: [at(10), at(50)], at: at(60)) == at(110))
        #expect(limit.nextAdmission(after: [at(10), at(50)], at: at(109)) == at(110))
        #expect(limit.nextAdmission(after: [at(10), at(50)], at: at(110)) == nil)
    }

    @Test func `a lowered limit waits until enough have left`() {
        #expect(limit.nextAdmission(after: [at(0), at(10), at(20), at(30)], at: at(40)) == at(120))
    }

    @Test func `a limit is never below one`() {
        #expect(FrequencyLimit(max: 0, per: .seconds(1)).max == 1)
    }
}
