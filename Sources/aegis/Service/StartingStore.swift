import AegisCore
import AegisPorts
import Runtime

/// The device store for the HTTP API while the real one may not be open yet: until then every call is `unavailable`.
final class StartingStore: DeviceStore, NotificationHistory {
    private let store = Lock<(any DeviceStore & NotificationHistory)?>(nil)

    func open(_ opened: any DeviceStore & NotificationHistory) {
        store.withLock { $0 = opened }
    }

    private func opened(_ operation: String) throws(StoreError) -> any DeviceStore & NotificationHistory {
        guard let store = store.withLock({ $0 }) else {
            throw StoreError(kind: .unavailable, operation: operation, detail: "the service is starting")
        }
        return store
    }

    func register(
        _ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime
    ) async throws(StoreError) -> Bool {
        try await opened("register").register(registration, sharesToken: sharesToken, at: now)
    }

    func unregister(user: UserID, installation: String, at now: UnixTime) async throws(StoreError) -> Int {
        try await opened("unregister").unregister(user: user, installation: installation, at: now)
    }

    func devices(of user: UserID) async throws(StoreError) -> [Device] {
        try await opened("devices").devices(of: user)
    }

    func preferences(of user: UserID) async throws(StoreError) -> Preferences {
        try await opened("preferences").preferences(of: user)
    }

    func setPreferences(
        _ preferences: Preferences, of user: UserID, at now: UnixTime
    ) async throws(StoreError) {
        try await opened("preferences").setPreferences(preferences, of: user, at: now)
    }

    func opened(user: UserID, app: AppID, at now: UnixTime) async throws(StoreError) {
        try await opened("opened").opened(user: user, app: app, at: now)
    }

    func badge(of user: UserID, app: AppID) async throws(StoreError) -> Int {
        try await opened("badge").badge(of: user, app: app)
    }

    func setBadge(
        _ count: Int, of user: UserID, app: AppID, at now: UnixTime
    ) async throws(StoreError) {
        try await opened("badge").setBadge(count, of: user, app: app, at: now)
    }

    func history(ofEvent id: String, user: UserID?) async throws(StoreError) -> [NotificationRecord] {
        try await opened("history").history(ofEvent: id, user: user)
    }

    func history(
        of user: UserID, after cursor: HistoryCursor?, limit: Int
    ) async throws(StoreError) -> [NotificationRecord] {
        try await opened("history").history(of: user, after: cursor, limit: limit)
    }

    func markRead(_ eventID: String, of user: UserID, at now: UnixTime) async throws(StoreError) -> [AppID: Int]? {
        try await opened("markRead").markRead(eventID, of: user, at: now)
    }
}

/// Health while the service starts, and the pipeline's own once it runs.
final class StartingHealth: ServiceHealth {
    private enum Stage {
        case waiting(for: String)
        case running(any ServiceHealth)
    }

    private let stage = Lock(Stage.waiting(for: "the service is starting"))

    func waits(for what: String) {
        stage.withLock { $0 = .waiting(for: what) }
    }

    func runs(_ health: any ServiceHealth) {
        stage.withLock { $0 = .running(health) }
    }

    func health() async -> HealthReport {
        switch stage.withLock({ $0 }) {
        case .waiting(let what): HealthReport(isReady: false, notReadyReasons: [what])
        case .running(let health): await health.health()
        }
    }
}
