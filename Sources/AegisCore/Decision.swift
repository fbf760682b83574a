/// What is asked: may this event reach this person now, and how.
package struct DecisionQuestion: Sendable {
    package var event: DomainEvent
    package var rules: NotificationRules
    package var user: UserID
    package var snapshot: RecipientSnapshot
    /// The configured apps; devices of others are left alone.
    package var apps: [AppID: AppRules]
    /// The rendered `thread-id`, for muted threads.
    package var threadID: String?
    /// Whether this is a deferred notification that has come due; its own ledger row does not make it a duplicate.
    package var isDue: Bool
    package var now: UnixTime
    /// How long the ledger remembers; an older event is expired before it is claimed.
    package var retention: Duration
    /// Whether the answer shall say of every rule what it found; the hot path asks only for what changed the outcome.
    package var isTraced: Bool

    package init(
        event: DomainEvent, rules: NotificationRules, user: UserID, snapshot: RecipientSnapshot,
        apps: [AppID: AppRules], threadID: String? = nil, isDue: Bool = false, now: UnixTime, retention: Duration,
        isTraced: Bool = false
    ) {
        self.event = event
        self.rules = rules
        self.user = user
        self.snapshot = snapshot
        self.apps = apps
        self.threadID = threadID
        self.isDue = isDue
        self.now = now
        self.retention = retention
        self.isTraced = isTraced
    }
}

/// What is answered.
package enum Decision: Hashable, Sendable {
    case send(SendPlan)
    case suppress(SuppressionReason, trace: [DecisionStep])
    /// Joins the others of a digest, which takes its place and is decided on when it is due.
    case join(Digest, SuppressionReason, trace: [DecisionStep])
    /// Decide again at `until`, from fresh data.
    case postpone(until: UnixTime, rule: DecisionStep.Rule, trace: [DecisionStep])
    /// Nothing is left to do: the ledger has closed it, or every device it could still go to has its outcome.
    ///
    /// In the second case the ledger row is still open, and whoever asked closes it as sent.
    case duplicate
}

/// A notification that goes out.
package struct SendPlan: Hashable, Sendable {
    /// Where to, at least one; a device whose outcome the ledger has is not among them.
    package var targets: [SendTarget]
    /// Absolute, for retries and `apns-expiration` alike.
    package var expiresAt: UnixTime
    /// The apps whose badge this notification raises.
    package var badgeApps: Set<AppID>
    /// The limit that this notification counts towards; nil where none does, or where it has been counted.
    package var counts: FrequencyLimit?
    package var trace: [DecisionStep]

    package init(
        targets: [SendTarget], expiresAt: UnixTime, badgeApps: Set<AppID>, counts: FrequencyLimit? = nil,
        trace: [DecisionStep]
    ) {
        self.targets = targets
        self.expiresAt = expiresAt
        self.badgeApps = badgeApps
        self.counts = counts
        self.trace = trace
    }
}

/// One device of a notification and how it shall appear there.
package struct SendTarget: Hashable, Sendable {
    package var device: Device
    package var level: InterruptionLevel
    package var sound: SoundRule
    package var badge: BadgeRule

    package init(device: Device, level: InterruptionLevel, sound: SoundRule, badge: BadgeRule) {
        self.device = device
        self.level = level
        self.sound = sound
        self.badge = badge
    }
}

/// One rule that was asked and what it said, in the order of asking.
package struct DecisionStep: Hashable, Sendable {
    /// The rule's short code, as the ledger and `preview` show it.
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        case duplicate
        case age
        case actor
        case expiry
        case schedule
        case typeSwitch = "type"
        case categorySwitch = "category"
        case mute
        case consent
        case quietHours = "quiet_hours"
        case devices
        case authorization
        case frequency
        case level
        case sound
        case badge
        /// Of the rendered text.
        case privacy
    }

    package var rule: Rule
    /// What it found, in words for an operator; no personal data.
    package var finding: String { detail.text }
    private let detail: Detail

    package init(_ rule: Rule, _ finding: String) {
        self.init(rule, .words(finding))
    }

    init(_ rule: Rule, _ detail: Detail) {
        self.rule = rule
        self.detail = detail
    }
}

extension DecisionStep {
    /// What was found, as values: the text of it costs more than the whole decision, and is not always read.
    enum Detail: Hashable, Sendable {
        case words(String)
        /// Words, and the moment that they end in.
        case until(String, UnixTime)
        /// Quiet hours in a zone, their end, and what follows from them.
        case quiet(zone: String, end: UnixTime, String)
        /// A limit that is reached, and what follows from it, with a moment or without.
        case limit(FrequencyLimit, String, UnixTime?)
        /// A level that an app may not use, and the one in its place.
        case lowered(AppKey, from: InterruptionLevel, to: InterruptionLevel)

        var text: String {
            switch self {
            case .words(let words): words
            case .until(let words, let end): "\(words) \(Timestamp.rfc3339(end))"
            case .quiet(let zone, let end, let consequence):
                "quiet in \(zone) until \(Timestamp.rfc3339(end))\(consequence)"
            case .limit(let limit, let consequence, let next):
                "\(limit.max) in \(DurationText.text(limit.per)) were sent\(consequence)"
                    + (next.map { " \(Timestamp.rfc3339($0))" } ?? "")
            case .lowered(let app, let wanted, let level):
                "\(app): \(level.rawValue), as it lacks the entitlement for \(wanted.rawValue)"
            }
        }
    }
}

/// Local time, as quiet hours need it; the calendar lives outside the core.
package protocol LocalTimeRules {
    /// Weekday and minutes after midnight at `time` in an IANA zone; nil for an unknown zone.
    func localTime(at time: UnixTime, in zone: String) -> LocalTime?

    /// The first moment not before `time` at which the wall clock of `zone` shows `minutes` after midnight, skipped times
    /// counting as shown when the clock jumps over them; nil for an unknown zone.
    func next(minutes: Int, after time: UnixTime, in zone: String) -> UnixTime?
}

/// A moment on a wall clock.
package struct LocalTime: Hashable, Sendable {
    package var weekday: Weekday
    /// 0 to 1439.
    package var minutes: Int

    package init(weekday: Weekday, minutes: Int) {
        self.weekday = weekday
        self.minutes = minutes
    }
}

extension DecisionStep {
    /// As the ledger keeps what changed an outcome: `quiet_hours: …; level: …`, at most 512 bytes; nil for nothing.
    package static func text(of steps: [DecisionStep]) -> String? {
        guard !steps.isEmpty else { return nil }
        var text = ""
        for step in steps {
            let next = (text.isEmpty ? "" : "; ") + step.rule.rawValue + ": " + step.finding
            guard text.utf8.count + next.utf8.count <= 512 else { break }
            text += next
        }
        return text.isEmpty ? nil : text
    }
}
