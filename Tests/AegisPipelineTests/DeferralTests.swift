import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct DeferralTests {
        private func postpone(_ world: World, _ id: String, type: String = "order") {
            let due = Timestamp.rfc3339(world.clock.now().advanced(by: .seconds(3_600)))
            world.publish(id, for: ["ada"], type: type, more: #","deliver_at":"\#(due)""#)
        }

        @Test func `a deferred notification is committed, decided again when it is due, and its row goes`() async throws
        {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            postpone(world, "o-1")
            try await eventually("committed") { world.committed() == 1 }
            #expect(rig.gateway.sent.isEmpty)
            #expect(try await world.store.deferredCount() == 1)
            // Another device has come meanwhile: it counts as well.
            try await world.register("ada", devices: 2, number: 1)
            world.clock.advance(by: .seconds(3_601))
            try await eventually("gone") { try await world.store.deferredCount() == 0 }
            #expect(rig.gateway.sent.count == 2)
            #expect(try await world.history("o-1").first?.state == .sent)
            await rig.drain()
        }

        @Test func `many that are due come batch after batch, without a pause between`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(batchSize: 5, deferralInterval: .seconds(1)))
            for number in 0..<400 { postpone(world, "o-\(number)") }
            try await eventually("committed") { world.committed() == 400 }
            world.clock.advance(by: .seconds(3_601))
            let began = ContinuousClock.now
            try await eventually("gone") { try await world.store.deferredCount() == 0 }
            // At a batch a second it would take 80.
            #expect(began.duration(to: .now) < .seconds(40))
            #expect(rig.gateway.sent.count == 400)
            await rig.drain()
        }

        @Test func `a redelivery of what is deferred does not shorten the wait`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            let due = Timestamp.rfc3339(world.clock.now().advanced(by: .seconds(3_600)))
            for _ in 0..<2 { world.publish("o-1", for: ["ada"], more: #","deliver_at":"\#(due)""#) }
            try await eventually("committed") { world.committed() == 2 }
            #expect(rig.gateway.sent.isEmpty)
            #expect(try await world.store.deferredCount() == 1)
            world.clock.advance(by: .seconds(3_601))
            try await eventually("sent") { try await world.store.deferredCount() == 0 }
            #expect(rig.gateway.sent.count == 1)
            await rig.drain()
        }

        @Test func `a deferral whose type has left the catalog becomes a dead letter`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            postpone(world, "o-1")
            try await eventually("committed") { world.committed() == 1 }
            await rig.pipeline.reload(
                Rig.planner(try World.catalog(without: "order"), apps: [.sample: AppRules(id: .sample)]))
            world.clock.advance(by: .seconds(3_601))
            try await eventually("gone") { try await world.store.deferredCount() == 0 }
            #expect(world.deadLetters.map { $0.header("aegis-dlq-kind") } == ["configuration"])
            #expect(try await world.history("o-1").first?.state == .rejected)
            #expect(rig.gateway.sent.isEmpty)
            await rig.drain()
        }

        @Test func `a due notification whose process dies comes due again under the same id`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let first = try Rig(world, Rig.Options(deferralLease: .seconds(60), isHolding: true))
            postpone(world, "o-1")
            try await eventually("committed") { world.committed() == 1 }
            world.clock.advance(by: .seconds(3_601))
            try await eventually("sent") { first.gateway.sent.count == 1 }
            await first.kill()
            let second = try Rig(world)
            world.clock.advance(by: .seconds(61))
            try await eventually("gone") { try await world.store.deferredCount() == 0 }
            #expect(second.gateway.sent.map(\.id) == first.gateway.sent.map(\.id))
            await second.drain()
        }
    }
}
