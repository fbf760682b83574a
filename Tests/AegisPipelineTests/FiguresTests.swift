import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    /// What the figures for operators say of a pipeline that holds back.
    @Suite struct FiguresTests {
        private static let reasons = ["outage", "draining", "bytes", "in_flight"]

        /// The partitions that are not read, by the reasons that have any.
        private func paused(_ rig: Rig) -> [String: Double] {
            var paused: [String: Double] = [:]
            for reason in Self.reasons {
                if let count = rig.meter.gauge(.partitionsPaused, reason), count != 0 { paused[reason] = count }
            }
            return paused
        }

        private func fill(_ world: World) async throws {
            for number in 0..<20 { try await world.register("u\(number)", number: number) }
            world.publish("o-1", for: (0..<20).map { "u\($0)" })
        }

        @Test func `partitions that wait for room are told apart by the bound they wait at`() async throws {
            let deliveries = try World(topics: ["events": 2])
            let first = try Rig(deliveries, Rig.Options(maxInFlight: 10, isHolding: true))
            try await fill(deliveries)
            try await eventually("paused for deliveries") { paused(first) == ["in_flight": 2] }
            first.gateway.releaseAnswers()
            try await eventually("read again") { paused(first).isEmpty }
            await first.drain()

            let bytes = try World(topics: ["events": 2])
            let second = try Rig(bytes, Rig.Options(maxInFlightBytes: 100, isHolding: true))
            try await fill(bytes)
            try await eventually("paused for bytes") { paused(second) == ["bytes": 2] }
            second.gateway.releaseAnswers()
            try await eventually("read again") { paused(second).isEmpty }
            await second.drain()
        }

        @Test func `a drain is no outage, and an outage no lack of room`() async throws {
            let world = try World(topics: ["events": 2])
            let rig = try Rig(world, Rig.Options(isHolding: true))
            try await fill(world)
            try await eventually("under way") { !rig.gateway.sent.isEmpty }
            await world.store.fail(with: StoreError(kind: .unavailable, operation: "any", detail: "away"))
            world.publish("o-2", for: ["u1"])
            try await eventually("paused for an outage") { paused(rig) == ["outage": 2] }
            await world.store.fail(with: nil)
            try await eventually("read again") { paused(rig).isEmpty }

            let draining = Task { await rig.drain() }
            try await eventually("paused for the drain") { paused(rig) == ["draining": 2] }
            rig.gateway.releaseAnswers()
            #expect(await draining.value == 0)
        }

        @Test func `waits for the rate limit are summed up to their fractions of a second`() async throws {
            let world = try World()
            let rig = try Rig(world, Rig.Options(rate: 50, burst: 1))
            let start = world.clock.uptime()
            try await fill(world)
            try await eventually("committed") { world.committed() == 1 }
            let elapsed = start.duration(to: world.clock.uptime()).seconds
            // 20 pushes, 20 ms from one to the next.
            #expect(rig.meter.sum(.rateLimitWait) > 0.3)
            #expect(rig.meter.sum(.rateLimitWait) <= elapsed)
            #expect(rig.meter.count(.rateLimitWait) == 0)
            await rig.drain()
        }
    }
}
