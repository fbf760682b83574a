package import AegisCore
package import AegisPorts

/// The device store as the HTTP API uses it: a badge that falls there is known at once to the pushes that are on their way.
package struct BadgeAwareDeviceStore: DeviceStore, NotificationHistory {
    private let store: any DeviceStore & NotificationHistory
    private let badges: BadgeBoard

    package init(store: any DeviceStore & NotificationHistory, badges: BadgeBoard) {
        self.store = store
        self.badges = badges
    }

    package func register(
        _ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime
    ) async throws(StoreError) -> Bool {
        try await store.register(registration, sharesToken: sharesToken, at: now)
    }

    package func unregister(user: UserID, installation: String, at now: UnixTime) async throws(StoreError) -> Int {
        try await store.unregister(user: user, installation: installation, at: now)
    }

    package func devices(of user: UserID) async throws(StoreError) -> [Device] {
        try await store.devices(of: user)
    }

    package func preferences(of user: UserID) async throws(StoreError) -> Preferences {
        try await store.preferences(of: user)
    }

    package func setPreferences(
        _ preferences: Preferences, of user: UserID, at now: UnixTime
    ) async throws(StoreError) {
        try await store.setPreferences(preferences, of: user, at: now)
    }

    package func opened(user: UserID, app: AppID, at now: UnixTime) async throws(StoreError) {
        try await store.opened(user: user, app: app, at: now)
        badges.update(user, app, count: 0)
    }

    package func badge(of user: UserID, app: AppID) async throws(StoreError) -> Int {
        try await store.badge(of: user, app: app)
    }

    package func setBadge(
        _ count: Int, of user: UserID, app: AppID, at now: UnixTime
    ) async throws(StoreError) {
        try await store.setBadge(count, of: user, app: app, at: now)
        badges.update(user, app, count: count)
    }

    package func history(ofEvent id: String, user: UserID?) async throws(StoreError) -> [NotificationRecord] {
        try await store.history(ofEvent: id, user: user)
    }

    package func history(
        of user: UserID, after cursor: HistoryCursor?, limit: Int
    ) async throws(StoreError) -> [NotificationRecord] {
        try await store.history(of: user, after: cursor, limit: limit)
    }

    package func markRead(
        _ eventID: String, of user: UserID, at now: UnixTime
    ) async throws(StoreError) -> [AppID: Int]? {
        let fallen = try await store.markRead(eventID, of: user, at: now)
        for (app, count) in fallen ?? [:] { badges.update(user, app, count: count) }
        return fallen
    }
}
