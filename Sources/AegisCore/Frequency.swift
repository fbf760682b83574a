/// How many notifications of a type one person gets in any span of a length.
package struct FrequencyLimit: Hashable, Sendable {
    /// At least 1.
    package var max: Int
    /// The length of the sliding window.
    package var per: Duration

    /// No window is longer, so that what was sent before need not be remembered.
    package static let longestWindow = Duration.seconds(30 * 86_400)

    package init(max: Int, per: Duration) {
        self.max = Swift.max(1, max)
        self.per = per
    }

    /// When a window that holds `sends` admits one more; nil where it does so now.
    ///
    /// - Parameter sends: moments of sending, the oldest first; those that have left the window are passed over.
    package func nextAdmission(after sends: [UnixTime], at now: UnixTime) -> UnixTime? {
        let begin = now.advanced(by: .zero - per)
        var counted = sends.count
        // What stands at the end is the newest, and a moment as old as the window is out of it.
        while counted > 0, sends[sends.count - counted] <= begin { counted -= 1 }
        guard counted >= max else { return nil }
        return sends[sends.count - max].advanced(by: per)
    }
}

/// What becomes of a notification above the limit.
package enum FrequencyOverflow: String, Hashable, Sendable, CaseIterable {
    case drop
    /// Decided again when the window admits one.
    case `defer`
    /// Joined with others of its type into one notification, due when the window admits one.
    case digest
}

/// How often a type may reach one person.
package struct FrequencyRule: Hashable, Sendable {
    package var limit: FrequencyLimit
    package var over: FrequencyOverflow

    package init(limit: FrequencyLimit, over: FrequencyOverflow) {
        self.limit = limit
        self.over = over
    }
}

/// One notification for several of a type: who, which type, and the moment at which the window admits it.
///
/// The same three give the same identity, whichever instance comes upon them, so that the ledger claims it once.
package struct Digest: Hashable, Sendable {
    package let key: NotificationKey
    package let dueAt: UnixTime

    package init(type: String, user: UserID, dueAt: UnixTime) {
        key = NotificationKey(
            event: EventIdentity(source: Self.source, id: "\(type)@\(dueAt.milliseconds)"), user: user, day: dueAt.day)
        self.dueAt = dueAt
    }

    /// No topic has this name, as none may hold a colon.
    private static let source = "aegis:digest"

    /// Whether an event is a digest, and not one of a publisher.
    package static func isDigest(_ event: EventIdentity) -> Bool { event.source == source }
}
