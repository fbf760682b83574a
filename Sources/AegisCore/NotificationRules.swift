/// How urgent a type of notification is.
package enum Priority: String, Hashable, Sendable, CaseIterable {
    case critical, high, medium, low

    /// The lane a notification takes when its topic names none that is more urgent.
    package var overridesLane: Lane? { self == .critical ? .urgent : nil }
}

/// How loudly iOS presents a notification.
///
/// - Source: Apple, `UNNotificationInterruptionLevel`.
package enum InterruptionLevel: String, Hashable, Sendable, CaseIterable {
    case passive
    case active
    case timeSensitive = "time-sensitive"
    case critical
}

/// What a type does to the badge.
package enum BadgeRule: String, Hashable, Sendable, CaseIterable {
    /// One more unread; the new count is sent.
    case increment
    /// The count stays and is sent.
    case keep
    /// `aps.badge` is absent.
    case none
}

/// What quiet hours do to a type.
package enum QuietHoursRule: String, Hashable, Sendable, CaseIterable {
    case bypass
    case `defer`
    /// Delivered passive and without sound.
    case silence
    case drop
}

/// Whether a type needs the person's consent to marketing.
package enum ConsentRule: String, Hashable, Sendable, CaseIterable {
    case transactional, marketing
}

/// What the sound of a type is.
package enum SoundRule: Hashable, Sendable {
    case none
    case named(String)
    /// Volume in thousandths, 0 to 1000; needs the critical-alerts entitlement.
    case critical(name: String, volume: Int)
}

/// The rules of one type of notification, as the catalog declares them: what is decided, not what is written.
package struct NotificationRules: Hashable, Sendable {
    package var name: String
    package var priority: Priority
    /// Of the catalog's categories; nil where the type says `none`.
    package var category: String?
    package var reason: String
    package var interruptionLevel: InterruptionLevel
    /// In thousandths, 0 to 1000.
    package var relevance: Int?
    package var sound: SoundRule
    package var badge: BadgeRule
    package var timeToLive: Duration
    package var consent: ConsentRule
    package var isOnByDefault: Bool
    package var quietHours: QuietHoursRule
    /// Nil where nothing limits it.
    package var frequency: FrequencyRule?
    package var isMutableContent: Bool
    package var pushType: PushType

    package init(
        name: String, priority: Priority, category: String?, reason: String, interruptionLevel: InterruptionLevel,
        relevance: Int? = nil, sound: SoundRule = .named("default"), badge: BadgeRule = .increment,
        timeToLive: Duration = .seconds(86_400), consent: ConsentRule = .transactional, isOnByDefault: Bool = true,
        quietHours: QuietHoursRule = .defer, frequency: FrequencyRule? = nil, isMutableContent: Bool = false,
        pushType: PushType = .alert
    ) {
        self.name = name
        self.priority = priority
        self.category = category
        self.reason = reason
        self.interruptionLevel = interruptionLevel
        self.relevance = relevance
        self.sound = sound
        self.badge = badge
        self.timeToLive = timeToLive
        self.consent = consent
        self.isOnByDefault = isOnByDefault
        self.quietHours = quietHours
        self.frequency = frequency
        self.isMutableContent = isMutableContent
        self.pushType = pushType
    }

    /// The reason by which chat is known to the app's service extension.
    package static let chatReason = "chat-message"

    package var isChat: Bool { reason == Self.chatReason }

    /// What the sends of this type are counted under; nil where no limit counts them.
    ///
    /// All background types share the few pushes that iOS lets through to an app in an hour.
    ///
    /// - Source: Apple, "Pushing background updates to your App".
    package var frequencyKey: String? {
        guard frequency != nil, priority != .critical else { return nil }
        return pushType == .background ? "background" : name
    }

    /// `apns-priority`: 10 for critical, high and chat, 5 for the rest and for background.
    package var pushPriority: PushPriority {
        guard pushType != .background else { return .powerAware }
        if isChat { return .immediate }
        switch priority {
        case .critical, .high: return .immediate
        case .medium, .low: return .powerAware
        }
    }
}

/// How the badge of an app is kept.
package enum BadgeMode: String, Hashable, Sendable, CaseIterable {
    /// The store counts unread.
    case server
    /// A service extension counts on the device.
    case client
    case off
}

/// What an app may do and how it is set up, as far as decision and rendering need it.
package struct AppRules: Hashable, Sendable {
    package var id: AppID
    package var badge: BadgeMode
    package var hasTimeSensitive: Bool
    package var hasCriticalAlerts: Bool
    /// The environments that are configured.
    package var environments: Set<PushEnvironment>
    /// New names for root keys of the payload, by the key's own name.
    package var rootKeys: [String: String]

    package init(
        id: AppID, badge: BadgeMode = .server, hasTimeSensitive: Bool = false, hasCriticalAlerts: Bool = false,
        environments: Set<PushEnvironment> = [.production], rootKeys: [String: String] = [:]
    ) {
        self.id = id
        self.badge = badge
        self.hasTimeSensitive = hasTimeSensitive
        self.hasCriticalAlerts = hasCriticalAlerts
        self.environments = environments
        self.rootKeys = rootKeys
    }
}
