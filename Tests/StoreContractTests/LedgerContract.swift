import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct LedgerContract {
    @Test(arguments: Engine.allCases)
    func `snapshots come in the order of the keys, repeated users and keys included`(engine: Engine) async throws {
        try await engine.withStore { store in
            let (first, second) = (UserID.sample("first"), UserID.sample("second"))
            _ = try await store.register(.sample(user: second), sharesToken: false, at: .at(0))
            let claimed = NotificationKey.sample(user: second)
            _ = try await store.claim(.sample(claimed), at: .at(1))
            let keys = [claimed, .sample(user: first), .sample(event: "evt-2", user: second), claimed]
            let snapshots = try await store.recall(keys)
            #expect(snapshots.map(\.devices.count) == [1, 0, 1, 1])
            #expect(snapshots.map(\.badges) == [[.sample: 1], [:], [.sample: 1], [.sample: 1]])
            #expect(snapshots.map(\.entry?.state) == [.claimed, nil, nil, .claimed])
            #expect(try await store.recall([]).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a key is event, source, user and day together`(engine: Engine) async throws {
        try await engine.withStore { store in
            let key = NotificationKey.sample()
            _ = try await store.claim(.sample(key), at: .at(0))
            let others: [NotificationKey] = [
                .sample(event: "evt-2"), .sample(source: "other"), .sample(user: .sample("other")),
                .sample(day: UTCDay(number: key.day.number + 1)),
            ]
            #expect(try await store.recall(others).map(\.entry) == [nil, nil, nil, nil])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a claim answers with every badge of the user after it`(engine: Engine) async throws {
        try await engine.withStore { store in
            let other = AppID("com.example.other")
            try await store.setBadge(7, of: .sample(), app: other, at: .at(0))
            let results = try await store.claim(
                [
                    .sample(.sample(event: "1")), .sample(.sample(event: "2")),
                    .sample(.sample(event: "3"), .send(badgeApps: [])),
                    .sample(.sample(event: "4"), .send(badgeApps: [.sample, other])),
                    .sample(.sample(event: "1", user: .sample("someone"))),
                ], at: .at(1))
            #expect(
                results == [
                    .claimed(badges: [.sample: 1, other: 7]), .claimed(badges: [.sample: 2, other: 7]),
                    .claimed(badges: [.sample: 2, other: 7]), .claimed(badges: [.sample: 3, other: 8]),
                    .claimed(badges: [.sample: 1]),
                ])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a redelivery after a crash claims again without raising the badge again`(engine: Engine) async throws {
        try await engine.withStore { store in
            let other = AppID("com.example.other")
            _ = try await store.claim(.sample(), at: .at(0))
            #expect(try await store.claim(.sample(), at: .at(1)) == .claimed(badges: [.sample: 1]))
            let wider = Claim.sample(.sample(), .send(badgeApps: [.sample, other]))
            #expect(try await store.claim(wider, at: .at(2)) == .claimed(badges: [.sample: 1, other: 1]))
            #expect(try await store.history(ofEvent: "evt-1", user: nil).map(\.createdAt) == [.at(0)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a closed notification answers so to every claim`(engine: Engine) async throws {
        try await engine.withStore { store in
            let closed: [(String, Claim.Action)] = [
                ("suppressed", .suppress(.muted)), ("rejected", .reject(reason: "missing value")),
                ("deferred", .postpone(until: .at(9), reason: "quiet_hours", lane: .bulk, event: [1])),
            ]
            for (event, action) in closed {
                #expect(try await store.claim(.sample(.sample(event: event), action), at: .at(0)) == .recorded)
            }
            _ = try await store.claim(.sample(.sample(event: "sent")), at: .at(0))
            _ = try await store.settle(Settlement(closures: [.sample(.sample(event: "sent"))]), at: .at(1))
            for state in [LedgerState.suppressed, .rejected, .deferred, .sent] {
                let key = NotificationKey.sample(event: state.rawValue)
                #expect(try await store.claim(.sample(key), at: .at(2)) == .alreadyClosed)
                for (_, action) in closed {
                    #expect(try await store.claim(.sample(key, action), at: .at(2)) == .alreadyClosed)
                }
                #expect(try await store.recall(key).entry?.state == state)
            }
            #expect(try await store.badge() == 1)
            #expect(try await store.deferredCount() == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a repeat raises the count on its row and nothing else`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(.sample(), .suppress(.typeOff)), at: .at(0))
            #expect(try await store.claim(.sample(.sample(), .repeated), at: .at(1)) == .recorded)
            #expect(try await store.claim(.sample(.sample(), .repeated), at: .at(2)) == .recorded)
            let record = try #require(try await store.history(ofEvent: "evt-1", user: nil).first)
            #expect(record.repeats == 2)
            #expect(record.state == .suppressed)
            #expect(record.reason == "type_off")
            #expect(try await store.claim(.sample(.sample(event: "unknown"), .repeated), at: .at(3)) == .recorded)
            #expect(try await store.history(ofEvent: "unknown", user: nil).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `the first outcome of a device stays`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(), at: .at(0))
            _ = try await store.settle(
                Settlement(deliveries: [.sample(outcome: .failed, status: 400, reason: "BadTopic", attempts: 2)]),
                at: .at(1))
            _ = try await store.settle(
                Settlement(deliveries: [.sample(outcome: .accepted), .sample(device: DeviceID(2))]), at: .at(2))
            let entry = try #require(try await store.recall(.sample()).entry)
            #expect(entry.state == .claimed)
            #expect(entry.closedDevices == [DeviceID(1), DeviceID(2)])
            #expect(entry.hasAcceptance)
            let record = try #require(try await store.history(ofEvent: "evt-1", user: .sample()).first)
            #expect(record.deliveries.map(\.outcome) == ["failed", "accepted"])
            #expect(record.deliveries.map(\.status) == [400, 200])
            #expect(record.deliveries.map(\.reason) == ["BadTopic", nil])
            #expect(record.deliveries.map(\.attempts) == [2, 1])
            #expect(record.deliveries.first?.pushID == PushID(high: 1, low: 1).description)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a skipped delivery says why`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim(.sample(), at: .at(0))
            _ = try await store.settle(
                Settlement(deliveries: [.sample(outcome: .skipped(.notAuthorized), status: nil)]), at: .at(1))
            let record = try #require(try await store.history(ofEvent: "evt-1", user: nil).first)
            #expect(record.deliveries.map(\.outcome) == ["skipped"])
            #expect(record.deliveries.map(\.reason) == ["not_authorized"])
            #expect(record.deliveries.map(\.status) == [nil])
            #expect(try await store.recall(.sample()).entry?.hasAcceptance == false)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a closure ends a claimed notification only, and the first one stays`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.settle(Settlement(closures: [.sample()]), at: .at(0))
            #expect(try await store.recall(.sample()).entry == nil)
            _ = try await store.claim(.sample(), at: .at(1))
            let first = Settlement.Closure.sample(state: .suppressed, reason: "cancelled", wasAccepted: false)
            _ = try await store.settle(Settlement(closures: [first, .sample(state: .sent)]), at: .at(2))
            let record = try #require(try await store.history(ofEvent: "evt-1", user: nil).first)
            #expect(record.state == .suppressed)
            #expect(record.reason == "cancelled")
        }
    }

    @Test(arguments: Engine.allCases)
    func `history finds an event by its id, for one user or all, over days and sources`(
        engine: Engine
    ) async throws {
        try await engine.withStore { store in
            let (first, second) = (UserID.sample("first"), UserID.sample("second"))
            let day = NotificationKey.sample().day.number
            let keys: [NotificationKey] = [
                .sample(user: first, day: UTCDay(number: day - 3)), .sample(source: "a", user: first),
                .sample(source: "b", user: first), .sample(source: "b", user: second),
            ]
            for key in keys.reversed() { _ = try await store.claim(.sample(key), at: .at(0)) }
            _ = try await store.claim(.sample(.sample(event: "evt-2")), at: .at(0))
            #expect(try await store.history(ofEvent: "evt-1", user: nil).map(\.key) == keys)
            #expect(try await store.history(ofEvent: "evt-1", user: second).map(\.key) == [keys[3]])
            #expect(try await store.history(ofEvent: "evt-1", user: nil).map(\.type).first == "order_confirmed")
            #expect(try await store.history(ofEvent: "unknown", user: nil).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `old days are dropped whole, and the rest stays`(engine: Engine) async throws {
        try await engine.withStore { store in
            let today = NotificationKey.sample().day.number
            for day in (today - 2)...today {
                // More than one piece of the dropping.
                let keys = (0..<1_500).map {
                    NotificationKey.sample(event: "evt-\($0)", day: UTCDay(number: day))
                }
                _ = try await store.claim(keys.map { .sample($0, .send(badgeApps: [])) }, at: .at(0))
                _ = try await store.settle(
                    Settlement(deliveries: keys.map { .sample($0) }, closures: keys.map { .sample($0) }), at: .at(1))
            }
            try await store.dropLedger(before: UTCDay(number: today))
            for event in ["evt-0", "evt-700", "evt-1499"] {
                let records = try await store.history(ofEvent: event, user: nil)
                #expect(records.map(\.key.day.number) == [today])
                #expect(records.first?.deliveries.count == 1)
            }
            let old = NotificationKey.sample(event: "evt-0", day: UTCDay(number: today - 1))
            #expect(try await store.claim(.sample(old), at: .at(2)) == .claimed(badges: [.sample: 1]))
            #expect(try await store.recall(old).entry?.closedDevices == [])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a store that is ready says so, and a closed one is unavailable`(engine: Engine) async throws {
        try await engine.withStore { store in
            try await store.ping()
            let version = try await store.schemaVersion()
            #expect(version.current == version.latest)
            #expect(try await store.migrate().isEmpty)
            await store.close()
            await store.close()
            let error = await #expect(throws: StoreError.self) { try await store.ping() }
            #expect(error?.kind == .unavailable)
            await #expect(throws: StoreError.self) { try await store.recall([.sample()]) }
        }
    }
}
