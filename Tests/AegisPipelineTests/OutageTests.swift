import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct OutageTests {
        private static let other = AppID("com.example.other")

        @Test(arguments: FaultyStore.Operation.allCases)
        func `a store that is away pauses everything, and nothing is lost or sent twice`(
            operation: FaultyStore.Operation
        ) async throws {
            let world = try World()
            try await world.register("ada", devices: 2, number: 1)
            let rig = try Rig(world)
            rig.store.setFailing([operation])
            for number in 1...5 { world.publish("o-\(number)", for: ["ada"]) }
            try await eventually("told") {
                let health = await rig.pipeline.health()
                return !health.isReady && health.degraded.contains("paused topics: events")
            }
            if operation != .takeDue { #expect(world.committed() == nil) }
            rig.store.setFailing([])
            try await eventually("committed") { world.committed() == 5 }
            #expect(rig.gateway.sent.count == 10)
            #expect(Set(rig.gateway.sent.map(\.id)).count == 10)
            try await eventually("well again") {
                let health = await rig.pipeline.health()
                return health.isReady && health.degraded.isEmpty
            }
            await rig.drain()
        }

        @Test func `while every circuit is open topics are paused, health says why, and it goes on after`() async throws
        {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), Array(repeating: .status(403, "InvalidProviderToken"), count: 3))
            world.publish("o-1", for: ["ada"])
            try await eventually("told") {
                let degraded = await rig.pipeline.health().degraded
                return degraded.contains("circuit of \(AppKey.sample) is open: InvalidProviderToken")
                    && degraded.contains("paused topics: events")
            }
            #expect(await rig.pipeline.health().isReady)
            world.publish("o-2", for: ["ada"])
            try await eventually("committed") { world.committed() == 2 }
            #expect(world.deadLetters.isEmpty)
            try await eventually("well again") { await rig.pipeline.health().degraded.isEmpty }
            await rig.drain()
        }

        @Test(arguments: [PushAnswer.unknown(.deadline), .unknown(.streamReset), .unknown(.connectionLost)])
        func `an APNs that does not answer is an outage and costs no push`(silence: PushAnswer) async throws {
            let world = try World()
            for number in 0..<10 { try await world.register("u\(number)", number: number) }
            let rig = try Rig(world, Rig.Options(maxAttempts: 3, failureLimit: 5))
            for number in 0..<10 {
                rig.gateway.script(.sample(number * 100), Array(repeating: silence, count: 8))
            }
            for number in 0..<10 { world.publish("o-\(number)", for: ["u\(number)"]) }
            try await eventually("told") {
                await rig.pipeline.health().degraded.contains { $0.hasPrefix("circuit of \(AppKey.sample) is open") }
            }
            try await eventually("committed") { world.committed() == 10 }
            #expect(world.deadLetters.isEmpty)
            #expect(rig.witness.ends == Array(repeating: .accepted, count: 10))
            await rig.drain()
        }

        @Test func `a push whose stream is reset while others are accepted uses up its attempts`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            try await world.register("ben", number: 2)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), Array(repeating: .unknown(.streamReset), count: 1_000))
            world.publish("o-0", for: ["ada"])
            var published = 0
            try await eventually("dead-lettered") {
                published += 1
                world.publish("b-\(published)", for: ["ben"])
                return world.deadLetters.count == 1
            }
            #expect(world.deadLetters.first?.header("aegis-dlq-kind") == "delivery")
            await rig.drain()
        }

        @Test func `an open circuit that holds no push does not pause for ever`() async throws {
            let world = try World()
            for number in 0..<6 { try await world.register("u\(number)", number: number) }
            let rig = try Rig(world)
            // Five such answers open the circuit and end their deliveries: nothing is left for a probe.
            for number in 0..<5 { rig.gateway.script(.sample(number * 100), [.status(400, "TopicDisallowed")]) }
            world.publish("o-1", for: (0..<5).map { "u\($0)" })
            try await eventually("committed") { world.committed() == 1 }
            #expect(world.deadLetters.count == 5)
            world.publish("o-2", for: ["u5"])
            try await eventually("committed") { world.committed() == 2 }
            await rig.drain()
        }

        @Test func `changed credentials let held pushes go at once`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.gateway.tell(.refused(.sample, APNsReason("BadCertificate")))
            try await eventually("open") { await !rig.pipeline.health().degraded.isEmpty }
            await rig.pipeline.credentialsChanged()
            #expect(rig.gateway.reloaded.count == 1)
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            await rig.drain()
        }

        @Test func `one app's open circuit does not stop the other app`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            try await world.register("ben", number: 2, app: Self.other)
            let rig = try Rig(world, Rig.Options(apps: [.sample, Self.other]))
            rig.gateway.script(.sample(100), Array(repeating: .status(403, "InvalidProviderToken"), count: 100_000))
            world.publish("o-1", for: ["ada"])
            try await eventually("open") {
                await rig.pipeline.health().degraded.contains { $0.hasPrefix("circuit of com.example.app ") }
            }
            for number in 2...20 { world.publish("o-\(number)", for: ["ben"]) }
            try await eventually("ben has all of his") { rig.witness.ends.count == 19 }
            #expect(await !rig.pipeline.health().degraded.contains { $0.hasPrefix("paused") })
            #expect(world.committed() == nil)
            await rig.drain(within: .zero)
        }

        @Test func `503 to everything uses up nothing, and everything is delivered in the end`() async throws {
            let world = try World()
            let users = (0..<30).map { "u\($0)" }
            for (number, user) in users.enumerated() {
                try await world.register(user, number: number)
            }
            let rig = try Rig(world, Rig.Options(maxAttempts: 2, failureLimit: 10))
            for number in users.indices {
                rig.gateway.script(
                    .sample(number * 100), Array(repeating: .status(503, "ServiceUnavailable"), count: 4))
            }
            world.publish("o-1", for: users)
            try await eventually("open") {
                await rig.pipeline.health().degraded.contains { $0.hasPrefix("circuit of") }
            }
            // The rate recovers with time, and so does the circuit.
            try await eventually("committed", within: .seconds(60)) {
                world.clock.advance(by: .milliseconds(200))
                return world.committed() == 1
            }
            #expect(world.deadLetters.isEmpty)
            #expect(rig.witness.ends.count == 30)
            #expect(rig.witness.ends.allSatisfy { $0 == .accepted })
            await rig.drain()
        }

        @Test func `while Kafka cannot be reached the service stays ready and commits afterwards`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { rig.gateway.sent.count == 1 }
            world.broker.setReachable(false)
            rig.gateway.releaseAnswers()
            try await eventually("told") {
                await rig.pipeline.health().degraded.contains { $0.hasPrefix("Kafka cannot be reached") }
            }
            #expect(await rig.pipeline.health().isReady)
            #expect(world.committed() == nil)
            world.broker.setReachable(true)
            try await eventually("committed") { world.committed() == 1 }
            await rig.drain()
        }

        @Test func `a host that cannot be reached is told until there is a window again`() async throws {
            let world = try World()
            let rig = try Rig(world)
            rig.gateway.tell(.unreachable(.sample, GatewayError(kind: .connect, detail: "refused")))
            try await eventually("told") {
                await rig.pipeline.health().degraded.contains { $0.hasSuffix("\(AppKey.sample): refused") }
            }
            rig.gateway.setWindow(of: .sample, to: 10)
            try await eventually("well again") { await rig.pipeline.health().degraded.isEmpty }
            await rig.drain()
        }
    }
}
