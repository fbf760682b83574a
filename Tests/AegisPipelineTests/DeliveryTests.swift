import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct DeliveryTests {
        @Test func `one event reaches every device, is settled and then committed`() async throws {
            let world = try World()
            try await world.register("ada", devices: 3, number: 1)
            let rig = try Rig(world)
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            #expect(Set(rig.gateway.sent.map(\.token)) == Set([.sample(100), .sample(101), .sample(102)]))
            let record = try #require(try await world.history("o-1").first)
            #expect(record.state == .sent)
            #expect(record.deliveries.map(\.outcome) == ["accepted", "accepted", "accepted"])
            #expect(rig.witness.ends.count == 3)
            #expect(rig.meter.count(.notifications, "order", "sent", "") == 1)
            #expect(await rig.drain() == 0)
        }

        @Test func `an offset is committed only after the last device has its outcome`() async throws {
            let world = try World()
            try await world.register("ada", devices: 3, number: 1)
            let rig = try Rig(world, Rig.Options(lanes: Rig.marked, isHolding: true))
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { rig.gateway.sent.count == 3 }
            for expected in 1...2 {
                rig.gateway.answerNext()
                try await eventually("settled") { rig.witness.ends.count == expected }
                try await rig.passCommit()
                #expect(world.committed() == nil)
            }
            rig.gateway.answerNext()
            try await eventually("committed") { world.committed() == 1 }
            await rig.drain()
        }

        @Test func `no offset passes the first that is unfinished`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            try await world.register("ben", number: 2)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"])
            world.publish("o-2", for: ["ben"])
            world.publish("o-3", for: ["ben"])
            try await eventually("sent") { rig.gateway.sent.count == 2 }
            rig.gateway.script(.sample(100), [.status(500), .status(500)])
            rig.gateway.releaseAnswers()
            // Ben's two are done long before ada's retries; whatever is committed meanwhile is below hers.
            try await eventually("ended") { rig.witness.ends.count == 3 }
            try await eventually("committed") { world.committed() == 3 }
            await rig.drain()

            let second = try Rig(world, Rig.Options(lanes: Rig.marked, isHolding: true))
            world.publish("o-4", for: ["ada"])
            world.publish("o-5", for: ["ben"])
            try await eventually("sent") { second.gateway.sent.count == 2 }
            let isFirstAdas = second.gateway.waiting.first?.token == .sample(100)
            #expect(isFirstAdas)
            second.gateway.script(.sample(100), [.status(429, "TooManyRequests", retryAfter: .seconds(3_600))])
            second.gateway.releaseAnswers()
            try await eventually("ben has his") { second.witness.ends.count == 1 }
            try await second.passCommit()
            #expect(world.committed() == 3)
            await second.drain(within: .zero)
        }

        @Test func `one user's events leave in their order, device by device`() async throws {
            let world = try World()
            try await world.register("ada", devices: 2, number: 1)
            let rig = try Rig(world, Rig.Options(batchSize: 7))
            for number in 1...50 { world.publish("o-\(number)", for: ["ada"]) }
            try await eventually("committed") { world.committed() == 50 }
            for device in [100, 101] {
                let numbers = rig.gateway.sent.filter { $0.token == .sample(device) }.compactMap { push in
                    (1...50).first { String(decoding: push.payload, as: UTF8.self).contains("\"body\":\"o-\($0)\"") }
                }
                #expect(numbers == Array(1...50))
            }
            await rig.drain()
        }

        @Test func `a bad device among many good ones costs nobody else anything`() async throws {
            let world = try World()
            let users = (0..<200).map { "u\($0)" }
            for (number, user) in users.enumerated() { try await world.register(user, number: number) }
            let rig = try Rig(world)
            rig.gateway.script(.sample(7_700), [.status(400, "PayloadEmpty")])
            world.publish("o-1", for: users)
            try await eventually("committed") { world.committed() == 1 }
            #expect(rig.gateway.sent.count == 200)
            #expect(Set(rig.gateway.sent.map(\.id)).count == 200)
            #expect(rig.witness.ends.count { $0 == .accepted } == 199)
            #expect(world.deadLetters.count == 1)
            await rig.drain()
        }

        // MARK: Badges

        @Test func `a push carries the newest count and not the one it was planned with`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"])
            world.publish("o-2", for: ["ada"])
            try await eventually("claimed both") {
                rig.witness.decisions.count == 2 && rig.gateway.sent.count == 1
            }
            // The second waits for the first; meanwhile the app was opened.
            try await BadgeAwareDeviceStore(store: rig.store, badges: rig.badges)
                .opened(user: .sample("ada"), app: .sample, at: world.clock.now())
            rig.gateway.releaseAnswers()
            try await eventually("committed") { world.committed() == 2 }
            #expect(rig.sentBadges.last == 0)
            world.publish("o-3", for: ["ada"])
            try await eventually("committed") { world.committed() == 3 }
            #expect(rig.sentBadges.last == 1)
            await rig.drain()
        }

        @Test func `a badge is taken back when no device accepted`() async throws {
            let world = try World()
            try await world.register("ada", devices: 2, number: 1)
            let rig = try Rig(world)
            for token in [100, 101] { rig.gateway.script(.sample(token), [.status(400, "PayloadEmpty")]) }
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 0)
            world.publish("o-2", for: ["ada"])
            try await eventually("committed") { world.committed() == 2 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 1)
            #expect(rig.sentBadges.suffix(2) == [1, 1])
            await rig.drain()
        }
    }
}

