/// Answers whether an event reaches a person now, and how: the one place where that is decided.
///
/// Pure, and cheap when not traced: no text is built, and little is allocated but the targets. The first rule that has something to say against it decides, in the order of ``DecisionStep/Rule``:
///
/// 1. the ledger: what it has closed is a duplicate; claimed, or deferred and due, it is decided anew;
/// 2. age beyond retention, own action, expiry, `deliver_at`;
/// 3. what the person asked for: type, category, mute, consent, quiet hours;
/// 4. devices: those of configured apps and environments, of the right kind, authorized, without an outcome so far;
/// 5. frequency: what was sent of the type within its window.
package func decide(_ question: consuming DecisionQuestion, localTime: borrowing some LocalTimeRules) -> Decision {
    var decider = Decider(question: question)
    return decider.decide(localTime: localTime)
}

/// One decision on its way through the rules; each rule answers what ends it, or nil to go on.
///
/// Not copyable, since a question holds some thirty counted values.
private struct Decider: ~Copyable {
    let question: DecisionQuestion
    private let expiresAt: UnixTime
    private var isSilenced = false
    private var trace: Trace

    init(question: consuming DecisionQuestion) {
        trace = Trace(isKept: question.isTraced)
        let begin = max(question.event.occurredAt, question.event.deliverAt ?? question.event.occurredAt)
        let end = begin.advanced(by: question.rules.timeToLive)
        expiresAt = min(end, question.event.expiresAt ?? end)
        self.question = question
    }

    mutating func decide(localTime: borrowing some LocalTimeRules) -> Decision {
        if isDuplicate { return .duplicate }
        if let end = age() ?? actor() ?? expiry() ?? schedule() { return end }
        if let end = typeSwitch() ?? categorySwitch() ?? mute() ?? consent() { return end }
        if let end = quietHours(localTime) { return end }
        return targets()
    }

    private var isCritical: Bool { question.rules.priority == .critical }
    private var isAlert: Bool { question.rules.pushType == .alert }

    // MARK: The event

    private var isDuplicate: Bool {
        guard let entry = question.snapshot.entry else { return false }
        return switch entry.state {
        case .claimed: false
        case .deferred: !question.isDue
        case .sent, .suppressed, .rejected: true
        }
    }

    private mutating func age() -> Decision? {
        guard question.now.since(question.event.occurredAt) > question.retention else {
            trace.note(.age, "within retention")
            return nil
        }
        return trace.suppress(.expired, .age, "older than the ledger remembers")
    }

    private mutating func actor() -> Decision? {
        guard let actor = question.event.actor else { return nil }
        guard actor == question.user else {
            trace.note(.actor, "caused by somebody else")
            return nil
        }
        return trace.suppress(.selfAction, .actor, "caused by the recipient")
    }

    private mutating func expiry() -> Decision? {
        guard expiresAt > question.now else {
            return trace.suppress(.expired, .expiry, .until("expired at", expiresAt))
        }
        trace.note(.expiry, "expires at \(Timestamp.rfc3339(expiresAt))")
        return nil
    }

    private mutating func schedule() -> Decision? {
        guard let deliverAt = question.event.deliverAt else { return nil }
        guard deliverAt > question.now else {
            trace.note(.schedule, "due since its deliver_at")
            return nil
        }
        guard deliverAt < expiresAt else { return trace.suppress(.expired, .schedule, "expires before its deliver_at") }
        trace.changed(.schedule, .until("not due until", deliverAt))
        return .postpone(until: deliverAt, rule: .schedule, trace: trace.steps)
    }

    // MARK: What the person asked for

    private mutating func typeSwitch() -> Decision? {
        let choice = question.snapshot.preferences.types[question.rules.name]
        guard choice ?? question.rules.isOnByDefault else {
            return trace.suppress(.typeOff, .typeSwitch, choice == nil ? "off by default" : "switched off")
        }
        trace.note(.typeSwitch, choice == nil ? "on by default" : "switched on")
        return nil
    }

    private mutating func categorySwitch() -> Decision? {
        guard let category = question.rules.category else { return nil }
        guard question.snapshot.preferences.categories[category] ?? true else {
            return trace.suppress(.categoryOff, .categorySwitch, "\(category) is switched off")
        }
        trace.note(.categorySwitch, "\(category) is on")
        return nil
    }

    private mutating func mute() -> Decision? {
        let isMuted = question.snapshot.preferences.mutedUntil.map { $0 > question.now } ?? false
        let isThreadMuted =
            question.threadID.flatMap { question.snapshot.preferences.mutedThreads[$0] }.map { $0 > question.now }
            ?? false
        guard isMuted || isThreadMuted else {
            trace.note(.mute, "not muted")
            return nil
        }
        guard isCritical else {
            return trace.suppress(.muted, .mute, isMuted ? "everything is muted" : "the thread is muted")
        }
        trace.changed(.mute, "muted, which critical types ignore")
        return nil
    }

