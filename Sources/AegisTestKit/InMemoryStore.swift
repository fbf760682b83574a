package import AegisCore
package import AegisPorts

/// The store in memory: the contract at its plainest, for tests of what stands on it.
package actor InMemoryStore: Store {
    private struct Row {
        var device: Device
        var deletedAt: UnixTime?

        var isDeleted: Bool { deletedAt != nil }
    }

    private struct Badge {
        var unread = 0
        var resetAt: UnixTime?
    }

    private struct Notification {
        var type: String
        var state: LedgerState
        var reason: String?
        /// The apps whose badge was raised, and when.
        var counted: [AppID: UnixTime] = [:]
        var digest: String?
        var trace: String?
        var readAt: UnixTime?
        var repeats = 0
        var createdAt: UnixTime
    }

    private struct Deferred {
        var notification: DeferredNotification
        var readyAt: UnixTime
        /// Of a digest.
        var items = 0
    }

    private struct Send {
        var key: NotificationKey
        var type: String
        var sentAt: UnixTime
    }

    private static let isRead = UnixTime(milliseconds: -1)
    private static let highestBadge = Int(Int32.max)

    private var rows: [Row] = []
    private var preferences: [UserID: Preferences] = [:]
    private var badges: [UserID: [AppID: Badge]] = [:]
    private var notifications: [NotificationKey: Notification] = [:]
    private var deliveries: [NotificationKey: [Settlement.Delivery]] = [:]
    private var deferred: [DeferralID: Deferred] = [:]
    /// What counts towards limits, in the order of sending.
    private var sends: [Send] = []
    private var lastDevice: Int64 = 0
    private var lastDeferral: Int64 = 0
    private var failure: StoreError?

    package init() {}

    /// Lets every operation fail with `failure`; nil ends it.
    package func fail(with failure: StoreError?) {
        self.failure = failure
    }

    private func checkHealth() throws(StoreError) {
        if let failure { throw failure }
    }

    // MARK: Schema and health

    package func ping() throws(StoreError) { try checkHealth() }

    package func schemaVersion() throws(StoreError) -> SchemaVersion {
        try checkHealth()
        return SchemaVersion(current: 1, latest: 1)
    }

    package func migrate() throws(StoreError) -> [Int] {
        try checkHealth()
        return []
    }

    package func close() {
        failure = StoreError(kind: .unavailable, operation: "any", detail: "the store is closed")
    }

    package func dropLedger(before day: UTCDay) throws(StoreError) {
        try checkHealth()
        notifications = notifications.filter { $0.key.day >= day }
        deliveries = deliveries.filter { $0.key.day >= day }
        let limit = UTCDay(number: day.number - 30)
        sends.removeAll { $0.sentAt.day < limit }
    }

    package func dropDevices(deletedBefore moment: UnixTime) throws(StoreError) -> Int {
        try checkHealth()
        let count = rows.count
        rows.removeAll { row in row.deletedAt.map { $0 < moment } ?? false }
        return count - rows.count
    }

    // MARK: Devices

    package func register(
        _ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime
    ) throws(StoreError) -> Bool {
        try checkHealth()
        if !sharesToken {
            for index in rows.indices
            where !rows[index].isDeleted && rows[index].device.hasToken(registration.token, in: registration.key)
                && rows[index].device.registration.user != registration.user
            {
                rows[index].deletedAt = now
            }
        }
        let ofInstallation = rows.indices.filter { rows[$0].device.registration.isSameInstallation(as: registration) }
        let live = ofInstallation.first { !rows[$0].isDeleted }
        let ofToken = rows.indices.first {
            rows[$0].device.hasToken(registration.token, in: registration.key)
                && rows[$0].device.registration.user == registration.user
        }
        let newestDeleted = ofInstallation.max { rows[$0].device.isOlder(than: rows[$1].device) }
        guard let index = live ?? ofToken ?? newestDeleted else {
            lastDevice += 1
            let device = Device(id: DeviceID(lastDevice), registration: registration, registeredAt: now)
            rows.append(Row(device: device))
            return true
        }
        if let ofToken, ofToken != index {
            // The installation takes the token over; the row that had it keeps the old one, deleted.
            rows[ofToken].deletedAt = rows[ofToken].deletedAt ?? now
            rows[ofToken].device.registration.token = rows[index].device.registration.token
        }
        let wasDeleted = rows[index].isDeleted
        rows[index].device.registration = registration
        rows[index].device.registeredAt = now
        rows[index].device.quarantinedAt = nil
        rows[index].deletedAt = nil
        return wasDeleted
    }

    package func unregister(user: UserID, installation: String, at now: UnixTime) throws(StoreError) -> Int {
        try checkHealth()
        let found = rows.indices.filter {
            let registration = rows[$0].device.registration
            return !rows[$0].isDeleted && registration.user == user && registration.installation == installation
        }
        for index in found { rows[index].deletedAt = now }
        return found.count
    }

    package func devices(of user: UserID) throws(StoreError) -> [Device] {
        try checkHealth()
        return rows.filter { !$0.isDeleted && $0.device.registration.user == user }.map(\.device)
            .sorted { $1.isOlder(than: $0) }
    }

    /// The rows of the token as it is now, if its newest registration is older than the answer.
    private func outdated(_ prune: Settlement.Prune) -> [Int] {
        let holders = rows.indices.filter {
            !rows[$0].isDeleted && rows[$0].device.hasToken(prune.token, in: prune.app)
        }
        if let goneAt = prune.goneAt, holders.contains(where: { rows[$0].device.registeredAt >= goneAt }) { return [] }
        return holders
    }

    private func prune(_ prune: Settlement.Prune, at now: UnixTime) -> PruneResult {
        let outdated = outdated(prune)
        for index in outdated { rows[index].deletedAt = now }
        return outdated.isEmpty ? .kept : .pruned(outdated.count)
    }

    // MARK: Preferences and badges

    package func preferences(of user: UserID) throws(StoreError) -> Preferences {
        try checkHealth()
        return preferences[user] ?? .default
    }

    package func setPreferences(_ preferences: Preferences, of user: UserID, at now: UnixTime) throws(StoreError) {
        try checkHealth()
        self.preferences[user] = preferences
    }

    package func opened(user: UserID, app: AppID, at now: UnixTime) throws(StoreError) {
        try setBadge(0, of: user, app: app, at: now)
    }

    package func badge(of user: UserID, app: AppID) throws(StoreError) -> Int {
        try checkHealth()
        return badges[user]?[app]?.unread ?? 0
    }

    package func setBadge(_ count: Int, of user: UserID, app: AppID, at now: UnixTime) throws(StoreError) {
        try checkHealth()
        badges[user, default: [:]][app] = Badge(unread: min(max(0, count), Self.highestBadge), resetAt: now)
    }

    private func unread(of user: UserID) -> [AppID: Int] {
        (badges[user] ?? [:]).mapValues(\.unread)
    }

    /// Takes back what the row has counted, unless a device accepted or the badge was reset since.
    private func takeBackBadges(of key: NotificationKey) {
        guard let counted = notifications[key]?.counted, !isAccepted(key) else { return }
        sends.removeAll { $0.key == key }
        notifications[key]?.counted = [:]
        lower(counted, of: key.user)
    }

    private func lower(_ counted: [AppID: UnixTime], of user: UserID) {
        for (app, raisedAt) in counted where raisedAt != Self.isRead {
            guard var badge = badges[user]?[app] else { continue }
            if let resetAt = badge.resetAt, resetAt > raisedAt { continue }
            badge.unread = max(0, badge.unread - 1)
            badges[user]?[app] = badge
        }
    }

    private func isAccepted(_ key: NotificationKey) -> Bool {
        deliveries[key]?.contains { $0.outcome == .accepted } ?? false
    }

    // MARK: Ledger

    package func recall(_ questions: [RecallQuestion]) throws(StoreError) -> [RecipientSnapshot] {
        var snapshots: [RecipientSnapshot] = []
        for question in questions {
            let key = question.key
            var entry: LedgerEntry?
            if let notification = notifications[key] {
                entry = LedgerEntry(
                    state: notification.state, closedDevices: Set((deliveries[key] ?? []).map(\.device)),
                    hasAcceptance: isAccepted(key),
                    items: [.deferred, .claimed].contains(notification.state) ? items(of: key) : 0)
            }
            let recent = sends.filter { $0.key.user == key.user && $0.type == question.frequencyKey }
            snapshots.append(
                RecipientSnapshot(
                    devices: try devices(of: key.user).filter { $0.quarantinedAt == nil },
                    preferences: try preferences(of: key.user), badges: unread(of: key.user),
                    recentSends: recent.map(\.sentAt).sorted(), entry: entry))
        }
        return snapshots
    }

    package func claim(_ claims: [Claim], at now: UnixTime) throws(StoreError) -> [ClaimResult] {
        try checkHealth()
        return claims.map { claim($0, at: now) }
    }

    private func claim(_ claim: Claim, at now: UnixTime) -> ClaimResult {
        if claim.action == .repeated {
            notifications[claim.key]?.repeats += 1
            return .recorded
        }
        if claim.items > 0, items(of: claim.key) != claim.items { return .outdated }
        if case .send(_, let counts?) = claim.action, !admits(counts, for: claim.key.user, at: now) { return .outdated }
        if case .join(let digest, _, _, _) = claim.action, let waiting = notifications[digest.key],
            waiting.state != .deferred
        {
            return .outdated
        }
        guard isOpen(to: claim) else { return .alreadyClosed }
        var notification =
            notifications[claim.key] ?? Notification(type: claim.type, state: .claimed, createdAt: now)
        (notification.state, notification.reason) = claim.outcome
        notification.trace = claim.trace
        notifications[claim.key] = notification
        switch claim.action {
        case .send(let apps, let counts):
            if let counts {
                let begin = now.advanced(by: .zero - FrequencyLimit.longestWindow)
                sends.removeAll {
                    $0.key == claim.key
                        || $0.key.user == claim.key.user && $0.type == counts.key && $0.sentAt <= begin
                }
                sends.append(Send(key: claim.key, type: counts.key, sentAt: now))
            }
            // Who has read it already has nothing unread by it.
            guard notification.readAt == nil else {
                for app in apps where notification.counted[app] == nil {
                    notifications[claim.key]?.counted[app] = Self.isRead
                }
                return .claimed(badges: unread(of: claim.key.user))
            }
            for app in apps where notification.counted[app] == nil {
                notifications[claim.key]?.counted[app] = now
                let unread = badges[claim.key.user]?[app]?.unread ?? 0
                badges[claim.key.user, default: [:]][app, default: Badge()].unread = min(
                    unread + 1, Self.highestBadge)
            }
            return .claimed(badges: unread(of: claim.key.user))
        case .postpone(let until, _, let lane, let event):
            takeBackBadges(of: claim.key)
            deferred = deferred.filter { $0.value.notification.key != claim.key }
            lastDeferral += 1
            let id = DeferralID(lastDeferral)
            deferred[id] = Deferred(
                notification: DeferredNotification(
                    id: id, key: claim.key, type: claim.type, lane: lane, dueAt: until, event: event),
                readyAt: until, items: claim.items)
            return .recorded
        case .join(let digest, _, let lane, let event):
            takeBackBadges(of: claim.key)
            notifications[claim.key]?.digest = digest.key.event.id
            join(digest, claim.type, lane, event, at: now)
            return .recorded
        case .suppress, .reject, .repeated:
            takeBackBadges(of: claim.key)
            return .recorded
        }
    }

    private func join(_ digest: Digest, _ type: String, _ lane: Lane, _ event: [UInt8], at now: UnixTime) {
        if let id = deferred.first(where: { $0.value.notification.key == digest.key })?.key {
            deferred[id]?.notification.event = event
            deferred[id]?.items += 1
            return
        }
        if notifications[digest.key] == nil {
            notifications[digest.key] = Notification(
                type: type, state: .deferred, reason: "frequency", createdAt: now)
        }
        lastDeferral += 1
        let id = DeferralID(lastDeferral)
        deferred[id] = Deferred(
            notification: DeferredNotification(
                id: id, key: digest.key, type: type, lane: lane, dueAt: digest.dueAt, event: event),
            readyAt: digest.dueAt, items: 1)
    }

    private func items(of key: NotificationKey) -> Int {
        deferred.values.first { $0.notification.key == key }?.items ?? 0
    }

    private func admits(_ send: CountedSend, for user: UserID, at now: UnixTime) -> Bool {
        let begin = now.advanced(by: .zero - send.limit.per)
        return sends.count { $0.key.user == user && $0.type == send.key && $0.sentAt > begin } < send.limit.max
    }

    private func isOpen(to claim: Claim) -> Bool {
        switch notifications[claim.key]?.state {
        case nil, .claimed: true
        case .deferred: claim.deferral.map { deferred[$0] != nil } ?? false
        case .sent, .suppressed, .rejected: false
        }
    }

    package func settle(_ settlement: Settlement, at now: UnixTime) throws(StoreError) -> [PruneResult] {
        try checkHealth()
        for delivery in settlement.deliveries {
            let known = deliveries[delivery.key] ?? []
            guard !known.contains(where: { $0.device == delivery.device }) else { continue }
            deliveries[delivery.key] = known + [delivery]
        }
        for closure in settlement.closures where closure.state.isFinal {
            guard notifications[closure.key]?.state == .claimed else { continue }
            notifications[closure.key]?.state = closure.state
            notifications[closure.key]?.reason = closure.reason
            if !closure.wasAccepted { takeBackBadges(of: closure.key) }
        }
        let results = settlement.prunes.map { prune($0, at: now) }
        for quarantine in settlement.quarantines {
            for index in outdated(quarantine) where rows[index].device.quarantinedAt == nil {
                rows[index].device.quarantinedAt = now
            }
        }
        for id in settlement.finishedDeferrals { deferred[id] = nil }
        return results
    }

    // MARK: What waits, and history

    package func takeDue(at now: UnixTime, limit: Int, lease: Duration) throws(StoreError) -> [DeferredNotification] {
        try checkHealth()
        let due = deferred.values.filter { $0.readyAt <= now }
            .sorted { ($0.readyAt, $0.notification.id.number) < ($1.readyAt, $1.notification.id.number) }
            .prefix(max(0, limit)).map(\.notification)
        for notification in due { deferred[notification.id]?.readyAt = now.advanced(by: lease) }
        return due
    }

    package func nextDue() throws(StoreError) -> UnixTime? {
        try checkHealth()
        return deferred.values.map(\.readyAt).min()
    }

    package func deferredCount() throws(StoreError) -> Int {
        try checkHealth()
        return deferred.count
    }

    package func history(ofEvent id: String, user: UserID?) throws(StoreError) -> [NotificationRecord] {
        try checkHealth()
        return notifications.filter { $0.key.event.id.isExactly(id) && (user == nil || $0.key.user == user) }
            .sorted { $0.key.historyOrder < $1.key.historyOrder }
            .map { record($0, $1) }
    }

    package func history(
        of user: UserID, after cursor: HistoryCursor?, limit: Int
    ) throws(StoreError) -> [NotificationRecord] {
        try checkHealth()
        return notifications.filter { $0.key.user == user }.map { record($0, $1) }
            .sorted { $1.pageOrder < $0.pageOrder }
            .filter { record in
                cursor.map { record.pageOrder < ($0.createdAt.milliseconds, $0.event.id, $0.event.source) } ?? true
            }
            .prefix(max(0, limit)).map(\.self)
    }

    private func record(_ key: NotificationKey, _ notification: Notification) -> NotificationRecord {
        NotificationRecord(
            key: key, type: notification.type, state: notification.state, reason: notification.reason,
            digest: notification.digest, trace: notification.trace, repeats: notification.repeats,
            createdAt: notification.createdAt, readAt: notification.readAt,
            dueAt: notification.state == .deferred
                ? deferred.values.first { $0.notification.key == key }?.notification.dueAt : nil,
            deliveries: (deliveries[key] ?? []).sorted { $0.device < $1.device }.map(\.record))
    }

    package func markRead(
        _ eventID: String, of user: UserID, at now: UnixTime
    ) throws(StoreError) -> [AppID: Int]? {
        try checkHealth()
        let keys = notifications.keys.filter { $0.event.id.isExactly(eventID) && $0.user == user }
        guard !keys.isEmpty else { return nil }
        let before = unread(of: user)
        for key in keys where notifications[key]?.readAt == nil {
            let counted = notifications[key]?.counted ?? [:]
            lower(counted, of: user)
            // Counted once, and not to be taken back again.
            notifications[key]?.counted = counted.mapValues { _ in Self.isRead }
            notifications[key]?.readAt = now
        }
        return unread(of: user).filter { before[$0.key] != $0.value }
    }

    package func deviceCounts() throws(StoreError) -> [DeviceCount] {
        try checkHealth()
        var counts: [DeviceCount] = []
        for row in rows where !row.isDeleted {
            let registration = row.device.registration
            if let index = counts.firstIndex(where: {
                $0.app == registration.app && $0.authorization == registration.authorization
            }) {
                counts[index].count += 1
            } else {
                counts.append(
                    DeviceCount(app: registration.app, authorization: registration.authorization, count: 1))
            }
        }
        return counts
    }
}

