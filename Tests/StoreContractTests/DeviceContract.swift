import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct DeviceContract {
    @Test(arguments: Engine.allCases)
    func `a registration is found again with all it said`(engine: Engine) async throws {
        try await engine.withStore { store in
            let registration = DeviceRegistration.sample()
            #expect(try await store.register(registration, sharesToken: false, at: .at(5)))
            let devices = try await store.devices(of: registration.user)
            #expect(devices.map(\.registration) == [registration])
            #expect(devices.map(\.registeredAt) == [.at(5)])
            #expect(devices.map(\.quarantinedAt) == [nil])
        }
    }

    @Test(arguments: Engine.allCases)
    func `optional parts that are absent stay absent, and a refresh may take them away`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.register(.sample(), sharesToken: false, at: .at(0))
            let bare = DeviceRegistration(
                user: .sample(), app: .sample, environment: .production, installation: "installation-1",
                token: .sample(), authorization: .denied)
            _ = try await store.register(bare, sharesToken: false, at: .at(1))
            #expect(try await store.devices(of: .sample()).map(\.registration) == [bare])
        }
    }

    @Test(arguments: Engine.allCases)
    func `the same registration a hundred times is one row with the newest time`(engine: Engine) async throws {
        try await engine.withStore { store in
            var made = 0
            for time in 0..<100 where try await store.register(.sample(), sharesToken: false, at: .at(Int64(time))) {
                made += 1
            }
            #expect(made == 1)
            #expect(try await store.devices(of: .sample()).map(\.registeredAt) == [.at(99)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `fifty concurrent registrations of one token end in one row`(engine: Engine) async throws {
        try await engine.withStore { store in
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        try await store.register(
                            .sample(installation: "installation-\(number)"), sharesToken: false, at: .at(1))
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(made == 1)
            #expect(try await store.devices(of: .sample()).count == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a new token of an installation keeps the row`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.register(.sample(token: .sample(1)), sharesToken: false, at: .at(0))
            let before = try await store.devices(of: .sample())
            #expect(
                try await store.register(.sample(token: .sample(2)), sharesToken: false, at: .at(1)) == false)
            let after = try await store.devices(of: .sample())
            #expect(after.map(\.id) == before.map(\.id))
            #expect(after.map(\.registration.token) == [.sample(2)])
            let settlement = Settlement(prunes: [.sample(token: .sample(1))])
            #expect(try await store.settle(settlement, at: .at(2)) == [.kept], "nobody has the old token any more")
            #expect(try await store.devices(of: .sample()) == after)
        }
    }

    @Test(arguments: Engine.allCases)
    func `an installation takes over a token that another row of the same user has`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.register(
                .sample(installation: "old", token: .sample(1)), sharesToken: false, at: .at(0))
            _ = try await store.register(
                .sample(installation: "new", token: .sample(2)), sharesToken: false, at: .at(1))
            let new = try #require(try await store.devices(of: .sample()).first)
            #expect(
                try await store.register(
                    .sample(installation: "new", token: .sample(1)), sharesToken: false, at: .at(2)) == false)
            let devices = try await store.devices(of: .sample())
            #expect(devices.map(\.id) == [new.id])
            #expect(devices.map(\.registration.token) == [.sample(1)])
            #expect(
                try await store.settle(Settlement(prunes: [.sample(token: .sample(2))]), at: .at(3)) == [.kept])
            #expect(
                try await store.settle(Settlement(prunes: [.sample(token: .sample(1))]), at: .at(3))
                    == [.pruned(1)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a token under a new installation id is the same row`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.register(.sample(installation: "first"), sharesToken: false, at: .at(0))
            let before = try await store.devices(of: .sample())
            #expect(
                try await store.register(.sample(installation: "second"), sharesToken: false, at: .at(1)) == false)
            let after = try await store.devices(of: .sample())
            #expect(after.map(\.id) == before.map(\.id))
            #expect(after.map(\.registration.installation) == ["second"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a token moves to the user who registers it`(engine: Engine) async throws {
        try await engine.withStore { store in
            let (first, second) = (UserID.sample("first"), UserID.sample("second"))
            _ = try await store.register(.sample(user: first), sharesToken: false, at: .at(0))
            #expect(try await store.register(.sample(user: second), sharesToken: false, at: .at(1)))
            #expect(try await store.devices(of: first).isEmpty)
            #expect(try await store.devices(of: second).count == 1)
            #expect(try await store.register(.sample(user: first), sharesToken: false, at: .at(2)))
            #expect(try await store.devices(of: first).count == 1)
            #expect(try await store.devices(of: second).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a shared token stays with every user until each logs out`(engine: Engine) async throws {
        try await engine.withStore { store in
            let (first, second) = (UserID.sample("first"), UserID.sample("second"))
            _ = try await store.register(.sample(user: first), sharesToken: true, at: .at(0))
            _ = try await store.register(.sample(user: second), sharesToken: true, at: .at(1))
            #expect(try await store.devices(of: first).count == 1)
            #expect(try await store.unregister(user: first, installation: "installation-1", at: .at(2)) == 1)
            #expect(try await store.devices(of: first).isEmpty)
            #expect(try await store.devices(of: second).count == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `apps and environments never share a row`(engine: Engine) async throws {
        try await engine.withStore { store in
            let other = AppID("com.example.other")
            _ = try await store.register(.sample(), sharesToken: false, at: .at(0))
            #expect(try await store.register(.sample(environment: .sandbox), sharesToken: false, at: .at(1)))
            #expect(try await store.register(.sample(app: other), sharesToken: false, at: .at(2)))
            #expect(
                try await store.register(
                    .sample(user: .sample("second"), environment: .sandbox), sharesToken: false, at: .at(3)))
            #expect(
                try await store.devices(of: .sample()).map(\.registration.key)
                    == [AppKey(app: other, environment: .production), .sample])
        }
    }

    @Test(arguments: Engine.allCases)
    func `the kinds of token of one installation are rows of their own`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.register(.sample(token: .sample(1)), sharesToken: false, at: .at(0))
            #expect(
                try await store.register(.sample(kind: .voip, token: .sample(2)), sharesToken: false, at: .at(1)))
            #expect(try await store.devices(of: .sample()).map(\.registration.kind) == [.voip, .device])
            #expect(try await store.unregister(user: .sample(), installation: "installation-1", at: .at(2)) == 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `logout deletes what there is, once, and a registration brings the row back`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.register(.sample(token: .sample(1)), sharesToken: false, at: .at(0))
            _ = try await store.register(
                .sample(installation: "tablet", token: .sample(3)), sharesToken: false, at: .at(0))
            let before = try await store.devices(of: .sample())
            #expect(try await store.unregister(user: .sample(), installation: "installation-1", at: .at(1)) == 1)
            #expect(try await store.unregister(user: .sample(), installation: "installation-1", at: .at(1)) == 0)
            #expect(try await store.unregister(user: .sample("nobody"), installation: "tablet", at: .at(1)) == 0)
            #expect(try await store.devices(of: .sample()).map(\.registration.installation) == ["tablet"])
            #expect(try await store.register(.sample(token: .sample(2)), sharesToken: false, at: .at(2)))
            let after = try await store.devices(of: .sample())
            #expect(Set(after.map(\.id)) == Set(before.map(\.id)))
            #expect(after.first?.registration.token == .sample(2))
        }
    }

    @Test(arguments: Engine.allCases)
    func `devices come newest registration first`(engine: Engine) async throws {
        try await engine.withStore { store in
            for number in [3, 1, 2] {
                _ = try await store.register(
                    .sample(installation: "\(number)", token: .sample(number)), sharesToken: false,
                    at: .at(Int64(number)))
            }
            #expect(try await store.devices(of: .sample()).map(\.registration.installation) == ["3", "2", "1"])
            #expect(
                try await store.recall(.sample()).devices.map(\.registration.installation) == ["3", "2", "1"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `what was deleted long enough ago is dropped for good, and the rest stays`(engine: Engine) async throws {
        try await engine.withStore { store in
            // More than one piece of the dropping.
            let old = (0..<2_500).map { UserID.sample("old-\($0)") }
            for (number, user) in old.enumerated() {
                _ = try await store.register(
                    .sample(user: user, token: .sample(number)), sharesToken: false, at: .at(0))
                #expect(try await store.unregister(user: user, installation: "installation-1", at: .at(9)) == 1)
            }
            let pruned = DeviceRegistration.sample(user: .sample("pruned"), token: .sample(5_000))
            _ = try await store.register(pruned, sharesToken: false, at: .at(0))
            _ = try await store.settle(Settlement(prunes: [.sample(token: pruned.token)]), at: .at(9))
            let recent = DeviceRegistration.sample(user: .sample("recent"), token: .sample(5_001))
            _ = try await store.register(recent, sharesToken: false, at: .at(0))
            let kept = try await store.devices(of: recent.user).map(\.id)
            _ = try await store.unregister(user: recent.user, installation: "installation-1", at: .at(10))
            let live = DeviceRegistration.sample(user: .sample("live"), token: .sample(5_002))
            _ = try await store.register(live, sharesToken: false, at: .at(0))

            #expect(try await store.dropDevices(deletedBefore: .at(10)) == 2_501)
            #expect(try await store.dropDevices(deletedBefore: .at(10)) == 0)

            #expect(try await store.devices(of: live.user).map(\.registration) == [live])
            _ = try await store.register(recent, sharesToken: false, at: .at(11))
            #expect(try await store.devices(of: recent.user).map(\.id) == kept, "it was taken back")
            _ = try await store.register(pruned, sharesToken: false, at: .at(11))
            let again = try #require(try await store.devices(of: pruned.user).first)
            #expect(again.registration == pruned)
            #expect(again.id > kept[0], "an id is never used twice")
        }
    }

    @Test(arguments: Engine.allCases)
    func `a user id may hold any text`(engine: Engine) async throws {
        try await engine.withStore { store in
            let odd = [
                UserID.sample("a\u{0}b"), .sample("a"), .sample("' OR 1=1 --"), .sample("🦔"), .sample("A"),
            ]
            for (number, user) in odd.enumerated() {
                _ = try await store.register(
                    .sample(user: user, token: .sample(number)), sharesToken: false, at: .at(0))
            }
            for (number, user) in odd.enumerated() {
                #expect(try await store.devices(of: user).map(\.registration.token) == [.sample(number)])
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `preferences are the default until set, then what was set last`(engine: Engine) async throws {
        try await engine.withStore { store in
            #expect(try await store.preferences(of: .sample()) == .default)
            var wanted = Preferences(
                types: ["price_alert": false, "from_the_future": true], categories: ["MESSAGE": false],
                mutedThreads: ["convo:\"1\"": .at(0)], mutedUntil: .at(60_000),
                quietHours: QuietHours(
                    isEnabled: true, timeZone: "Asia/Kathmandu",
                    windows: [QuietHours.Window(days: [.mon, .sun], start: 1_320, end: 360)]),
                marketing: MarketingConsent(isGranted: true, at: .at(0), source: "signup"), playSoundChat: false)
            try await store.setPreferences(wanted, of: .sample(), at: .at(0))
            #expect(try await store.preferences(of: .sample()) == wanted)
            wanted.types = [:]
            try await store.setPreferences(wanted, of: .sample(), at: .at(1))
            #expect(try await store.preferences(of: .sample()) == wanted)
            #expect(try await store.recall(.sample()).preferences == wanted)
            #expect(try await store.preferences(of: .sample("other")) == .default)
        }
    }
}
