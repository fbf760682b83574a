import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct DuplicateTests {
        @Test func `the same event twice in a batch is sent once`() async throws {
            let world = try World()
            try await world.register("ada", devices: 2, number: 1)
            for _ in 0..<3 { world.publish("o-1", for: ["ada"]) }
            let rig = try Rig(world)
            try await eventually("committed") { world.committed() == 3 }
            #expect(rig.gateway.sent.count == 2)
            #expect(try await world.history("o-1").first?.repeats == 2)
            await rig.drain()
        }

        @Test func `the same event on two partitions is sent once, and neither is committed before it has ended`()
            async throws
        {
            let world = try World(topics: ["events": 2])
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(lanes: Rig.marked, isHolding: true))
            world.publish("o-1", for: ["ada"], partition: 0)
            try await eventually("sent") { rig.gateway.sent.count == 1 }
            world.publish("o-1", for: ["ada"], partition: 1)
            try await eventually("seen twice") { rig.witness.decisions.contains(.duplicate) }
            try await rig.passCommit()
            #expect(world.committed("events", 1) == nil)
            rig.gateway.releaseAnswers()
            try await eventually("committed") { world.committed() == 1 && world.committed("events", 1) == 1 }
            #expect(rig.gateway.sent.count == 1)
            await rig.drain()
        }

        @Test func `a partition that is lost and given back does not commit what is still on its way`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(lanes: Rig.marked, isHolding: true))
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { rig.gateway.sent.count == 1 }
            world.broker.expelMembers(of: World.group)
            try await eventually("read again") { rig.witness.decisions.contains(.duplicate) }
            try await rig.passCommit()
            #expect(world.committed() == nil)
            rig.gateway.releaseAnswers()
            try await eventually("committed") { world.committed() == 1 }
            #expect(rig.gateway.sent.count == 1)
            #expect(await rig.drain() == 0)
        }

        @Test func `after a crash only open devices are sent to, under the same ids`() async throws {
            let world = try World()
            try await world.register("ada", devices: 3, number: 1)
            let first = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { first.gateway.sent.count == 3 }
            first.gateway.answerNext()
            try await eventually("settled") { first.witness.ends.count == 1 }
            await first.kill()
            #expect(world.committed() == nil)

            let second = try Rig(world)
            try await eventually("committed") { world.committed() == 1 }
            let done = try #require(first.gateway.sent.first)
            let open = Set(first.gateway.sent.dropFirst().map(\.id))
            #expect(!second.gateway.sent.contains { $0.token == done.token })
            #expect(Set(second.gateway.sent.map(\.id)) == open)
            #expect(second.gateway.sent.count == 2)
            #expect(Set(second.gateway.sent.map(\.collapseID)) == [done.collapseID])
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 1)
            await second.drain()
        }

        @Test func `a redelivered event that is closed is committed without a push`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let first = try Rig(world)
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 2 }
            #expect(first.gateway.sent.count == 1)
            await first.drain()
        }
    }
}