    private mutating func consent() -> Decision? {
        switch question.rules.consent {
        case .transactional:
            return nil
        case .marketing:
            guard question.snapshot.preferences.marketing?.isGranted == true else {
                return trace.suppress(.noMarketingConsent, .consent, "no consent to marketing")
            }
            trace.note(.consent, "consent to marketing was granted")
            return nil
        }
    }

    private mutating func quietHours(_ localTime: borrowing some LocalTimeRules) -> Decision? {
        guard let quietHours = question.snapshot.preferences.quietHours, quietHours.isEnabled else { return nil }
        let isIgnored = isCritical || question.rules.quietHours == .bypass
        let zone = zone(of: quietHours, localTime)
        guard let end = quietHours.end(ofQuietAt: question.now, in: zone, until: expiresAt, by: localTime) else {
            trace.note(.quietHours, "not quiet in \(zone)")
            return nil
        }
        if isIgnored {
            trace.changed(
                .quietHours,
                .quiet(
                    zone: zone, end: end, isCritical ? ", which critical types ignore" : ", which this type bypasses"))
            return nil
        }
        switch question.rules.quietHours {
        case .bypass:
            return nil
        case .silence:
            isSilenced = true
            trace.changed(.quietHours, .quiet(zone: zone, end: end, ": passive, no sound"))
            return nil
        case .drop:
            return trace.suppress(.quietHours, .quietHours, .quiet(zone: zone, end: end, ": dropped"))
        case .defer:
            guard end < expiresAt else {
                return trace.suppress(
                    .expired, .quietHours, .quiet(zone: zone, end: end, ", after its expiry"))
            }
            trace.changed(.quietHours, .quiet(zone: zone, end: end, ""))
            return .postpone(until: end, rule: .quietHours, trace: trace.steps)
        }
    }

    /// The person's own zone, else the newest device's that names one, else UTC; one the calendar does not know is passed over.
    private func zone(of quietHours: QuietHours, _ localTime: borrowing some LocalTimeRules) -> String {
        if let zone = quietHours.timeZone, localTime.localTime(at: question.now, in: zone) != nil { return zone }
        for device in question.snapshot.devices {
            guard let zone = device.registration.timeZone else { continue }
            if localTime.localTime(at: question.now, in: zone) != nil { return zone }
        }
        return "UTC"
    }

    // MARK: Devices

    private mutating func targets() -> Decision {
        let entry = question.snapshot.entry
        var targets: [SendTarget] = []
        targets.reserveCapacity(question.snapshot.devices.count)
        var badgeApps: Set<AppID> = []
        var reachable = 0
        var authorized = 0
        for index in question.snapshot.devices.indices {
            guard let app = app(ofDeviceAt: index) else { continue }
            reachable += 1
            let authorization = question.snapshot.devices[index].registration.authorization
            guard !isAlert || question.snapshot.devices[index].showsAlerts(at: question.now) else { continue }
            authorized += 1
            if let entry, entry.closedDevices.contains(question.snapshot.devices[index].id) { continue }
            let badge = badge(for: app)
            if badge == .increment { badgeApps.insert(app.id) }
            targets.append(
                SendTarget(
                    device: question.snapshot.devices[index], level: level(for: app),
                    sound: sound(authorization, of: app), badge: badge))
        }
        guard !targets.isEmpty else {
            // Some device has its outcome and no other is left: the notification is done, not suppressed.
            if let entry, !entry.closedDevices.isEmpty { return .duplicate }
            guard reachable > 0 else { return trace.suppress(.noDevice, .devices, "no device of a configured app") }
            trace.note(.devices, "\(reachable) in reach")
            return trace.suppress(.notAuthorized, .authorization, "no device may show alerts")
        }
        noteReach(reachable: reachable, authorized: authorized, open: targets.count)
        if let end = frequency() { return end }
        noteTargets(targets)
        return .send(
            SendPlan(
                targets: targets, expiresAt: expiresAt, badgeApps: badgeApps, counts: isCounted ? nil : limit,
                trace: trace.steps))
    }

    // MARK: Frequency

    /// The person's own limit, else the catalog's.
    private var limit: FrequencyLimit? {
        guard let rule = question.rules.frequency, !isCritical else { return nil }
        return question.snapshot.preferences.frequencies[question.rules.name] ?? rule.limit
    }

    /// Whether the ledger has admitted it already: a redelivery of what is claimed is the same send.
    private var isCounted: Bool { question.snapshot.entry?.state == .claimed }

    private mutating func frequency() -> Decision? {
        guard let limit, let over = question.rules.frequency?.over else { return nil }
        guard !isCounted else {
            trace.note(.frequency, "counted when it was claimed")
            return nil
        }
        guard let admission = limit.nextAdmission(after: question.snapshot.recentSends, at: question.now) else {
            trace.note(.frequency, "fewer than \(limit.max) in \(DurationText.text(limit.per))")
            return nil
        }
        if over == .drop { return trace.suppress(.frequencyCap, .frequency, .limit(limit, "", nil)) }
        guard admission < expiresAt else {
            return trace.suppress(.expired, .frequency, .limit(limit, "; the next may go after its expiry", nil))
        }
        trace.changed(.frequency, .limit(limit, "; the next may go at", admission))
        // A digest that comes too early waits; it does not join another, whose number would not be known here.
        guard over == .digest, !Digest.isDigest(question.event.identity) else {
            return .postpone(until: admission, rule: .frequency, trace: trace.steps)
        }
        return .join(
            Digest(type: question.rules.name, user: question.user, dueAt: admission),
            isAlert ? .digested : .silentThrottle,
            trace: trace.steps)
    }

