import AegisCore
import AegisPorts
import Runtime

/// A store of devices in memory that can be told to fail or to keep everybody waiting.
final class FakeStore: DeviceStore, NotificationHistory {
    enum Behaviour: Sendable {
        case works
        case fails(StoreError.Kind)
        case hangs
    }

    private struct Badge: Hashable {
        let user: UserID
        let app: AppID
    }

    private struct State {
        var behaviour = Behaviour.works
        var rows: [DeviceRegistration] = []
        var sharing: [Bool] = []
        var preferences: [UserID: Preferences] = [:]
        var badges: [Badge: Int] = [:]
        var waiting = 0
        var history: [NotificationRecord] = []
        var reads: [String] = []
    }

    private let state = Lock(State())

    var behaviour: Behaviour {
        get { state.withLock { $0.behaviour } }
        set { state.withLock { $0.behaviour = newValue } }
    }

    var rows: [DeviceRegistration] { state.withLock { $0.rows } }
    var sharing: [Bool] { state.withLock { $0.sharing } }
    var waiting: Int { state.withLock { $0.waiting } }

    private func pass() async throws(StoreError) {
        switch behaviour {
        case .works: return
        case .fails(let kind): throw StoreError(kind: kind, operation: "test", detail: "engine code 14")
        case .hangs:
            state.withLock { $0.waiting += 1 }
            while case .hangs = behaviour { await Task.yield() }
        }
    }

    func register(
        _ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime
    ) async throws(StoreError) -> Bool {
        try await pass()
        return state.withLock { state in
            state.sharing.append(sharesToken)
            let index = state.rows.firstIndex {
                ($0.user, $0.installation, $0.app) == (registration.user, registration.installation, registration.app)
            }
            if let index {
                state.rows[index] = registration
            } else {
                state.rows.append(registration)
            }
            return index == nil
        }
    }

    func unregister(user: UserID, installation: String, at now: UnixTime) async throws(StoreError) -> Int {
        try await pass()
        return state.withLock { state in
            let before = state.rows.count
            state.rows.removeAll { $0.user == user && $0.installation == installation }
            return before - state.rows.count
        }
    }

    func devices(of user: UserID) async throws(StoreError) -> [Device] {
        try await pass()
        return rows.enumerated().filter { $0.element.user == user }.map { index, row in
            Device(
                id: DeviceID(Int64(index)), registration: row, registeredAt: UnixTime(milliseconds: 1_796_040_000_123))
        }
    }

    func preferences(of user: UserID) async throws(StoreError) -> Preferences {
        try await pass()
        return state.withLock { $0.preferences[user] ?? .default }
    }

    func setPreferences(_ preferences: Preferences, of user: UserID, at now: UnixTime) async throws(StoreError) {
        try await pass()
        state.withLock { $0.preferences[user] = preferences }
    }

    func opened(user: UserID, app: AppID, at now: UnixTime) async throws(StoreError) {
        try await setBadge(0, of: user, app: app, at: now)
    }

    func badge(of user: UserID, app: AppID) async throws(StoreError) -> Int {
        try await pass()
        return state.withLock { $0.badges[Badge(user: user, app: app)] ?? 0 }
    }

    func setBadge(_ count: Int, of user: UserID, app: AppID, at now: UnixTime) async throws(StoreError) {
        try await pass()
        state.withLock { $0.badges[Badge(user: user, app: app)] = count }
    }

    func setHistory(_ records: [NotificationRecord]) { state.withLock { $0.history = records } }
    var reads: [String] { state.withLock { $0.reads } }

    func history(ofEvent id: String, user: UserID?) async throws(StoreError) -> [NotificationRecord] {
        try await pass()
        return state.withLock { $0.history }.filter { $0.key.event.id == id && (user == nil || $0.key.user == user) }
    }

    func history(
        of user: UserID, after cursor: HistoryCursor?, limit: Int
    ) async throws(StoreError) -> [NotificationRecord] {
        try await pass()
        let own = state.withLock { $0.history }.filter { $0.key.user == user }
        let start = cursor.flatMap { cursor in own.firstIndex { $0.key.event == cursor.event } }.map { $0 + 1 } ?? 0
        return Array(own[start...].prefix(limit))
    }

    func markRead(_ eventID: String, of user: UserID, at now: UnixTime) async throws(StoreError) -> [AppID: Int]? {
        try await pass()
        return state.withLock { state in
            guard state.history.contains(where: { $0.key.event.id == eventID && $0.key.user == user }) else {
                return nil
            }
            state.reads.append(eventID)
            return [TestService.shop: 2]
        }
    }
}

/// Remembers what was counted.
final class FakeMeter: Meter {
    private let counts = Lock<[String: Int]>([:])

    func add(_ amount: Int, to metric: Metric, _ labels: [String]) {
        counts.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))", default: 0] += amount }
    }

    func set(_ value: Double, of metric: Metric, _ labels: [String]) {}
    func remove(_ metric: Metric, _ labels: [String]) {}
    func observe(_ seconds: [Double], in metric: Metric, _ labels: [String]) {}

    var all: [String: Int] { counts.withLock { $0 } }
}

/// Hashes that show nothing and are easy to expect.
struct FakeDigests: IdentityDigests {
    func pushID(for event: EventIdentity, user: UserID, device: DeviceID) -> PushID { PushID(high: 1, low: 2) }
    func collapseID(for event: EventIdentity, user: UserID) -> String { "c" }
    func collapseID(fitting text: String) -> String { "c" }
    func hash(of user: UserID) -> UserHash { UserHash(text: "user-hash") }
    func hash(of token: DeviceToken) -> DeviceHash { DeviceHash(text: "hash-\(token.hex.utf8.count)") }
}

/// Keeps every line as text.
final class FakeLog: Log {
    let level = LogLevel.debug
    private let lines = Lock<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func write(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue>) {
        let line = "\(level) \(message) " + fields.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        lines.withLock { $0.append(line) }
    }
}

final class FakeHealth: ServiceHealth {
    private let report = Lock(HealthReport(isReady: true))

    func set(_ new: HealthReport) { report.withLock { $0 = new } }

    func health() async -> HealthReport { report.withLock { $0 } }
}
