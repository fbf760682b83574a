import AegisCore
import AegisPorts
import AegisTestKit
import Testing

/// Random histories of claim, settlement, opening and redelivery against the plainest reading of the rule: a badge is the
/// number of notifications that were claimed since the last reset and have not ended without an acceptance, on top of what
/// the reset set.
@Suite struct BadgeModel {
    private struct Model {
        enum Fate { case open, ended }

        var base = 0
        var resetAt = Int64.min
        var claimedAt: [Int: Int64] = [:]
        var fate: [Int: Fate] = [:]
        var accepted: Set<Int> = []
        var takenBack: Set<Int> = []

        /// Each reset begins anew, so only what was claimed after it counts.
        var badge: Int {
            base + claimedAt.filter { $0.value > resetAt && !takenBack.contains($0.key) }.count
        }

        mutating func end(_ event: Int) {
            guard fate[event] == .open else { return }
            fate[event] = .ended
            if !accepted.contains(event) { takenBack.insert(event) }
        }
    }

    @Test(arguments: Engine.allCases, 1...12 as ClosedRange<UInt64>)
    func `the badge is always what the history says`(engine: Engine, seed: UInt64) async throws {
        try await engine.withStore { store in
            var random = SplitMix(state: seed)
            var model = Model()
            for time in 1...300 as ClosedRange<Int64> {
                let event = Int.random(in: 0..<25, using: &random)
                let key = NotificationKey.sample(event: "\(event)")
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    let result = try await store.claim(.sample(key), at: .at(time))
                    if model.fate[event] == nil {
                        model.fate[event] = .open
                        model.claimedAt[event] = time
                    }
                    let expected: ClaimResult =
                        model.fate[event] == .open ? .claimed(badges: [.sample: model.badge]) : .alreadyClosed
                    #expect(result == expected, "claim of \(event) at \(time)")
                case 4:
                    guard model.fate[event] == .open else { continue }
                    _ = try await store.settle(Settlement(deliveries: [.sample(key)]), at: .at(time))
                    model.accepted.insert(event)
                case 5..<7:
                    let closure = Settlement.Closure.sample(key, wasAccepted: model.accepted.contains(event))
                    _ = try await store.settle(Settlement(closures: [closure]), at: .at(time))
                    model.end(event)
                case 7:
                    _ = try await store.claim(.sample(key, .suppress(.cancelled)), at: .at(time))
                    if model.fate[event] == nil { model.fate[event] = .ended }
                    model.end(event)
                case 8:
                    _ = try await store.claim(.sample(key, .repeated), at: .at(time))
                default:
                    model.base = Bool.random(using: &random) ? 0 : Int.random(in: 0..<5, using: &random)
                    model.resetAt = time
                    try await store.setBadge(model.base, of: .sample(), app: .sample, at: .at(time))
                }
                #expect(try await store.badge() == model.badge, "after step \(time) on \(event)")
            }
            #expect(model.fate.count > 20, "the history is rich enough to mean something")
        }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `both engines tell one history alike`(seed: UInt64) async throws {
        try await Engine.inMemory.withStore { memory in
            try await Engine.sqlite.withStore { sqlite in
                var random = SplitMix(state: seed)
                let users = (0..<3).map { UserID.sample("user-\($0)") }
                for time in 1...200 as ClosedRange<Int64> {
                    let step = Step.random(users: users, using: &random)
                    let left = try await step.run(on: memory, at: .at(time))
                    let right = try await step.run(on: sqlite, at: .at(time))
                    #expect(left == right, "step \(time): \(step)")
                }
                let digests = users.flatMap { user in
                    (0..<4).map { Digest(type: "price", user: user, dueAt: .at($0 * 50)).key }
                }
                let keys = users.flatMap { user in (0..<8).map { NotificationKey.sample(event: "\($0)", user: user) } }
                let questions = (keys + digests).map { RecallQuestion(key: $0, frequencyKey: "price") }
                #expect(try await memory.recall(questions) == sqlite.recall(questions))
                for event in 0..<8 {
                    #expect(
                        try await memory.history(ofEvent: "\(event)", user: nil)
                            == sqlite.history(ofEvent: "\(event)", user: nil))
                }
            }
        }
    }
}

