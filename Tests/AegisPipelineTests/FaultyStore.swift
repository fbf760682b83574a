import AegisCore
import AegisPorts
import Runtime

/// A store whose operations fail or wait, each on its own, or whose process ends.
final class FaultyStore: Store {
    enum Operation: String, Hashable, CaseIterable {
        case recall, claim, settle, takeDue
    }

    private struct State {
        var failing: Set<Operation> = []
        var held: Set<Operation> = []
        var calls: [Operation: Int] = [:]
        var settlements: [Settlement] = []
    }

    private let store: any Store
    private let fuse: Fuse
    private let state = Lock(State())

    init(_ store: any Store, fuse: Fuse = Fuse()) {
        self.store = store
        self.fuse = fuse
    }

    func setFailing(_ operations: Set<Operation>) { state.withLock { $0.failing = operations } }
    /// Lets calls of these wait until they are released.
    func hold(_ operations: Set<Operation>) { state.withLock { $0.held = operations } }
    func calls(of operation: Operation) -> Int { state.withLock { $0.calls[operation] ?? 0 } }
    /// What was written and acknowledged.
    var settlements: [Settlement] { state.withLock { $0.settlements } }

    private func pass<Result>(
        _ operation: Operation, _ call: () async throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        let failure = StoreError(kind: .unavailable, operation: operation.rawValue, detail: "away")
        state.withLock { $0.calls[operation, default: 0] += 1 }
        while state.withLock({ $0.held.contains(operation) }), !fuse.isBlown {
            try? await Task.sleep(for: .milliseconds(1))
        }
        guard !state.withLock({ $0.failing.contains(operation) }) else { throw failure }
        switch fuse.step() {
        case .pass: return try await call()
        case .applyThenFail:
            _ = try await call()
            throw failure
        case .fail: throw failure
        }
    }

    func recall(_ questions: [RecallQuestion]) async throws(StoreError) -> [RecipientSnapshot] {
        try await pass(.recall) { () async throws(StoreError) in try await store.recall(questions) }
    }

    func claim(_ claims: [Claim], at now: UnixTime) async throws(StoreError) -> [ClaimResult] {
        try await pass(.claim) { () async throws(StoreError) in try await store.claim(claims, at: now) }
    }

    func settle(_ settlement: Settlement, at now: UnixTime) async throws(StoreError) -> [PruneResult] {
        let results = try await pass(.settle) { () async throws(StoreError) in
            try await store.settle(settlement, at: now)
        }
        state.withLock { $0.settlements.append(settlement) }
        return results
    }

    func takeDue(
        at now: UnixTime, limit: Int, lease: Duration
    ) async throws(StoreError) -> [DeferredNotification] {
        try await pass(.takeDue) { () async throws(StoreError) in
            try await store.takeDue(at: now, limit: limit, lease: lease)
        }
    }

    func nextDue() async throws(StoreError) -> UnixTime? { try await store.nextDue() }
    func deferredCount() async throws(StoreError) -> Int { try await store.deferredCount() }

    func history(ofEvent id: String, user: UserID?) async throws(StoreError) -> [NotificationRecord] {
        try await store.history(ofEvent: id, user: user)
    }

    func history(
        of user: UserID, after cursor: HistoryCursor?, limit: Int
    ) async throws(StoreError) -> [NotificationRecord] {
        try await store.history(of: user, after: cursor, limit: limit)
    }

    func markRead(_ eventID: String, of user: UserID, at now: UnixTime) async throws(StoreError) -> [AppID: Int]? {
        try await store.markRead(eventID, of: user, at: now)
    }

    func deviceCounts() async throws(StoreError) -> [DeviceCount] { try await store.deviceCounts() }

    func register(
        _ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime
    ) async throws(StoreError) -> Bool {
        try await store.register(registration, sharesToken: sharesToken, at: now)
    }

    func unregister(user: UserID, installation: String, at now: UnixTime) async throws(StoreError) -> Int {
        try await store.unregister(user: user, installation: installation, at: now)
    }

    func devices(of user: UserID) async throws(StoreError) -> [Device] { try await store.devices(of: user) }
    func preferences(of user: UserID) async throws(StoreError) -> Preferences {
        try await store.preferences(of: user)
    }

    func setPreferences(_ preferences: Preferences, of user: UserID, at now: UnixTime) async throws(StoreError) {
        try await store.setPreferences(preferences, of: user, at: now)
    }

    func opened(user: UserID, app: AppID, at now: UnixTime) async throws(StoreError) {
        try await store.opened(user: user, app: app, at: now)
    }

    func badge(of user: UserID, app: AppID) async throws(StoreError) -> Int {
        try await store.badge(of: user, app: app)
    }

    func setBadge(_ count: Int, of user: UserID, app: AppID, at now: UnixTime) async throws(StoreError) {
        try await store.setBadge(count, of: user, app: app, at: now)
    }

    func ping() async throws(StoreError) { try await store.ping() }
    func schemaVersion() async throws(StoreError) -> SchemaVersion { try await store.schemaVersion() }
    func migrate() async throws(StoreError) -> [Int] { try await store.migrate() }
    func dropLedger(before day: UTCDay) async throws(StoreError) { try await store.dropLedger(before: day) }

    func dropDevices(deletedBefore moment: UnixTime) async throws(StoreError) -> Int {
        try await store.dropDevices(deletedBefore: moment)
    }
    func close() async { await store.close() }
}
