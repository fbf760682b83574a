import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct FrequencyContract {
    private let limit = FrequencyLimit(max: 2, per: .milliseconds(100))

    private func send(_ event: String, key: String = "price") -> Claim {
        .sample(.sample(event: event), .send(badgeApps: [.sample], counts: CountedSend(key: key, limit: limit)))
    }

    private func join(_ event: String, due: Int64 = 100, bytes: [UInt8] = [1]) -> Claim {
        .sample(
            .sample(event: event),
            .join(Digest(type: "price", user: .sample(), dueAt: .at(due)), .digested, lane: .bulk, event: bytes))
    }

    private func sends(_ store: any Store, key: String = "price") async throws -> [UnixTime] {
        try await store.recall([RecallQuestion(key: .sample(), frequencyKey: key)]).first?.recentSends ?? []
    }

    @Test(arguments: Engine.allCases)
    func `what was sent is recalled by user and key, the oldest first`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim([send("1"), send("other", key: "order")], at: .at(0))
            _ = try await store.claim([send("2")], at: .at(10))
            #expect(try await sends(store) == [.at(0), .at(10)])
            #expect(try await sends(store, key: "order") == [.at(0)])
            #expect(try await store.recall(.sample()).recentSends.isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a send above the limit changes nothing, and one that leaves the window makes room`(
        engine: Engine
    ) async throws {
        try await engine.withStore { store in
            let results = try await store.claim([send("1"), send("2"), send("3")], at: .at(0))
            #expect(results == [.claimed(badges: [.sample: 1]), .claimed(badges: [.sample: 2]), .outdated])
            #expect(try await store.recall(.sample(event: "3")).entry == nil)
            #expect(try await store.badge() == 2)
            #expect(try await store.claim(send("3"), at: .at(99)) == .outdated)
            #expect(try await store.claim(send("3"), at: .at(100)) == .claimed(badges: [.sample: 3]))
            let month = UnixTime.at(31 * 86_400_000)
            #expect(try await store.claim(send("4"), at: month) == .claimed(badges: [.sample: 4]))
            #expect(try await sends(store) == [month], "what no window reaches is forgotten")
        }
    }

    @Test(arguments: Engine.allCases)
    func `a limit over a short window leaves what one over a longer counts`(engine: Engine) async throws {
        try await engine.withStore { store in
            for time in 0..<3 as Range<Int64> {
                _ = try await store.claim(send("\(time)"), at: .at(time * 1_000))
            }
            #expect(try await sends(store).count == 3)
            let long = CountedSend(key: "price", limit: FrequencyLimit(max: 3, per: .seconds(60)))
            let claim = Claim.sample(.sample(event: "long"), .send(badgeApps: [], counts: long))
            #expect(try await store.claim(claim, at: .at(3_000)) == .outdated)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a digest that was claimed and not settled keeps its number`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim([join("1"), join("2")], at: .at(1))
            let key = Digest(type: "price", user: .sample(), dueAt: .at(100)).key
            let due = try #require(try await store.takeDue(at: .at(100), limit: 9, lease: .milliseconds(1)).first)
            let claim = Claim(
                key: key, type: "price", action: .send(badgeApps: [.sample]), deferral: due.id, items: 2)
            _ = try await store.claim(claim, at: .at(101))
            #expect(try await store.recall(key).entry == LedgerEntry(state: .claimed, items: 2))
            #expect(try await store.takeDue(at: .at(200), limit: 9, lease: .seconds(1)).map(\.key) == [key])
            #expect(try await store.claim(claim, at: .at(201)) == .claimed(badges: [.sample: 1]))
        }
    }

    @Test(arguments: Engine.allCases)
    func `a send that no device accepted does not count`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim([send("1"), send("2")], at: .at(0))
            let closures: [Settlement.Closure] = [
                .sample(.sample(event: "1"), wasAccepted: false), .sample(.sample(event: "2"), wasAccepted: true),
            ]
            _ = try await store.settle(Settlement(closures: closures), at: .at(1))
            #expect(try await sends(store).count == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a hundred items make one digest of a hundred, with the newest event`(engine: Engine) async throws {
        try await engine.withStore { store in
            for number in 0..<100 {
                #expect(try await store.claim(join("\(number)", bytes: [UInt8(number)]), at: .at(1)) == .recorded)
                #expect(try await store.claim(join("\(number)", bytes: [255]), at: .at(1)) == .alreadyClosed)
            }
            #expect(try await store.badge() == 0)
            #expect(try await store.deferredCount() == 1)
            let digest = Digest(type: "price", user: .sample(), dueAt: .at(100))
            #expect(try await store.recall(digest.key).entry == LedgerEntry(state: .deferred, items: 100))
            let item = try #require(try await store.history(ofEvent: "7", user: nil).first)
            #expect(item.state == .suppressed)
            #expect(item.reason == "digested")
            #expect(item.digest == digest.key.event.id)
            #expect(try await store.takeDue(at: .at(99), limit: 9, lease: .seconds(1)).isEmpty)
            let due = try #require(try await store.takeDue(at: .at(100), limit: 9, lease: .seconds(1)).first)
            #expect(due.key == digest.key)
            #expect(due.event == [99])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a digest that was planned with fewer items than it has is planned again`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim([join("1"), join("2")], at: .at(1))
            let key = Digest(type: "price", user: .sample(), dueAt: .at(100)).key
            let due = try #require(try await store.takeDue(at: .at(100), limit: 9, lease: .seconds(1)).first)
            func claim(items: Int) -> Claim {
                Claim(key: key, type: "price", action: .send(badgeApps: [.sample]), deferral: due.id, items: items)
            }
            #expect(try await store.claim(claim(items: 1), at: .at(101)) == .outdated)
            #expect(try await store.claim(claim(items: 2), at: .at(102)) == .claimed(badges: [.sample: 1]))
            #expect(try await store.claim(join("3"), at: .at(103)) == .outdated, "its number has been told")
            #expect(try await store.recall(.sample(event: "3")).entry == nil)
            #expect(try await store.claim(claim(items: 2), at: .at(104)) == .claimed(badges: [.sample: 1]))
        }
    }

    @Test(arguments: Engine.allCases)
    func `a digest that has to wait keeps its items`(engine: Engine) async throws {
        try await engine.withStore { store in
            _ = try await store.claim([join("1"), join("2")], at: .at(1))
            let key = Digest(type: "price", user: .sample(), dueAt: .at(100)).key
            let due = try #require(try await store.takeDue(at: .at(100), limit: 9, lease: .seconds(1)).first)
            let wait = Claim.Action.postpone(until: .at(500), reason: "quiet_hours", lane: .bulk, event: due.event)
            let claim = Claim(key: key, type: "price", action: wait, deferral: due.id, items: 2)
            #expect(try await store.claim(claim, at: .at(101)) == .recorded)
            #expect(try await store.recall(key).entry == LedgerEntry(state: .deferred, items: 2))
            #expect(try await store.nextDue() == .at(500))
        }
    }
}
