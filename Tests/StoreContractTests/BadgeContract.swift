import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct BadgeContract {
    private let refused = Settlement(closures: [.sample(wasAccepted: false)])

    @Test(arguments: Engine.allCases)
    func `a badge is 0 until something counts, and what it is set to`(engine: Engine) async throws {
        try await engine.withStore { store in
            #expect(try await store.badge() == 0)
            #expect(try await store.recall(.sample()).badges == [:])
            try await store.setBadge(5, of: .sample(), app: .sample, at: .at(0))
            #expect(try await store.badge() == 5)
            #expect(try await store.badge(of: .sample("other")) == 0)
            #expect(try await store.badge(AppID("com.example.other")) == 0)
            try await store.setBadge(-3, of: .sample(), app: .sample, at: .at(1))
            #expect(try await store.badge() == 0)
            #expect(try await store.recall(.sample()).badges == [.sample: 0])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a count of the highest number does not overflow`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await store.setBadge(.max, of: .sample(), app: .sample, at: .at(0))
            let highest = try await store.badge()
            #expect(try await store.claim(.sample(), at: .at(1)) == .claimed(badges: [.sample: highest]))
            #expect(try await store.badge() == highest)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a badge is taken back, once, when no device accepted`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(.sample(event: "other")), at: .at(0))
            _ = try await store.claim(.sample(), at: .at(1))
            #expect(try await store.badge() == 2)
            _ = try await store.settle(refused, at: .at(2))
            _ = try await store.settle(refused, at: .at(3))
            #expect(try await store.badge() == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a badge stays when a device accepted, in this settlement or before`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(), at: .at(0))
            _ = try await store.settle(Settlement(deliveries: [.sample()]), at: .at(1))
            _ = try await store.settle(refused, at: .at(2))
            #expect(try await store.badge() == 1)
            let second = NotificationKey.sample(event: "2")
            _ = try await store.claim(.sample(second), at: .at(3))
            _ = try await store.settle(Settlement(closures: [.sample(second)]), at: .at(4))
            #expect(try await store.badge() == 2)
        }
    }

    @Test(arguments: Engine.allCases, [true, false])
    func `what was claimed before a reset is not taken back`(engine: Engine, isOpening: Bool) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(), at: .at(0))
            if isOpening {
                try await store.opened(user: .sample(), app: .sample, at: .at(1))
            } else {
                try await store.setBadge(0, of: .sample(), app: .sample, at: .at(1))
            }
            #expect(try await store.badge() == 0)
            let later = NotificationKey.sample(event: "later")
            #expect(try await store.claim(.sample(later), at: .at(2)) == .claimed(badges: [.sample: 1]))
            _ = try await store.settle(refused, at: .at(3))
            #expect(try await store.badge() == 1)
            _ = try await store.settle(Settlement(closures: [.sample(later, wasAccepted: false)]), at: .at(4))
            #expect(try await store.badge() == 0)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a reset of one app leaves the other's count and what it takes back`(engine: Engine) async throws {
        try await engine.withStore { store in
            let other = AppID("com.example.other")
            _ = try await store.claim(.sample(.sample(), .send(badgeApps: [.sample, other])), at: .at(0))
            try await store.opened(user: .sample(), app: .sample, at: .at(1))
            #expect(try await store.badge(other) == 1)
            _ = try await store.settle(refused, at: .at(2))
            #expect(try await store.badge(other) == 0)
            #expect(try await store.badge() == 0)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a claimed notification that ends unsent gives its badge back`(engine: Engine) async throws {
        try await engine.withStore { store in
            let ends: [Claim.Action] = [
                .suppress(.cancelled), .reject(reason: "missing value"),
                .postpone(until: .at(9), reason: "circuit", lane: .standard, event: []),
            ]
            for (number, end) in ends.enumerated() {
                let key = NotificationKey.sample(event: "\(number)")
                _ = try await store.claim(.sample(key), at: .at(0))
                #expect(try await store.badge() == 1)
                #expect(try await store.claim(.sample(key, end), at: .at(1)) == .recorded)
                #expect(try await store.badge() == 0)
            }
        }
    }
}
