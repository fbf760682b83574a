import AegisCore
import Synchronization

/// The newest unread counts this process knows, of people with pushes in flight: a push is stamped from here when it is handed
/// to the transport, so a late one never carries an old number.
package final class BadgeBoard: Sendable {
    private struct Key: Hashable {
        let user: UserID
        let app: AppID
    }

    private struct Entry {
        var count: Int
        var pushes: Int
    }

    private let entries = Mutex<[Key: Entry]>([:])

    package init() {}

    /// One more push of this user and app is on its way, and this is the count now.
    func retain(_ user: UserID, _ app: AppID, count: Int) {
        let key = Key(user: user, app: app)
        entries.withLock { entries in
            let pushes = entries[key]?.pushes ?? 0
            entries[key] = Entry(count: count, pushes: pushes + 1)
        }
    }

    /// A push has come to its end.
    func release(_ user: UserID, _ app: AppID) {
        let key = Key(user: user, app: app)
        entries.withLock { entries in
            guard var entry = entries[key] else { return }
            entry.pushes -= 1
            entries[key] = entry.pushes > 0 ? entry : nil
        }
    }

    /// Whether a push that carries this count has not come to its end.
    func isOnItsWay(to user: UserID, _ app: AppID) -> Bool {
        entries.withLock { $0[Key(user: user, app: app)] != nil }
    }

    func count(of user: UserID, _ app: AppID) -> Int {
        entries.withLock { $0[Key(user: user, app: app)]?.count ?? 0 }
    }

    /// The count became known by another way: the app was opened, or a badge was set.
    func update(_ user: UserID, _ app: AppID, count: Int) {
        entries.withLock { $0[Key(user: user, app: app)]?.count = count }
    }
}
