import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct BadgeTests {
        /// A thousand events in rounds of chance: some repeated, some refused at first, the app opened in between.
        @Test(arguments: 1...2 as ClosedRange<UInt64>)
        func `every push of a thousand carries the right badge`(seed: UInt64) async throws {
            var chance = SeededGenerator(seed: seed)
            let world = try World()
            let tokens: [DeviceToken] = [.sample(100), .sample(101)]
            try await world.register("ada", devices: 2, number: 1)
            let rig = try Rig(world, Rig.Options(maxAttempts: 20))
            let phone = BadgeAwareDeviceStore(store: world.store, badges: rig.badges)
            var unread = 0
            var published: [String] = []
            var records = 0
            var sent = 0
            while published.count < 1_000 {
                let before = unread
                let new = (0..<Int.random(in: 1...25, using: &chance)).map { "o-\(published.count + $0)" }
                let repeated = (0..<Int.random(in: 0...10, using: &chance)).compactMap { _ in
                    published.randomElement(using: &chance)
                }
                for token in tokens {
                    let answers = (0..<Int.random(in: 0...6, using: &chance)).map { _ in
                        [PushAnswer.status(503, "ServiceUnavailable"), .status(500, "InternalServerError")]
                            .randomElement(using: &chance) ?? .status(503)
                    }
                    rig.gateway.script(token, answers)
                }
                // Within the round a new one may come twice as well.
                let round = (new + repeated + new.prefix(2)).shuffled(using: &chance)
                for id in round { world.publish(id, for: ["ada"]) }
                records += round.count
                published += new
                unread += new.count
                try await eventually("committed") { world.committed() == Int64(records) }
                #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == unread)
                let pushes = rig.gateway.sent.dropFirst(sent)
                sent += pushes.count
                for token in tokens {
                    let badges = pushes.filter { $0.token == token }.compactMap(\.badge)
                    #expect(badges.count >= new.count)
                    #expect(badges.allSatisfy { $0 > before && $0 <= unread }, "of \(before) to \(unread)")
                    #expect(badges == badges.sorted(), "a late push carries no old number")
                    #expect(badges.last == unread)
                }
                if Int.random(in: 0..<4, using: &chance) == 0 {
                    try await phone.opened(user: .sample("ada"), app: .sample, at: world.clock.now())
                    unread = 0
                }
            }
            #expect(Set(rig.gateway.sent.map(\.id)).count == 2 * published.count, "one identity a device and event")
            #expect(world.deadLetters.isEmpty)
            await rig.drain()
        }

        @Test func `what no device accepted is taken back, and the next push does not count it`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            rig.gateway.script(.sample(100), [.status(400, "PayloadEmpty")])
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 1 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 0)
            world.publish("o-2", for: ["ada"])
            try await eventually("committed") { world.committed() == 2 }
            #expect(rig.sentBadges == [1, 1])
            await rig.drain()
        }

        @Test func `what no device accepted takes nothing from a count that was reset since`() async throws {
            let world = try World()
            try await world.register("ada", number: 1)
            try await world.register("ada", devices: 2, number: 1)
            let rig = try Rig(world, Rig.Options(isHolding: true))
            let phone = BadgeAwareDeviceStore(store: world.store, badges: rig.badges)
            for token in 100...101 { rig.gateway.script(.sample(token), [.status(400, "PayloadEmpty")]) }
            world.publish("o-1", for: ["ada"])
            try await eventually("on its way") { rig.gateway.waiting.count == 2 }
            world.clock.advance(by: .seconds(1))
            try await phone.opened(user: .sample("ada"), app: .sample, at: world.clock.now())
            world.clock.advance(by: .seconds(1))
            world.publish("o-2", for: ["ada"])
            try await eventually("decided") { rig.witness.decisions.count == 2 }
            rig.gateway.releaseAnswers()
            try await eventually("committed") { world.committed() == 2 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 1)
            #expect(rig.sentBadges.suffix(2) == [1, 1])
            await rig.drain()
        }

        @Test func `what is muted, deferred or joined to a digest does not count, and a digest counts one`()
            async throws
        {
            let world = try World()
            try await world.register("ada", number: 1)
            let rig = try Rig(world)
            let later = Timestamp.rfc3339(world.clock.now().advanced(by: .seconds(1_800)))
            world.publish("d-1", for: ["ada"], more: #","deliver_at":"\#(later)""#)
            for number in 0..<5 { world.publish("p-\(number)", for: ["ada"], type: "price") }
            try await eventually("committed") { world.committed() == 6 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 1)
            try await world.store.setPreferences(
                Preferences(mutedUntil: world.clock.now().advanced(by: .seconds(60))), of: .sample("ada"),
                at: world.clock.now())
            world.publish("o-1", for: ["ada"])
            try await eventually("committed") { world.committed() == 7 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 1)
            world.clock.advance(by: .seconds(3_601))
            try await eventually("both are sent") { rig.witness.ends.count == 3 }
            #expect(try await world.store.badge(of: .sample("ada"), app: .sample) == 3)
            await rig.drain()
        }
    }
}

extension Push {
    /// Of its payload.
    fileprivate var badge: Int? {
        let text = String(decoding: payload, as: UTF8.self)
        guard let start = text.firstRange(of: "\"badge\":")?.upperBound else { return nil }
        return Int(text[start...].prefix { $0.isNumber })
    }
}
