/// Every statement of the store that is kept prepared.
///
/// Where a statement is about a notification, ?1 to ?4 are its key: day, event id, event source, user.
enum Query: Int, CaseIterable {
    // Transactions
    case begin, beginImmediate, commit
    // Devices
    case devicesOfUser, deviceByInstallation, deviceByToken
    case deviceCounts
    case insertDevice, refreshDevice, parkDevice, retireDevice
    case deleteInstallation, deleteOwnersOfInstallation, dropDevices
    case addOwner, removeOwner
    case moveDevices, removeOtherOwners
    case newestRegistration, pruneDevices, removeOwners, quarantineDevices
    // Preferences
    case preferences, setPreferences
    // Badges
    case badgesOfUser, badge, raiseBadge, setBadge, takeBackBadge
    // Ledger
    case entry, closedDevices, isAccepted
    case insertNotification, notification, updateNotification, raiseRepeats
    case insertDelivery, closeNotification, clearCounted
    case history, historyOfUser, deliveriesOf, dueAt
    case unreadOf, markRead
    case notificationBoundary, deliveryBoundary, dropNotifications, dropDeliveries
    // Frequency and digests
    case recentSends, countSends, insertSend, forgetSends, takeBackSend, dropSends
    case setDigest, itemsOf, joinDigest
    // Deferred
    case insertDeferred, isDeferred, due, leaseDeferred, deleteDeferred, nextDue, deferredCount
    // Health
    case ping

