import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct RejectionTests {
        @Test func `bad records become one dead letter each and the good ones behind them flow`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(rejectsUnmatched: true))
            world.publish(raw: "not json")
            world.publish("u-1", for: ["ada"], type: "unheard_of")
            // The text of the type needs a number.
            world.publish(raw: #"{"id":"c-1","type":"order","recipient":"ada","data":{}}"#)
            world.publish(raw: #"{"id":"a-1","type":"order","audience":"everybody","data":{"number":"1"}}"#)
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 5 }
            let kinds = world.deadLetters.compactMap { $0.header("aegis-dlq-kind") }.sorted()
            #expect(kinds == ["content", "malformed", "recipient", "unmatched"])
            #expect(rig.gateway.sent.count == 1)
            #expect(try await world.history("c-1").first?.state == .rejected)
            #expect(rig.meter.count(.notifications, "order", "rejected", "content") == 1)
            #expect(rig.meter.count(.notifications, "order", "duplicate", "") == 0)
            await rig.drain()
        }

        @Test func `an unmatched event is passed over unless the topic says otherwise`() async throws {
            let world = try World()
            let rig = try Rig(world)
            world.publish("u-1", for: ["ada"], type: "unheard_of")
            try await eventually("committed") { world.committed() == 1 }
            #expect(world.deadLetters.isEmpty)
            #expect(rig.meter.count(.eventsIgnored, "events", "unmatched") == 1)
            await rig.drain()
        }

        @Test func `a rejected event that comes twice at once makes one dead letter`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            for _ in 0..<3 { world.publish(raw: #"{"id":"c-1","type":"order","recipient":"ada","data":{}}"#) }
            let rig = try Rig(world)
            try await eventually("committed") { world.committed() == 3 }
            #expect(world.deadLetters.count == 1)
            await rig.drain()
        }

        @Test func `while dead letters cannot be published the offset is held, health says so, and it goes on after`()
            async throws
        {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.letters.setFailing(true)
            world.publish(raw: "not json")
            world.publish("o-1", for: ["ada"])
            try await eventually("told") {
                await rig.pipeline.health().degraded.contains { $0.hasPrefix("dead letters cannot be published") }
            }
            // What is good goes on meanwhile; the offset stays before the bad one.
            try await eventually("sent") { rig.witness.ends == [.accepted] }
            #expect(world.committed() == nil)
            rig.letters.setFailing(false)
            try await eventually("committed") { world.committed() == 2 }
            #expect(world.deadLetters.count == 1)
            #expect(await rig.pipeline.health().degraded.isEmpty)
            await rig.drain()
        }

        @Test func `a record that makes too large a dead letter is told of without its bytes, and the others flow`()
            async throws
        {
            let world = try World()
            try await world.register("ada", number: 1)
            world.broker.setLargestRecord(10_000)
            let rig = try Rig(world)
            world.publish(raw: String(repeating: "x", count: 9_990))
            world.publish(raw: "short")
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 3 }
            #expect(rig.witness.ends == [.accepted])
            #expect(world.deadLetters.count == 2)
            let abridged = try #require(world.deadLetters.first { $0.header("aegis-dlq-omitted-bytes") != nil })
            #expect(abridged.header("aegis-dlq-omitted-bytes") == "9990")
            #expect(abridged.header("aegis-dlq-offset") == "0")
            #expect(abridged.value == [])
            #expect(await rig.pipeline.health().degraded.isEmpty)
            await rig.drain()
        }

        @Test func `a letter that nothing can make smaller is an alarm and not a loop, and the others go on`()
            async throws
        {
            let world = try World()
            world.broker.setLargestRecord(10)
            let rig = try Rig(world)
            world.publish(raw: "")
            world.publish(raw: "bad")
            try await eventually("told") {
                await rig.pipeline.health().degraded.contains { $0.hasPrefix("dead letters cannot be published") }
            }
            world.broker.setLargestRecord(10_000)
            try await eventually("committed") { world.committed() == 2 }
            #expect(world.deadLetters.count == 2)
            await rig.drain()
        }

        @Test func `what is bad without end stops the reading while dead letters cannot be published`() async throws {
            let world = try World()
            let rig = try Rig(world, Rig.Options(batchSize: 5))
            rig.letters.setFailing(true)
            for _ in 0..<200 { world.publish(raw: "not json") }
            try await eventually("paused") {
                await rig.pipeline.health().degraded.contains("paused topics: events")
            }
            rig.letters.setFailing(false)
            try await eventually("committed") { world.committed() == 200 }
            #expect(world.deadLetters.count == 200)
            await rig.drain()
        }

        @Test func `a failed delivery is closed only when its dead letter is safe`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.letters.setFailing(true)
            rig.gateway.script(.sample(100), [.status(400, "PayloadEmpty")])
            world.publish("o-1", for: ["ada"])
            try await eventually("told") { await !rig.pipeline.health().degraded.isEmpty }
            #expect(try await world.history("o-1").first?.state == .claimed)
            #expect(try await world.history("o-1").first?.deliveries.isEmpty == true)
            #expect(world.committed() == nil)
            rig.letters.setFailing(false)
            try await eventually("committed") { world.committed() == 1 }
            #expect(try await world.history("o-1").first?.deliveries.map(\.outcome) == ["failed"])
            await rig.drain()
        }
    }
}
