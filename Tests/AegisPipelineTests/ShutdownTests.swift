import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct ShutdownTests {
        @Test func `a drain ends what is claimed, commits it and leaves the rest for whoever comes next`() async throws
        {
            let world = try World()
            try await world.register("ada", number: 1)
            try await world.register("ben", number: 2)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { rig.gateway.sent.count == 1 }
            async let left = rig.drain()
            try await eventually("draining") { await rig.pipeline.health().notReadyReasons == ["draining"] }
            world.publish("o-2", for: ["ben"])
            rig.gateway.releaseAnswers()
            #expect(await left == 0)
            #expect(world.committed() == 1)
            #expect(rig.gateway.sent.count == 1)
            #expect(rig.gateway.isClosed)
            let next = try Rig(world)
            try await eventually("committed") { world.committed() == 2 }
            #expect(next.gateway.sent.map(\.token) == [.sample(200)])
            await next.drain()
        }

        @Test func `a drain that reaches its limit says what is left`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            try await world.register("ben", number: 2)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada", "ben"])
            try await eventually("sent") { rig.gateway.sent.count == 2 }
            #expect(await rig.drain(within: .milliseconds(30)) == 2)
            #expect(world.committed() == nil)
        }

        @Test func `a drain waits for what is being planned and for what is being written`() async throws {
            for operation in [FaultyStore.Operation.recall, .claim, .settle] {
                let world = try World()
                try await world.register("ada", number: 1)
                let rig = try Rig(world)
                rig.store.hold([operation])
                world.publish("o-1", for: ["ada"])
                try await eventually("called") { rig.store.calls(of: operation) > 0 }
                async let left = rig.drain()
                try await eventually("draining") { await !rig.pipeline.health().isReady }
                rig.store.hold([])
                #expect(await left == 0)
                #expect(world.committed() == 1)
                #expect(rig.gateway.sent.count == 1)
            }
        }

        @Test func `a drain while the store is away ends at its limit and counts what was not planned`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.store.setFailing([.recall, .claim, .settle, .takeDue])
            world.publish("o-1", for: ["ada"])
            try await eventually("called") { rig.store.calls(of: .recall) > 0 }
            #expect(await rig.drain(within: .milliseconds(30)) == 1)
            #expect(world.committed() == nil)
        }

        @Test(arguments: 0..<30)
        func `an idle pipeline always ends when it is asked to, however soon`(round: Int) async throws {
            let rig = try Rig(try World())
            if round > 0 { try await Task.sleep(for: .microseconds(round * 200)) }
            #expect(await rig.drain() == 0)
        }
    }
}

extension PipelineTests {
    @Suite struct RebalanceTests {
        @Test func `a partition is given back after what is in work has ended and is committed`() async throws {
            let world = try World(topics: ["events": 2])
            try await world.register("ada", number: 1)
            try await world.register("ben", number: 2)
            let first = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"], partition: 0)
            world.publish("o-2", for: ["ben"], partition: 1)
            try await eventually("sent") { first.gateway.sent.count == 2 }
            let second = try Rig(world)
            try await Task.sleep(for: .milliseconds(30))
            #expect(second.gateway.sent.isEmpty)
            #expect(world.committed("events", 1) == nil)
            first.gateway.releaseAnswers()
            try await eventually("committed") { world.committed() == 1 && world.committed("events", 1) == 1 }
            // Both partitions go on, each with its owner.
            world.publish("o-3", for: ["ada"], partition: 0)
            world.publish("o-4", for: ["ben"], partition: 1)
            try await eventually("committed") { world.committed() == 2 && world.committed("events", 1) == 2 }
            #expect(first.gateway.sent.count == 3)
            #expect(second.gateway.sent.count == 1)
            await first.drain()
            await second.drain()
        }

        @Test func `members that come and go under load lose nothing and repeat nothing`() async throws {
            let world = try World(topics: ["events": 4])
            for number in 0..<10 { try await world.register("u\(number)", number: number) }
            let first = try Rig(world, Rig.Options(batchSize: 3))
            var sent: [Push] = []
            var published: [Int64] = [0, 0, 0, 0]
            for round in 0..<5 {
                for number in 0..<40 {
                    world.publish("o-\(round)-\(number)", for: ["u\(number % 10)"], partition: Int32(number % 4))
                    published[number % 4] += 1
                }
                let guest = try Rig(world, Rig.Options(batchSize: 3))
                try await Task.sleep(for: .milliseconds(5))
                #expect(await guest.drain() == 0)
                sent += guest.gateway.sent
            }
            try await eventually("committed") {
                (0..<4).allSatisfy { world.committed("events", Int32($0)) == published[$0] }
            }
            sent += first.gateway.sent
            #expect(sent.count == 200)
            #expect(Set(sent.map(\.id)).count == 200)
            await first.drain()
        }

        @Test func `what ends after its partition was lost changes nothing for the new owner`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { rig.gateway.sent.count == 1 }
            world.broker.expelMembers(of: World.group)
            rig.gateway.releaseAnswers()
            try await eventually("committed by the new assignment") { world.committed() == 1 }
            #expect(rig.gateway.sent.count == 1)
            #expect(try await world.history("o-1").first?.deliveries.map(\.outcome) == ["accepted"])
            #expect(await rig.drain() == 0)
        }
    }
}