    var sql: String {
        switch self {
        case .begin: "BEGIN"
        case .beginImmediate: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .ping: "SELECT 1 FROM notifications LIMIT 1"

        case .devicesOfUser:
            """
            SELECT id, app, environment, installation_id, kind, token, authorization, locale, time_zone, app_version,
                registered_at, quarantined_at
            FROM devices WHERE user_id = ?1 AND deleted_at IS NULL
            """
        case .deviceByInstallation:
            """
            SELECT id, token, deleted_at IS NULL FROM devices
            WHERE user_id = ?1 AND app = ?2 AND environment = ?3 AND installation_id = ?4 AND kind = ?5
            ORDER BY deleted_at IS NOT NULL, registered_at DESC, id DESC LIMIT 1
            """
        case .deviceByToken:
            """
            SELECT id, deleted_at IS NULL FROM devices
            WHERE user_id = ?1 AND app = ?2 AND environment = ?3 AND token = ?4
            """
        case .insertDevice:
            """
            INSERT INTO devices (user_id, app, environment, installation_id, kind, token, authorization, locale,
                time_zone, app_version, created_at, updated_at, registered_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?11)
            """
        case .refreshDevice:
            """
            UPDATE devices SET installation_id = ?4, kind = ?5, token = ?6, authorization = ?7, locale = ?8,
                time_zone = ?9, app_version = ?10, updated_at = ?11, registered_at = ?11, quarantined_at = NULL,
                deleted_at = NULL, deleted_reason = NULL
            WHERE id = ?12
            """
        case .deviceCounts:
            "SELECT app, authorization, count(*) FROM devices WHERE deleted_at IS NULL GROUP BY app, authorization"
        // Two rows of one user swap tokens: the first steps aside to a text that no token looks like.
        case .parkDevice: "UPDATE devices SET token = '-' || id WHERE id = ?1"
        case .retireDevice:
            """
            UPDATE devices SET token = ?2, updated_at = ?3, deleted_at = coalesce(deleted_at, ?3),
                deleted_reason = coalesce(deleted_reason, 'replaced')
            WHERE id = ?1
            """
        case .deleteInstallation:
            """
            UPDATE devices SET deleted_at = ?3, deleted_reason = 'logout', updated_at = ?3
            WHERE user_id = ?1 AND installation_id = ?2 AND deleted_at IS NULL
            """
        case .deleteOwnersOfInstallation:
            """
            DELETE FROM token_owners WHERE user_id = ?1 AND (token, app, environment) IN (
                SELECT token, app, environment FROM devices
                WHERE user_id = ?1 AND installation_id = ?2 AND deleted_at IS NULL)
            """
        // A deleted row has no owner: whatever deletes it takes that away first.
        case .dropDevices:
            """
            DELETE FROM devices WHERE id IN (
                SELECT id FROM devices WHERE deleted_at IS NOT NULL AND deleted_at < ?1 ORDER BY deleted_at LIMIT ?2)
            """
        case .addOwner:
            """
            INSERT INTO token_owners (token, app, environment, user_id) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO NOTHING
            """
        case .removeOwner:
            "DELETE FROM token_owners WHERE token = ?1 AND app = ?2 AND environment = ?3 AND user_id = ?4"
        case .moveDevices:
            """
            UPDATE devices SET deleted_at = ?5, deleted_reason = 'moved', updated_at = ?5
            WHERE token = ?1 AND app = ?2 AND environment = ?3 AND deleted_at IS NULL AND user_id IN (
                SELECT user_id FROM token_owners
                WHERE token = ?1 AND app = ?2 AND environment = ?3 AND user_id <> ?4)
            """
        case .removeOtherOwners:
            "DELETE FROM token_owners WHERE token = ?1 AND app = ?2 AND environment = ?3 AND user_id <> ?4"
        case .newestRegistration:
            """
            SELECT max(registered_at) FROM devices
            WHERE token = ?1 AND app = ?2 AND environment = ?3 AND deleted_at IS NULL AND user_id IN (
                SELECT user_id FROM token_owners WHERE token = ?1 AND app = ?2 AND environment = ?3)
            """
        case .pruneDevices:
            """
            UPDATE devices SET deleted_at = ?4, deleted_reason = ?5, updated_at = ?4
            WHERE token = ?1 AND app = ?2 AND environment = ?3 AND deleted_at IS NULL AND user_id IN (
                SELECT user_id FROM token_owners WHERE token = ?1 AND app = ?2 AND environment = ?3)
            """
        case .removeOwners: "DELETE FROM token_owners WHERE token = ?1 AND app = ?2 AND environment = ?3"
        case .quarantineDevices:
            """
            UPDATE devices SET quarantined_at = ?4, updated_at = ?4
            WHERE token = ?1 AND app = ?2 AND environment = ?3 AND deleted_at IS NULL AND quarantined_at IS NULL
                AND user_id IN (
                    SELECT user_id FROM token_owners WHERE token = ?1 AND app = ?2 AND environment = ?3)
            """

        case .preferences: "SELECT document FROM preferences WHERE user_id = ?1"
        case .setPreferences:
            """
            INSERT INTO preferences (user_id, document, updated_at) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET document = excluded.document, updated_at = excluded.updated_at
            """

        case .badgesOfUser: "SELECT app, unread FROM badges WHERE user_id = ?1"
        case .badge: "SELECT unread FROM badges WHERE user_id = ?1 AND app = ?2"
        case .raiseBadge:
            """
            INSERT INTO badges (user_id, app, unread) VALUES (?1, ?2, 1)
            ON CONFLICT DO UPDATE SET unread = unread + 1 WHERE unread < 2147483647
            """
        case .setBadge:
            """
            INSERT INTO badges (user_id, app, unread, reset_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET unread = excluded.unread, reset_at = excluded.reset_at
            """
        case .takeBackBadge:
            """
            UPDATE badges SET unread = unread - 1
            WHERE user_id = ?1 AND app = ?2 AND unread > 0 AND (reset_at IS NULL OR reset_at <= ?3)
            """

        case .entry:
            "SELECT state FROM notifications WHERE \(Self.key)"
        case .closedDevices:
            "SELECT device_id, state FROM deliveries WHERE \(Self.key)"
        case .isAccepted:
            "SELECT 1 FROM deliveries WHERE \(Self.key) AND state = 'accepted' LIMIT 1"
        case .insertNotification:
            """
            INSERT INTO notifications (day, event_id, event_source, user_id, type, state, reason, badge_counted,
                created_at, trace)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING
            """
        case .notification:
            "SELECT state, badge_counted, read_at FROM notifications WHERE \(Self.key)"
        case .updateNotification:
            "UPDATE notifications SET state = ?5, reason = ?6, badge_counted = ?7, trace = ?8 WHERE \(Self.key)"
        case .raiseRepeats:
            "UPDATE notifications SET repeats = repeats + 1 WHERE \(Self.key)"
        case .insertDelivery:
            """
            INSERT INTO deliveries (day, event_id, event_source, user_id, device_id, state, apns_id, status, reason,
                attempts, settled_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING
            """
        case .closeNotification:
            """
            UPDATE notifications SET state = ?5, reason = ?6 WHERE \(Self.key) AND state = 'claimed'
            RETURNING badge_counted
            """
        case .clearCounted:
            "UPDATE notifications SET badge_counted = '' WHERE \(Self.key)"
        // Steps from day to day through the key, then probes each for the event.
        case .history:
            """
            WITH RECURSIVE days (day) AS (
                SELECT min(day) FROM notifications
                UNION ALL
                SELECT (SELECT min(day) FROM notifications WHERE day > days.day) FROM days WHERE day IS NOT NULL)
            SELECT \(Self.record)
            FROM days CROSS JOIN notifications n ON n.day = days.day
            WHERE n.event_id = ?1 AND (?2 IS NULL OR n.user_id = ?2)
            ORDER BY n.day, n.event_source, n.user_id
            """
        // Compared as a whole, so that the index gives the page and no row that shares its moment is lost between two.
        case .historyOfUser:
            """
            SELECT \(Self.record) FROM notifications n
            WHERE n.user_id = ?1 AND (n.created_at, n.event_id, n.event_source) < (?2, ?3, ?4)
            ORDER BY n.created_at DESC, n.event_id DESC, n.event_source DESC LIMIT ?5
            """
        case .dueAt: "SELECT due_at FROM deferred WHERE \(Self.key)"
        case .unreadOf:
            """
            SELECT day, event_id, event_source, user_id, badge_counted, read_at FROM notifications
            WHERE user_id = ?1 AND event_id = ?2
            """
        case .markRead: "UPDATE notifications SET read_at = ?5, badge_counted = ?6 WHERE \(Self.key)"
        case .deliveriesOf:
            """
            SELECT device_id, apns_id, state, status, reason, attempts FROM deliveries
            WHERE \(Self.key) ORDER BY device_id
            """
        case .notificationBoundary:
            """
            SELECT day, event_id, event_source, user_id FROM notifications WHERE day < ?1
            ORDER BY day, event_id, event_source, user_id LIMIT 1 OFFSET ?2
            """
        case .deliveryBoundary:
            """
            SELECT day, event_id, event_source, user_id FROM deliveries WHERE day < ?1
            ORDER BY day, event_id, event_source, user_id LIMIT 1 OFFSET ?2
            """
        case .dropNotifications:
            "DELETE FROM notifications WHERE (day, event_id, event_source, user_id) < (?1, ?2, ?3, ?4)"
        case .dropDeliveries:
            "DELETE FROM deliveries WHERE (day, event_id, event_source, user_id) < (?1, ?2, ?3, ?4)"

        case .recentSends: "SELECT sent_at FROM sends WHERE user_id = ?1 AND type = ?2 ORDER BY sent_at"
        case .countSends: "SELECT count(*) FROM sends WHERE user_id = ?1 AND type = ?2 AND sent_at > ?3"
        case .insertSend:
            """
            INSERT INTO sends (user_id, type, sent_at, event_source, event_id) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO NOTHING
            """
        case .forgetSends: "DELETE FROM sends WHERE user_id = ?1 AND type = ?2 AND sent_at <= ?3"
        case .takeBackSend: "DELETE FROM sends WHERE user_id = ?1 AND event_source = ?2 AND event_id = ?3"
        case .dropSends: "DELETE FROM sends WHERE sent_at < ?1"
        case .setDigest: "UPDATE notifications SET digest = ?5 WHERE \(Self.key)"
        case .itemsOf: "SELECT items FROM deferred WHERE \(Self.key)"
        case .joinDigest: "UPDATE deferred SET event = ?5, items = items + 1 WHERE \(Self.key)"

        case .insertDeferred:
            """
            INSERT OR REPLACE INTO deferred (day, event_id, event_source, user_id, type, due_at, lane, event, items)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """
        case .isDeferred: "SELECT 1 FROM deferred WHERE id = ?1"
        case .due:
            """
            SELECT id, day, event_id, event_source, user_id, type, due_at, lane, event FROM deferred
            WHERE coalesce(lease_until, due_at) <= ?1 ORDER BY coalesce(lease_until, due_at) LIMIT ?2
            """
        case .leaseDeferred: "UPDATE deferred SET lease_until = ?2, attempt = attempt + 1 WHERE id = ?1"
        case .deleteDeferred: "DELETE FROM deferred WHERE id = ?1"
        case .nextDue: "SELECT min(coalesce(lease_until, due_at)) FROM deferred"
        case .deferredCount: "SELECT count(*) FROM deferred"
        }
    }

    /// The columns of a record, in the order of reading.
    private static let record =
        "n.day, n.event_id, n.event_source, n.user_id, n.type, n.state, n.reason, n.repeats, n.created_at, n.digest, "
        + "n.trace, n.read_at"

    private static let key = "day = ?1 AND event_id = ?2 AND event_source = ?3 AND user_id = ?4"
}