/// One call with random arguments; its answer as text, to be compared.
private enum Step {
    case register(DeviceRegistration, sharesToken: Bool)
    case unregister(UserID, String)
    case claim([Claim])
    case settle(Settlement)
    case takeDue
    case open(UserID)

    static func random(users: [UserID], using random: inout SplitMix) -> Step {
        func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        let user = users[number(users.count)]
        let token = DeviceToken.sample(number(4))
        func key() -> NotificationKey { .sample(event: "\(number(8))", user: users[number(users.count)]) }
        let deferral = number(2) == 0 ? nil : DeferralID(Int64(number(12)))
        switch number(8) {
        case 0, 1:
            let registration = DeviceRegistration.sample(user: user, installation: "i\(number(3))", token: token)
            return .register(registration, sharesToken: number(2) == 0)
        case 2:
            return .unregister(user, "i\(number(3))")
        case 3, 4:
            return .claim(
                (0..<5).map { _ in
                    let limit = FrequencyLimit(max: 2, per: .milliseconds(30))
                    let digest = Digest(type: "price", user: user, dueAt: .at(Int64(number(4) * 50)))
                    let actions: [Claim.Action] = [
                        .send(badgeApps: [.sample]), .send(badgeApps: []), .repeated, .suppress(.muted),
                        .send(badgeApps: [.sample], counts: CountedSend(key: "price", limit: limit)),
                        .join(digest, .digested, lane: .bulk, event: [8]),
                        .postpone(until: .at(Int64(number(200))), reason: "quiet_hours", lane: .bulk, event: [7]),
                    ]
                    return .sample(key(), actions[number(actions.count)], deferral: deferral)
                })
        case 5, 6:
            let outcomes: [DeliveryOutcome] = [.accepted, .failed, .expired, .skipped(.silentThrottle)]
            return .settle(
                Settlement(
                    deliveries: (0..<3).map { _ in
                        .sample(key(), device: DeviceID(Int64(number(3))), outcome: outcomes[number(4)])
                    },
                    closures: (0..<2).map { _ in .sample(key(), wasAccepted: number(2) == 0) },
                    prunes: [.sample(token: token, goneAt: .at(Int64(number(200))))],
                    quarantines: [.sample(token: .sample(number(4)), goneAt: .at(Int64(number(200))))],
                    finishedDeferrals: deferral.map { [$0] } ?? []))
        case 7:
            return number(2) == 0 ? .takeDue : .open(user)
        default:
            return .takeDue
        }
    }

    func run(on store: any Store, at now: UnixTime) async throws -> String {
        switch self {
        case .register(let registration, let sharesToken):
            let isNew = try await store.register(registration, sharesToken: sharesToken, at: now)
            let devices = try await store.devices(of: registration.user)
            return "\(isNew) \(devices.map { ($0.id.number, $0.registration.installation, $0.registration.token.hex) })"
        case .unregister(let user, let installation):
            return "\(try await store.unregister(user: user, installation: installation, at: now))"
        case .claim(let claims):
            return try await store.claim(claims, at: now).map { result in
                guard case .claimed(let badges) = result else { return "\(result)" }
                return "claimed \(badges[.sample] ?? -1)"
            }.joined(separator: ",")
        case .settle(let settlement):
            return "\(try await store.settle(settlement, at: now))"
        case .takeDue:
            let due = try await store.takeDue(at: now, limit: 3, lease: .milliseconds(20))
            return "\(due.map { "\($0.id.number) \($0.dueAt.milliseconds)" }) \(try await store.deferredCount())"
        case .open(let user):
            try await store.opened(user: user, app: .sample, at: now)
            return "\(try await store.badge(of: user, app: .sample))"
        }
    }
}

/// A generator whose every run of one seed is the same.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
