import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct HistoryContract {
    @Test(arguments: Engine.allCases)
    func `a history comes newest first, in pages that lose nothing though rows share a moment`(
        engine: Engine
    ) async throws {
        try await engine.withStore { store in
            for time in 0..<3 as Range<Int64> {
                let claims = (0..<4).map { Claim.sample(.sample(event: "\(time)-\($0)"), .suppress(.muted)) }
                _ = try await store.claim(claims, at: .at(time))
            }
            _ = try await store.claim(.sample(.sample(event: "x", user: .sample("ben"))), at: .at(9))
            var seen: [String] = []
            var cursor: HistoryCursor?
            repeat {
                let page = try await store.history(of: .sample(), after: cursor, limit: 3)
                seen += page.map(\.key.event.id)
                cursor = page.last.map { HistoryCursor(createdAt: $0.createdAt, event: $0.key.event) }
            } while cursor != nil
            #expect(seen.count == 12)
            #expect(Set(seen).count == 12)
            #expect(seen.map { $0.prefix(1) } == "222211110000".map { String($0)[...] })
        }
    }

    @Test(arguments: Engine.allCases)
    func `what changed an outcome is kept, and when a deferred one is due`(engine: Engine) async throws {
        try await engine.withStore { store in
            var claim = Claim.sample(
                .sample(), .postpone(until: .at(50), reason: "quiet_hours", lane: .bulk, event: [1]))
            claim.trace = "quiet_hours: quiet in UTC"
            _ = try await store.claim(claim, at: .at(0))
            var record = try #require(
                try await store.history(ofEvent: NotificationKey.sample().event.id, user: nil).first)
            #expect(record.trace == "quiet_hours: quiet in UTC")
            #expect(record.dueAt == .at(50))
            let due = try #require(try await store.takeDue(at: .at(50), limit: 1, lease: .seconds(1)).first)
            var again = Claim.sample(.sample(), deferral: due.id)
            again.trace = "level: lowered"
            _ = try await store.claim(again, at: .at(51))
            record = try #require(try await store.history(ofEvent: NotificationKey.sample().event.id, user: nil).first)
            #expect(record.trace == "level: lowered")
            #expect(record.dueAt == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `reading lowers the badge once, and not after the app was opened`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim([.sample(.sample(event: "1")), .sample(.sample(event: "2"))], at: .at(0))
            #expect(try await store.markRead("1", of: .sample(), at: .at(1)) == [.sample: 1])
            #expect(try await store.markRead("1", of: .sample(), at: .at(2)) == [:])
            #expect(try await store.badge() == 1)
            #expect(try await store.history(ofEvent: "1", user: nil).first?.readAt == .at(1))
            // Closing without an acceptance must not take back what reading took.
            _ = try await store.settle(
                Settlement(closures: [.sample(.sample(event: "1"), wasAccepted: false)]), at: .at(3))
            #expect(try await store.badge() == 1)
            try await store.opened(user: .sample(), app: .sample, at: .at(4))
            #expect(try await store.markRead("2", of: .sample(), at: .at(5)) == [:])
            #expect(try await store.badge() == 0)
            #expect(try await store.markRead("3", of: .sample(), at: .at(6)) == nil)
            #expect(try await store.markRead("1", of: .sample("ben"), at: .at(7)) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `what was read while it was on its way is not counted again by its redelivery`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(), at: .at(0))
            _ = try await store.markRead(NotificationKey.sample().event.id, of: .sample(), at: .at(1))
            #expect(try await store.claim(.sample(), at: .at(2)) == .claimed(badges: [.sample: 0]))
            _ = try await store.settle(Settlement(closures: [.sample(wasAccepted: false)]), at: .at(3))
            #expect(try await store.badge() == 0)
        }
    }

    @Test(arguments: Engine.allCases)
    func `what was read while it waited does not count when it is sent`(engine: Engine) async throws {
        try await engine.withStore { store in
            let wait = Claim.Action.postpone(until: .at(50), reason: "quiet_hours", lane: .bulk, event: [1])
            _ = try await store.claim(.sample(.sample(), wait), at: .at(0))
            #expect(
                try await store.markRead(NotificationKey.sample().event.id, of: .sample(), at: .at(1)) == [:])
            let due = try #require(try await store.takeDue(at: .at(50), limit: 1, lease: .seconds(1)).first)
            let claim = Claim.sample(.sample(), deferral: due.id)
            _ = try await store.claim(claim, at: .at(51))
            #expect(try await store.badge() == 0)
            _ = try await store.settle(Settlement(closures: [.sample(wasAccepted: false)]), at: .at(52))
            #expect(try await store.badge() == 0)
        }
    }

    @Test(arguments: Engine.allCases)
    func `devices are counted by app and authorization, those that are gone left out`(engine: Engine) async throws {
        try await engine.withStore { store in
            for index in 0..<3 {
                _ = try await store.register(
                    .sample(installation: "i\(index)", token: .sample(index)), sharesToken: false, at: .at(0))
            }
            _ = try await store.unregister(user: .sample(), installation: "i2", at: .at(1))
            #expect(
                try await store.deviceCounts() == [DeviceCount(app: .sample, authorization: .authorized, count: 2)])
        }
    }
}
