import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct FrequencyTests {
        @Test func `above the limit one is dropped, within one batch too`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            for number in 0..<10 { world.publish("c-\(number)", for: ["ada"], type: "capped") }
            let rig = try Rig(world)
            try await eventually("committed") { world.committed() == 10 }
            #expect(rig.gateway.sent.count == 1)
            #expect(rig.meter.count(.notifications, "capped", "suppressed", "frequency_cap") == 9)
            world.clock.advance(by: .seconds(3_601))
            world.publish("c-10", for: ["ada"], type: "capped")
            try await eventually("committed") { world.committed() == 11 }
            #expect(rig.gateway.sent.count == 2)
            await rig.drain()
        }

        @Test func `above the limit one waits for its turn, and each window lets one go`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            for number in 0..<4 { world.publish("s-\(number)", for: ["ada"], type: "spaced") }
            let rig = try Rig(world)
            try await eventually("committed") { world.committed() == 4 }
            #expect(rig.gateway.sent.count == 1)
            for sent in 2...4 {
                world.clock.advance(by: .seconds(3_601))
                try await eventually("the next") { rig.witness.ends.count == sent }
                #expect(rig.gateway.sent.count == sent)
            }
            try await eventually("gone") { try await world.store.deferredCount() == 0 }
            await rig.drain()
        }

        @Test func `a hundred at once on two instances are one and a digest of the rest`() async throws {
            let world = try World(topics: ["events": 2])
            try await world.register("ada", devices: 2, number: 1)
            for number in 0..<100 {
                world.publish("p-\(number)", for: ["ada"], type: "price", partition: Int32(number % 2))
            }
            let one = try Rig(world, Rig.Options(batchSize: 7))
            let two = try Rig(world, Rig.Options(batchSize: 7))
            try await eventually("committed") {
                world.committed("events", 0) == 50 && world.committed("events", 1) == 50
            }
            #expect(one.gateway.sent.count + two.gateway.sent.count == 2)
            #expect(try await world.store.deferredCount() == 1)
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 1)
            world.clock.advance(by: .seconds(3_601))
            try await eventually("the digest") { try await world.store.deferredCount() == 0 }
            try await eventually("sent") { one.gateway.sent.count + two.gateway.sent.count == 4 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 2)
            var digests: [String: Int] = [:]
            for number in 0..<100 {
                let row = try #require(try await world.history("p-\(number)").first)
                digests[row.digest ?? row.state.rawValue, default: 0] += 1
            }
            #expect(digests.values.sorted() == [1, 99])
            let id = try #require(digests.first { $0.value == 99 }?.key)
            let digest = try #require(try await world.history(id).first)
            #expect(digest.state == .sent)
            #expect(digest.deliveries.map(\.outcome) == ["accepted", "accepted"])
            await one.drain()
            await two.drain()
        }

        @Test func `of background pushes above the limit the newest goes when it may`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            for number in 0..<10 { world.publish("b-\(number)", for: ["ada"], type: "sync") }
            let rig = try Rig(world)
            try await eventually("committed") { world.committed() == 10 }
            #expect(rig.gateway.sent.count == 1)
            #expect(rig.meter.count(.notifications, "sync", "suppressed", "silent_throttle") == 9)
            world.clock.advance(by: .seconds(3_601))
            try await eventually("sent") { rig.witness.ends.count == 2 }
            let newest = try #require(rig.gateway.sent.last)
            #expect(String(decoding: newest.payload, as: UTF8.self).contains(#""number":"b-9""#))
            await rig.drain()
        }

        @Test func `what no device accepted does not count`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), [.status(400, "PayloadEmpty")])
            world.publish("c-0", for: ["ada"], type: "capped")
            try await eventually("committed") { world.committed() == 1 }
            world.publish("c-1", for: ["ada"], type: "capped")
            try await eventually("committed") { world.committed() == 2 }
            #expect(rig.witness.ends == [.failed, .accepted])
            await rig.drain()
        }

        @Test func `a redelivery of what is claimed is the same send`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let first = try Rig(world, Rig.Options(isHolding: true))
            world.publish("c-0", for: ["ada"], type: "capped")
            try await eventually("on its way") { first.gateway.sent.count == 1 }
            await first.kill()
            let second = try Rig(world)
            try await eventually("committed") { world.committed() == 1 }
            #expect(second.witness.ends == [.accepted])
            await second.drain()
        }

        @Test func `a digest is decided on when it is due, from what the person wants then`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            for number in 0..<3 { world.publish("p-\(number)", for: ["ada"], type: "price") }
            let rig = try Rig(world)
            try await eventually("committed") { world.committed() == 3 }
            try await world.store.setPreferences(
                Preferences(types: ["price": false]), of: .sample("ada"), at: world.clock.now())
            world.clock.advance(by: .seconds(3_601))
            try await eventually("gone") { try await world.store.deferredCount() == 0 }
            #expect(rig.gateway.sent.count == 1)
            #expect(rig.meter.count(.notifications, "price", "suppressed", "type_off") == 1)
            await rig.drain()
        }
    }
}