extension NotificationRecord {
    fileprivate var pageOrder: (Int64, String, String) { (createdAt.milliseconds, key.event.id, key.event.source) }
}

extension Device {
    fileprivate func hasToken(_ token: DeviceToken, in app: AppKey) -> Bool {
        registration.token == token && registration.key == app
    }

    fileprivate func isOlder(than other: Device) -> Bool {
        (registeredAt, id) < (other.registeredAt, other.id)
    }
}

extension DeviceRegistration {
    fileprivate func isSameInstallation(as other: DeviceRegistration) -> Bool {
        user == other.user && key == other.key && installation == other.installation && kind == other.kind
    }
}

extension NotificationKey {
    fileprivate var historyOrder: (UTCDay, String, String) { (day, event.source, user.text) }
}

extension Claim {
    /// The state and reason that the action writes; a repeat leaves both and is not asked.
    fileprivate var outcome: (LedgerState, String?) {
        switch action {
        case .send, .repeated: (.claimed, nil)
        case .suppress(let reason), .join(_, let reason, _, _): (.suppressed, reason.rawValue)
        case .postpone(_, let reason, _, _): (.deferred, reason)
        case .reject(let reason): (.rejected, reason)
        }
    }
}

extension Settlement.Delivery {
    fileprivate var record: NotificationRecord.Delivery {
        var reason = reason
        if case .skipped(let skip) = outcome, reason == nil { reason = skip.rawValue }
        return NotificationRecord.Delivery(
            device: device, pushID: pushID.description, outcome: outcome.name, status: status, reason: reason,
            attempts: attempts)
    }
}
