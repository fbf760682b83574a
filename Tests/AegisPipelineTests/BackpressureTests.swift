import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct BackpressureTests {
        private func paused(_ rig: Rig) async -> String? {
            await rig.pipeline.health().degraded.first { $0.hasPrefix("paused") }
        }

        @Test func `bulk stops at half, standard at three quarters, urgent when all is full, and all resume`()
            async throws
        {
            let world = try World(topics: ["bulk": 1, "standard": 1, "urgent": 1])
            for number in 0..<40 { try await world.register("u\(number)", number: number) }
            let lanes: [String: Lane] = ["bulk": .bulk, "standard": .standard, "urgent": .urgent]
            let rig = try Rig(world, Rig.Options(lanes: lanes, maxInFlight: 40, batchSize: 5, isHolding: true))
            world.publish("b-1", for: (0..<20).map { "u\($0)" }, to: "bulk")
            try await eventually("bulk stops") { await paused(rig) == "paused topics: bulk" }
            world.publish("s-1", for: (0..<10).map { "u\($0)" }, to: "standard")
            try await eventually("standard stops") { await paused(rig) == "paused topics: bulk, standard" }
            // There is still room for what is urgent.
            world.publish("a-1", for: ["u39"], type: "alarm", to: "urgent")
            try await eventually("sent") { rig.gateway.sent.contains { $0.token == .sample(3_900) } }
            world.publish("a-2", for: (0..<9).map { "u\($0 + 20)" }, type: "alarm", to: "urgent")
            try await eventually("all stop") { await paused(rig) == "paused topics: bulk, standard, urgent" }
            for topic in lanes.keys { world.publish("late-\(topic)", for: ["u1"], to: topic) }
            rig.gateway.releaseAnswers()
            try await eventually("all resume") {
                world.committed("bulk") == 2 && world.committed("standard") == 2 && world.committed("urgent") == 3
            }
            #expect(await paused(rig) == nil)
            await rig.drain()
        }

        @Test func `an urgent record does not wait behind the bulk that was read before it`() async throws {
            let world = try World(topics: ["bulk": 1, "urgent": 1])
            for number in 0..<400 { try await world.register("u\(number)", number: number) }
            try await world.register("ada", number: 5_000)
            for number in 0..<400 { world.publish("b-\(number)", for: ["u\(number)"], to: "bulk") }
            let lanes: [String: Lane] = ["bulk": .bulk, "urgent": .urgent]
            let rig = try Rig(world, Rig.Options(lanes: lanes, window: 5_000, batchSize: 20))
            try await eventually("under way") { rig.gateway.sent.count > 20 }
            world.publish("a-1", for: ["ada"], type: "alarm", to: "urgent")
            try await eventually("committed", within: .seconds(60)) {
                world.committed("bulk") == 400 && world.committed("urgent") == 1
            }
            let place = try #require(rig.gateway.sent.firstIndex { $0.token == .sample(500_000) })
            #expect(place < 380)
            await rig.drain()
        }

        @Test func `an event for many more than fit is sent to all of them`() async throws {
            let world = try World()
            let users = (0..<300).map { "u\($0)" }
            for (number, user) in users.enumerated() { try await world.register(user, number: number) }
            let rig = try Rig(world, Rig.Options(maxInFlight: 20, batchSize: 5))
            world.publish("o-1", for: users)
            world.publish("o-2", for: users)
            try await eventually("committed") { world.committed() == 2 }
            #expect(Set(rig.gateway.sent.map(\.id)).count == 600)
            #expect(rig.gateway.sent.count == 600)
            await rig.drain()
        }
    }
}