    /// The app of a device that this notification may go to; nil for any other.
    private func app(ofDeviceAt index: Int) -> AppRules? {
        guard question.snapshot.devices[index].registration.kind == question.rules.pushType.deviceKind else {
            return nil
        }
        let key = question.snapshot.devices[index].registration.key
        if let only = question.event.app, only != key.app { return nil }
        guard let app = question.apps[key.app], app.environments.contains(key.environment) else { return nil }
        return app
    }

    private func level(for app: AppRules) -> InterruptionLevel {
        if isSilenced { return .passive }
        switch question.rules.interruptionLevel {
        case .passive: return .passive
        case .active: return .active
        case .timeSensitive: return app.hasTimeSensitive ? .timeSensitive : .active
        case .critical:
            if app.hasCriticalAlerts { return .critical }
            return app.hasTimeSensitive ? .timeSensitive : .active
        }
    }

    private func sound(_ authorization: Authorization, of app: AppRules) -> SoundRule {
        guard isAlert, !isSilenced, authorization != .provisional else { return .none }
        if question.rules.isChat {
            return app.badge != .client && question.snapshot.preferences.playSoundChat
                ? .named(NotificationRules.chatSound) : .none
        }
        switch question.rules.sound {
        case .none, .named: return question.rules.sound
        case .critical(let name, _): return app.hasCriticalAlerts ? question.rules.sound : .named(name)
        }
    }

    private func badge(for app: AppRules) -> BadgeRule {
        guard isAlert else { return .none }
        switch app.badge {
        case .server: return question.rules.badge
        case .client, .off: return .none
        }
    }

    // MARK: Trace

    private mutating func noteReach(reachable: Int, authorized: Int, open: Int) {
        trace.note(.devices, "\(reachable) of \(question.snapshot.devices.count) in reach")
        trace.note(.authorization, "\(authorized) may receive it, \(authorized - open) of them have their outcome")
    }

    private mutating func noteTargets(_ targets: [SendTarget]) {
        for index in targets.indices where targets[index].level != question.rules.interruptionLevel && !isSilenced {
            let app = targets[index].device.registration.key
            // Once for each app: the newest devices stand first, and those of one app mostly together.
            if index > 0, targets[index - 1].device.registration.key == app { continue }
            trace.changed(
                .level, .lowered(app, from: question.rules.interruptionLevel, to: targets[index].level))
        }
        guard question.isTraced else { return }
        for target in targets {
            let app = target.device.registration.key
            trace.note(.level, "\(app): \(target.level.rawValue)")
            trace.note(.sound, "\(app): \(Self.word(for: target.sound))")
            trace.note(.badge, "\(app): \(target.badge.rawValue)")
        }
    }

    private static func word(for sound: SoundRule) -> String {
        switch sound {
        case .none: "none"
        case .named(let name): name
        case .critical(let name, _): "\(name), critical"
        }
    }
}

/// The steps of one decision: those that changed its outcome, and all of them if somebody asked.
private struct Trace {
    let isKept: Bool
    private(set) var steps: [DecisionStep] = []

    init(isKept: Bool) {
        self.isKept = isKept
    }

    mutating func note(_ rule: DecisionStep.Rule, _ finding: @autoclosure () -> String) {
        guard isKept else { return }
        steps.append(DecisionStep(rule, finding()))
    }

    /// A step that made the outcome another than it would have been.
    mutating func changed(_ rule: DecisionStep.Rule, _ detail: DecisionStep.Detail) {
        steps.append(DecisionStep(rule, detail))
    }

    mutating func changed(_ rule: DecisionStep.Rule, _ finding: String) { changed(rule, .words(finding)) }

    mutating func suppress(_ reason: SuppressionReason, _ rule: DecisionStep.Rule, _ finding: String) -> Decision {
        suppress(reason, rule, .words(finding))
    }

    mutating func suppress(
        _ reason: SuppressionReason, _ rule: DecisionStep.Rule, _ detail: DecisionStep.Detail
    ) -> Decision {
        changed(rule, detail)
        return .suppress(reason, trace: steps)
    }
}

extension NotificationRules {
    /// What chat plays where the person wants it.
    package static let chatSound = "dm.aiff"
}

extension PushType {
    /// Which of a device's tokens pushes of this type go to.
    package var deviceKind: DeviceKind {
        switch self {
        case .alert, .background: .device
        case .voip: .voip
        case .liveactivity: .liveactivity
        }
    }
}
