import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct PruneContract {
    private func register(_ store: any Store, _ users: [(String, Int64)]) async throws {
        for (user, time) in users {
            _ = try await store.register(.sample(user: .sample(user)), sharesToken: true, at: .at(time))
        }
    }

    @Test(arguments: Engine.allCases)
    func `a registration older than the answer is pruned, and only once`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await register(store, [("user-42", 1_000)])
            let settlement = Settlement(prunes: [.sample(goneAt: .at(1_001))])
            #expect(try await store.settle(settlement, at: .at(2_000)) == [.pruned(1)])
            #expect(try await store.settle(settlement, at: .at(2_000)) == [.kept])
            #expect(try await store.devices(of: .sample()).isEmpty)
            #expect(try await store.recall(.sample()).devices.isEmpty)
        }
    }

    @Test(arguments: Engine.allCases, [Int64(1_000), 999])
    func `a device that registered at or after the answer's time is kept`(
        engine: Engine, goneAt: Int64
    ) async throws {
        try await engine.withStore { store in
            try await register(store, [("user-42", 1_000)])
            let settlement = Settlement(prunes: [.sample(goneAt: .at(goneAt))])
            #expect(try await store.settle(settlement, at: .at(2_000)) == [.kept])
            #expect(try await store.devices(of: .sample()).count == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `an identical registration after the answer saves the device`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await register(store, [("user-42", 1_000), ("user-42", 3_000)])
            let settlement = Settlement(prunes: [.sample(goneAt: .at(2_000))])
            #expect(try await store.settle(settlement, at: .at(3_001)) == [.kept])
        }
    }

    @Test(arguments: Engine.allCases)
    func `all users of a token are pruned or none, by the newest of them`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await register(store, [("first", 1_000), ("second", 2_000)])
            let kept = Settlement(prunes: [.sample(goneAt: .at(1_500))])
            #expect(try await store.settle(kept, at: .at(3_000)) == [.kept])
            #expect(try await store.devices(of: .sample("first")).count == 1)
            let pruned = Settlement(prunes: [.sample(goneAt: .at(2_500))])
            #expect(try await store.settle(pruned, at: .at(3_000)) == [.pruned(2)])
            #expect(try await store.devices(of: .sample("first")).isEmpty)
            #expect(try await store.devices(of: .sample("second")).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `without a time whatever has the token is pruned`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await register(store, [("first", 1_000), ("second", 9_000)])
            #expect(
                try await store.settle(Settlement(prunes: [.sample(goneAt: nil)]), at: .at(3_000)) == [.pruned(2)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a prune leaves other tokens, apps and environments alone, and answers in order`(
        engine: Engine
    ) async throws {
        try await engine.withStore { store in
            _ = try await store.register(.sample(token: .sample(1)), sharesToken: false, at: .at(0))
            _ = try await store.register(
                .sample(environment: .sandbox, token: .sample(1)), sharesToken: false, at: .at(0))
            _ = try await store.register(
                .sample(installation: "tablet", token: .sample(2)), sharesToken: false, at: .at(0))
            let prunes = [3, 1, 1].map { Settlement.Prune.sample(token: .sample($0), goneAt: .at(10)) }
            #expect(
                try await store.settle(Settlement(prunes: prunes), at: .at(20)) == [.kept, .pruned(1), .kept])
            #expect(try await store.devices(of: .sample()).count == 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a pruned device that registers again is back under its id`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await register(store, [("user-42", 0)])
            let before = try await store.devices(of: .sample())
            _ = try await store.settle(Settlement(prunes: [.sample()]), at: .at(1))
            #expect(try await store.register(.sample(), sharesToken: false, at: .at(2)))
            #expect(try await store.devices(of: .sample()).map(\.id) == before.map(\.id))
            #expect(
                try await store.settle(Settlement(prunes: [.sample(goneAt: .at(1))]), at: .at(3)) == [.kept])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a quarantined device is listed but not sent to, until it registers`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await register(store, [("user-42", 0)])
            let quarantine = Settlement(quarantines: [.sample(goneAt: .at(1), reason: "BadDeviceToken")])
            #expect(try await store.settle(quarantine, at: .at(2)).isEmpty)
            _ = try await store.settle(quarantine, at: .at(3))
            #expect(try await store.devices(of: .sample()).map(\.quarantinedAt) == [.at(2)])
            #expect(try await store.recall(.sample()).devices.isEmpty)
            #expect(try await store.register(.sample(), sharesToken: false, at: .at(4)) == false)
            #expect(try await store.devices(of: .sample()).map(\.quarantinedAt) == [nil])
            #expect(try await store.recall(.sample()).devices.count == 1)
            _ = try await store.settle(quarantine, at: .at(5))
            #expect(try await store.recall(.sample()).devices.count == 1, "it registered after the answer")
        }
    }
}
