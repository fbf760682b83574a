import AegisCore
import AegisTestKit
import Testing

@Suite struct MassFailureGuardTests {
    private let tokens: [DeviceToken]

    init() throws {
        tokens = try DeviceToken.distinct(200)
    }

    @Test func `fifty bad tokens and more than a tenth trip it, once`() {
        var massFailure = MassFailureGuard()
        for number in 1..<50 { #expect(massFailure.refused(tokens[number]) == false) }
        #expect(massFailure.refused(tokens[50]) == true)
        #expect(massFailure.isTripped)
        #expect(massFailure.refused(tokens[51]) == false)
        massFailure.reset()
        #expect(!massFailure.isTripped)
        #expect(massFailure.refused(tokens[52]) == false)
    }

    @Test func `a tenth of the answers is not more than a tenth`() {
        var massFailure = MassFailureGuard()
        massFailure.answered(900)
        for number in 1...100 { #expect(massFailure.refused(tokens[number]) == false) }
        #expect(massFailure.refused(tokens[101]) == true)
    }

    @Test func `one token, however often it is bad, trips nothing`() {
        var massFailure = MassFailureGuard()
        for _ in 0..<5_000 { #expect(massFailure.refused(tokens[1]) == false) }
    }

    @Test func `what is older than the window is forgotten`() {
        var massFailure = MassFailureGuard(window: 100, minimum: 10, percent: 5)
        for number in 1...9 { #expect(massFailure.refused(tokens[number]) == false) }
        massFailure.answered(100)
        for number in 11...19 { #expect(massFailure.refused(tokens[number]) == false) }
        #expect(massFailure.refused(tokens[20]) == true)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `it agrees with a list of the newest answers`(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var massFailure = MassFailureGuard(window: 50, minimum: 8, percent: 20)
        var answers: [Int?] = []
        for _ in 0..<3_000 {
            guard Int.random(in: 0..<10, using: &chance) < 2 else {
                massFailure.answered()
                answers.append(nil)
                continue
            }
            let number = Int.random(in: 1...20, using: &chance)
            answers.append(number)
            let newest = answers.suffix(50)
            let distinct = Set(newest.compactMap { $0 }).count
            let expected = distinct >= 8 && distinct * 100 > newest.count * 20
            #expect(massFailure.refused(tokens[number]) == expected)
            if massFailure.isTripped {
                massFailure.reset()
                answers = []
            }
        }
    }

    @Test func `a token is bad only if another was accepted after it or just before`() {
        var massFailure = MassFailureGuard()
        _ = massFailure.refused(tokens[1], because: "BadDeviceToken")
        massFailure.answered()
        #expect(massFailure.takeConfirmed().isEmpty)
        massFailure.accepted()
        #expect(massFailure.takeConfirmed() == [tokens[1]: "BadDeviceToken"])
        #expect(massFailure.takeConfirmed().isEmpty)
        massFailure.accepted()
        #expect(massFailure.takeConfirmed().isEmpty)
        for number in 2...30 { _ = massFailure.refused(tokens[number]) }
        #expect(massFailure.takeConfirmed().count == 10)
    }

    @Test func `after it has tripped no token is held for bad until a whole window has passed without`() {
        var massFailure = MassFailureGuard(window: 20, minimum: 5, percent: 10)
        for number in 1...5 { _ = massFailure.refused(tokens[number]) }
        #expect(massFailure.isTripped)
        massFailure.release()
        massFailure.accepted()
        #expect(massFailure.takeConfirmed().isEmpty)
        _ = massFailure.refused(tokens[6])
        massFailure.accepted()
        #expect(massFailure.takeConfirmed().isEmpty)
        massFailure.answered(20)
        _ = massFailure.refused(tokens[7])
        massFailure.accepted()
        #expect(massFailure.takeConfirmed().keys.map { $0 } == [tokens[7]])
    }
}
