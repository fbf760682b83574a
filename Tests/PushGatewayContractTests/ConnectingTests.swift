import AegisTestKit
import Glibc
import Testing

@testable import APNsSender

@Suite struct ConnectingTests {
    /// The same numbers in every run.
    private struct Sequence: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the wait doubles from one second to sixty, jittered by half`(seed: UInt64) {
        var generator = Sequence(state: seed)
        var backoff = ReconnectBackoff(first: .seconds(1), longest: .seconds(60))
        for whole in [1, 2, 4, 8, 16, 32, 60, 60] {
            let wait = backoff.failed(using: &generator)
            #expect(wait >= .milliseconds(whole * 500))
            #expect(wait <= .seconds(whole))
        }
        for _ in 0..<100 { _ = backoff.failed(using: &generator) }
        #expect(backoff.failed(using: &generator) <= .seconds(60))
        backoff.succeeded()
        #expect(backoff.failed(using: &generator) <= .seconds(1))
    }

    @Test func `families alternate, so that one that does not work costs one try`() {
        var generator = Sequence(state: 1)
        let addresses = (0..<6).map { SocketAddress(family: $0 < 2 ? AF_INET6 : AF_INET, bytes: [UInt8($0)]) }
        let ordered = Resolver.order(addresses, using: &generator)
        #expect(ordered.map(\.family) == [AF_INET6, AF_INET, AF_INET6, AF_INET, AF_INET, AF_INET])
        #expect(Set(ordered) == Set(addresses))
    }

    @Test func `a queue keeps its order however it grows and shrinks`() {
        var queue = FIFO<Int>()
        var next = 0
        var expected = 0
        for round in 0..<200 {
            for _ in 0..<(round % 37 * 3) {
                queue.append(next)
                next += 1
            }
            for _ in 0..<(round % 29 * 4) {
                guard let taken = queue.popFirst() else { break }
                #expect(taken == expected)
                expected += 1
            }
            #expect(queue.count == next - expected)
            #expect(queue.first == (queue.isEmpty ? nil : expected))
        }
        #expect(expected > 5_000)
    }
}