extension PipelineTests {
    @Suite struct AnswerTests {
        @Test func `server errors that never end make a dead letter with its targets and attempts`() async throws {
            let world = try World()
            try await world.register("ada", devices: 2, number: 1)
            try await world.register("ben", number: 2)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), Array(repeating: .status(500, "InternalServerError"), count: 3))
            world.publish("o-1", for: ["ada", "ben"])
            try await eventually("committed") { world.committed() == 1 }
            let letter = try #require(world.deadLetters.first)
            #expect(world.deadLetters.count == 1)
            #expect(letter.header("aegis-dlq-kind") == "delivery")
            #expect(letter.header("aegis-dlq-attempts") == "3")
            #expect(letter.header("aegis-dlq-targets") == PlainDigests().hash(of: DeviceToken.sample(100)).text)
            #expect(letter.header("aegis-dlq-apns-reason") == "InternalServerError")
            let outcomes = try await world.history("o-1").flatMap(\.deliveries).map(\.outcome).sorted()
            #expect(outcomes == ["accepted", "accepted", "failed"])
            await rig.drain()
        }

        @Test func `a device that is gone is pruned`() async throws {
            let world = try World()
            try await world.register("ada", devices: 2, number: 1)
            let rig = try Rig(world)
            rig.gateway.script(
                .sample(100), [.status(410, "Unregistered", timestamp: world.clock.now().advanced(by: .seconds(5)))])
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            #expect(try await world.store.devices(of: .sample("ada")).map(\.registration.token) == [.sample(101)])
            #expect(world.deadLetters.isEmpty)
            await rig.drain()
        }

        @Test func `two pushes to a device that is gone end as pruned, neither as a dead letter`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            let gone = PushAnswer.status(410, "Unregistered", timestamp: world.clock.now().advanced(by: .seconds(5)))
            rig.gateway.script(.sample(100), [gone, gone, gone, gone])
            world.publish("o-1", for: ["ada"])
            world.publish("o-2", for: ["ada"])
            try await eventually("committed") { world.committed() == 2 }
            #expect(world.deadLetters.isEmpty)
            #expect(rig.witness.ends.allSatisfy { $0 == .pruned })
            #expect(rig.gateway.sent.count <= 2)
            await rig.drain()
        }

        @Test func `a 410 older than the registration is tried once more after the delay and then fails`() async throws
        {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(lanes: Rig.marked, secondChanceDelay: .seconds(300)))
            let old = PushAnswer.status(410, "Unregistered", timestamp: UnixTime(milliseconds: 1_000))
            rig.gateway.script(.sample(100), [old, old])
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { rig.gateway.sent.count == 1 }
            try await eventually("the 410 was worked on") { rig.store.calls(of: .settle) > 0 }
            try await rig.passCommit()
            #expect(rig.gateway.sent.count == 1)
            #expect(world.committed() == nil)
            try await eventually("committed") {
                world.clock.advance(by: .seconds(100))
                return world.committed() == 1
            }
            #expect(rig.gateway.sent.count == 2)
            #expect(Set(rig.gateway.sent.map(\.id)).count == 1)
            #expect(try await world.store.devices(of: .sample("ada")).count == 1)
            #expect(world.deadLetters.first?.header("aegis-dlq-attempts") == "2")
            await rig.drain()
        }

        @Test func `a second chance that is accepted is accepted`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.gateway.script(
                .sample(100), [.status(410, "Unregistered", timestamp: UnixTime(milliseconds: 1_000))])
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            #expect(rig.witness.ends == [.accepted])
            await rig.drain()
        }

        @Test func `a bad token is set aside and not sent to again`() async throws {
            let world = try World()
            try await world.register("ada", devices: 2, number: 1)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), [.status(400, "BadDeviceToken")])
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            world.publish("o-2", for: ["ada"])
            try await eventually("committed") { world.committed() == 2 }
            #expect(rig.gateway.sent.count { $0.token == .sample(100) } == 1)
            let device = try await world.store.devices(of: .sample("ada")).first {
                $0.registration.token == .sample(100)
            }
            #expect(device?.quarantinedAt != nil)
            await rig.drain()
        }

        @Test func `no device is set aside while nothing of its app is accepted`() async throws {
            let world = try World()
            try await world.register("ada", devices: 3, number: 1)
            try await world.register("ben", number: 2)
            let rig = try Rig(world)
            for token in 100..<103 { rig.gateway.script(.sample(token), [.status(400, "BadDeviceToken")]) }
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            #expect(try await world.store.devices(of: .sample("ada")).allSatisfy { $0.quarantinedAt == nil })
            // One that is accepted shows that app, topic and environment are right.
            world.publish("o-2", for: ["ben"])
            try await eventually("set aside") {
                try await world.store.devices(of: .sample("ada")).allSatisfy { $0.quarantinedAt != nil }
            }
            #expect(rig.meter.count(.tokensPruned, "BadDeviceToken") == 3)
            await rig.drain()
        }

        @Test func `a 410 that names no time spares a device that registered after the push had left`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            rig.gateway.script(.sample(100), [.status(410, "Unregistered")])
            world.publish("o-1", for: ["ada"])
            try await eventually("sent") { rig.gateway.sent.count == 1 }
            world.clock.advance(by: .seconds(1))
            try await world.register("ada", number: 1)
            rig.gateway.releaseAnswers()
            try await eventually("committed") { world.committed() == 1 }
            #expect(try await world.store.devices(of: .sample("ada")).count == 1)
            #expect(rig.witness.ends == [.accepted])
            await rig.drain()
        }

        @Test func `a 410 that names no time removes what was registered before the push left`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), [.status(410)])
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            #expect(try await world.store.devices(of: .sample("ada")).isEmpty)
            await rig.drain()
        }

        @Test func `users whose ids differ in the form of a letter alone are two`() async throws {
            let world = try World()
            let composed = "jos\u{E9}"
            let decomposed = "jose\u{301}"
            try await world.register(composed, number: 1)
            try await world.register(decomposed, number: 2)
            let rig = try Rig(world)
            world.publish("o-1", for: [composed])
            world.publish("o-1", for: [decomposed])
            world.publish("o-\u{E9}", for: [composed])
            world.publish("o-e\u{301}", for: [composed])
            try await eventually("committed") { world.committed() == 4 }
            #expect(rig.gateway.sent.map(\.token).count { $0 == .sample(100) } == 3)
            #expect(rig.gateway.sent.map(\.token).count { $0 == .sample(200) } == 1)
            #expect(rig.witness.decisions.allSatisfy { $0 != .duplicate })
            await rig.drain()
        }

        @Test func `a throttled device delays itself alone`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            try await world.register("ben", number: 2)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), [.status(429, "TooManyRequests", retryAfter: .seconds(600))])
            world.publish("o-1", for: ["ada"])
            for number in 2...20 { world.publish("o-\(number)", for: ["ben"]) }
            try await eventually("ben has all of his") { rig.witness.ends.count == 19 }
            #expect(rig.gateway.sent.count { $0.token == .sample(100) } == 1)
            // The answer may be booked after the first advance, and waits for the next one then; far below the time to live.
            var advances = 0
            try await eventually("committed") {
                if advances < 50 { world.clock.advance(by: .seconds(601)) }
                advances += 1
                return world.committed() == 20
            }
            await rig.drain()
        }

        @Test func `what expires while it waits ends as expired and is committed`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            world.publish("o-1", for: ["ada"])
            world.publish("f-1", for: ["ada"], type: "flash")
            world.publish("o-2", for: ["ada"])
            try await eventually("decided") { rig.witness.decisions.count == 3 }
            world.clock.advance(by: .seconds(61))
            rig.gateway.releaseAnswers()
            try await eventually("committed") { world.committed() == 3 }
            #expect(try await world.history("f-1").first?.deliveries.map(\.outcome) == ["expired"])
            #expect(try await world.history("o-2").first?.deliveries.map(\.outcome) == ["accepted"])
            await rig.drain()
        }
    }
}
