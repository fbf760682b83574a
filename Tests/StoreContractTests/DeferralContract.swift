import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct DeferralContract {
    private func postpone(
        _ store: any Store, _ key: NotificationKey = .sample(), until: Int64, at now: Int64 = 0,
        deferral: DeferralID? = nil
    ) async throws {
        let action = Claim.Action.postpone(
            until: .at(until), reason: "quiet_hours", lane: .bulk, event: [0, 1, 255])
        #expect(try await store.claim(.sample(key, action, deferral: deferral), at: .at(now)) == .recorded)
    }

    private func take(_ store: any Store, at now: Int64, limit: Int = 10) async throws -> [DeferredNotification] {
        try await store.takeDue(at: .at(now), limit: limit, lease: .milliseconds(100))
    }

    @Test(arguments: Engine.allCases)
    func `what was postponed comes back at its time, whole`(engine: Engine) async throws {
        try await engine.withStore { store in
            #expect(try await store.nextDue() == nil)
            try await postpone(store, until: 1_000)
            #expect(try await store.nextDue() == .at(1_000))
            #expect(try await store.deferredCount() == 1)
            #expect(try await take(store, at: 999).isEmpty)
            let due = try #require(try await take(store, at: 1_000).first)
            #expect(
                due
                    == DeferredNotification(
                        id: due.id, key: .sample(), type: "order_confirmed", lane: .bulk, dueAt: .at(1_000),
                        event: [0, 1, 255]))
            let record = try #require(try await store.history(ofEvent: "evt-1", user: nil).first)
            #expect(record.state == .deferred)
            #expect(record.reason == "quiet_hours")
        }
    }

    @Test(arguments: Engine.allCases)
    func `the earliest come first, up to the limit`(engine: Engine) async throws {
        try await engine.withStore { store in
            for time in [300, 100, 200] as [Int64] {
                try await postpone(store, .sample(event: "\(time)"), until: time)
            }
            #expect(try await take(store, at: 1_000, limit: 2).map(\.key.event.id) == ["100", "200"])
            #expect(try await take(store, at: 1_000, limit: 2).map(\.key.event.id) == ["300"])
            #expect(try await take(store, at: 1_000, limit: 0).isEmpty)
            #expect(try await store.deferredCount() == 3)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a taken one is leased, and due again if it is not settled`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await postpone(store, until: 0)
            let taken = try await take(store, at: 50)
            #expect(taken.count == 1)
            #expect(try await store.nextDue() == .at(150))
            #expect(try await take(store, at: 149).isEmpty)
            #expect(try await take(store, at: 150) == taken)
            _ = try await store.settle(Settlement(finishedDeferrals: taken.map(\.id)), at: .at(160))
            _ = try await store.settle(Settlement(finishedDeferrals: taken.map(\.id)), at: .at(161))
            #expect(try await store.deferredCount() == 0)
            #expect(try await store.nextDue() == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a due one is claimed with a fresh badge, once, and then closed`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await postpone(store, until: 0)
            try await store.setBadge(3, of: .sample(), app: .sample, at: .at(10))
            let due = try #require(try await take(store, at: 50).first)
            let claim = Claim.sample(.sample(), deferral: due.id)
            #expect(try await store.claim(claim, at: .at(51)) == .claimed(badges: [.sample: 4]))
            #expect(try await store.recall(.sample()).entry?.state == .claimed)
            #expect(try await store.claim(claim, at: .at(151)) == .claimed(badges: [.sample: 4]))
            // The reset lies before this claim, so it does not hold the badge.
            _ = try await store.settle(Settlement(closures: [.sample(wasAccepted: false)]), at: .at(160))
            #expect(try await store.badge() == 3)
            #expect(try await store.claim(claim, at: .at(161)) == .alreadyClosed)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a due one may be suppressed`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await postpone(store, until: 0)
            let due = try #require(try await take(store, at: 1).first)
            let claim = Claim.sample(.sample(), .suppress(.expired), deferral: due.id)
            #expect(try await store.claim(claim, at: .at(2)) == .recorded)
            #expect(try await store.recall(.sample()).entry?.state == .suppressed)
            #expect(try await store.claim(claim, at: .at(3)) == .alreadyClosed)
        }
    }

    @Test(arguments: Engine.allCases)
    func `postponing a due one replaces its row, and whoever holds the old one has lost it`(
        engine: Engine
    ) async throws {
        try await engine.withStore { store in
            try await postpone(store, until: 0)
            let due = try #require(try await take(store, at: 1).first)
            try await postpone(store, until: 5_000, at: 2, deferral: due.id)
            #expect(try await store.deferredCount() == 1)
            #expect(try await store.nextDue() == .at(5_000))
            #expect(try await store.claim(.sample(.sample(), deferral: due.id), at: .at(3)) == .alreadyClosed)
            _ = try await store.settle(Settlement(finishedDeferrals: [due.id]), at: .at(4))
            #expect(try await store.deferredCount() == 1)
            #expect(try await store.badge() == 0)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a claimed one that has to wait is deferred with its closed devices`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(), at: .at(0))
            _ = try await store.settle(Settlement(deliveries: [.sample()]), at: .at(1))
            try await postpone(store, until: 10, at: 2)
            let entry = try #require(try await store.recall(.sample()).entry)
            #expect(entry == LedgerEntry(state: .deferred, closedDevices: [DeviceID(1)], hasAcceptance: true))
            #expect(try await store.badge() == 1, "a device shows it already")
            let due = try #require(try await take(store, at: 10).first)
            let claim = Claim.sample(.sample(), deferral: due.id)
            #expect(try await store.claim(claim, at: .at(11)) == .claimed(badges: [.sample: 1]))
        }
    }

    @Test(arguments: Engine.allCases)
    func `dropping old days leaves what waits`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await postpone(store, until: 0)
            try await store.dropLedger(before: UTCDay(number: NotificationKey.sample().day.number + 1))
            let due = try #require(try await take(store, at: 1).first)
            #expect(
                try await store.claim(.sample(.sample(), deferral: due.id), at: .at(2))
                    == .claimed(badges: [.sample: 1]))
        }
    }
}
