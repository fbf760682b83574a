/// Where a notification, one event for one user, stands in the ledger.
package enum LedgerState: String, Hashable, Sendable, CaseIterable {
    /// Claimed before sending; devices without an outcome are open.
    case claimed
    /// Waits in `deferred`.
    case deferred
    /// Every device has its outcome.
    case sent
    case suppressed
    /// Dead-lettered before any device was tried.
    case rejected

    /// Whether a redelivery finds nothing left to do.
    package var isFinal: Bool {
        switch self {
        case .claimed: false
        case .deferred, .sent, .suppressed, .rejected: true
        }
    }
}

/// What the ledger knows of one notification.
package struct LedgerEntry: Hashable, Sendable {
    package var state: LedgerState
    /// Devices that have their outcome and are not sent to again.
    package var closedDevices: Set<DeviceID>
    /// Whether one of them accepted, so that the badge stays counted.
    package var hasAcceptance: Bool
    /// How many notifications a digest that is not closed stands for; 0 for anything else.
    package var items: Int

    package init(
        state: LedgerState, closedDevices: Set<DeviceID> = [], hasAcceptance: Bool = false, items: Int = 0
    ) {
        self.state = state
        self.closedDevices = closedDevices
        self.hasAcceptance = hasAcceptance
        self.items = items
    }
}

/// Everything that is needed to decide on one notification, read at once.
package struct RecipientSnapshot: Hashable, Sendable {
    /// Registered, neither deleted nor quarantined; newest registration first.
    package var devices: [Device]
    package var preferences: Preferences
    /// Unread by app; an absent app has 0.
    package var badges: [AppID: Int]
    /// When what counts under the type's ``NotificationRules/frequencyKey`` was sent, the oldest first.
    package var recentSends: [UnixTime]
    package var entry: LedgerEntry?

    package init(
        devices: [Device] = [], preferences: Preferences = .default, badges: [AppID: Int] = [:],
        recentSends: [UnixTime] = [], entry: LedgerEntry? = nil
    ) {
        self.devices = devices
        self.preferences = preferences
        self.badges = badges
        self.recentSends = recentSends
        self.entry = entry
    }
}
