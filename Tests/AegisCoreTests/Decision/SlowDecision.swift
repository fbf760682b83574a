import AegisCore

/// The rules of a decision written down a second time, slow and obvious: every fact first, then the first that objects.
struct SlowDecision {
    let question: DecisionQuestion
    let zones: JumpingZones

    private var event: DomainEvent { question.event }
    private var rules: NotificationRules { question.rules }
    private var preferences: Preferences { question.snapshot.preferences }
    private var now: Int64 { question.now.milliseconds }

    func answer() -> Decision {
        let objections: [(holds: Bool, answer: Decision)] = [
            (isClosed, .duplicate),
            (now - event.occurredAt.milliseconds > question.retention.wholeMilliseconds, suppressed(.expired)),
            (event.actor == question.user, suppressed(.selfAction)),
            (now >= expiry, suppressed(.expired)),
            (isEarly && deliverAt >= expiry, suppressed(.expired)),
            (isEarly, .postpone(until: UnixTime(milliseconds: deliverAt), rule: .schedule, trace: [])),
            (!isSwitchedOn, suppressed(.typeOff)),
            (isCategoryOff, suppressed(.categoryOff)),
            (isMuted && rules.priority != .critical, suppressed(.muted)),
            (rules.consent == .marketing && preferences.marketing?.isGranted != true, suppressed(.noMarketingConsent)),
            (quietRule == .drop, suppressed(.quietHours)),
            (quietRule == .defer && quietEnd == nil, suppressed(.expired)),
            (quietRule == .defer, .postpone(until: quietEnd ?? .noon, rule: .quietHours, trace: [])),
            (open.isEmpty && question.snapshot.entry?.closedDevices.isEmpty == false, .duplicate),
            (reachable.isEmpty, suppressed(.noDevice)),
            (allowed.isEmpty, suppressed(.notAuthorized)),
            (isOverLimit && rules.frequency?.over == .drop, suppressed(.frequencyCap)),
            (isOverLimit && admission >= expiry, suppressed(.expired)),
            (isOverLimit && joinsDigest, .join(digest, isSilent ? .silentThrottle : .digested, trace: [])),
            (isOverLimit, .postpone(until: UnixTime(milliseconds: admission), rule: .frequency, trace: [])),
        ]
        return objections.first(where: \.holds)?.answer ?? .send(plan)
    }

    private func suppressed(_ reason: SuppressionReason) -> Decision { .suppress(reason, trace: []) }

    // MARK: Facts about the event and the person

    private var isClosed: Bool {
        guard let state = question.snapshot.entry?.state else { return false }
        return state.isFinal && !(state == .deferred && question.isDue)
    }

    private var deliverAt: Int64 { event.deliverAt?.milliseconds ?? .min }
    private var isEarly: Bool { deliverAt > now }

    private var expiry: Int64 {
        let ends = [
            max(event.occurredAt.milliseconds, deliverAt) + rules.timeToLive.wholeMilliseconds,
            event.expiresAt?.milliseconds ?? .max,
        ]
        return ends.min() ?? 0
    }

    private var isSwitchedOn: Bool {
        preferences.types.first { $0.key == rules.name }?.value ?? rules.isOnByDefault
    }

    private var isCategoryOff: Bool {
        preferences.categories.contains { $0.key == rules.category && $0.value == false }
    }

    private var isMuted: Bool {
        let thread = preferences.mutedThreads.first { $0.key == question.threadID }?.value
        return [preferences.mutedUntil, thread].contains { $0 != nil && ($0?.milliseconds ?? 0) > now }
    }

    // MARK: Frequency

    private var limit: FrequencyLimit? {
        guard let rule = rules.frequency, rules.priority != .critical else { return nil }
        return preferences.frequencies.first { $0.key == rules.name }?.value ?? rule.limit
    }

    private var isClaimed: Bool { question.snapshot.entry?.state == .claimed }

    /// Moments of sending within the window, by looking at each.
    private var counted: [Int64] {
        let length = limit?.per.wholeMilliseconds ?? 0
        return question.snapshot.recentSends.map(\.milliseconds).filter { now - $0 < length }
    }

    private var isOverLimit: Bool { limit.map { counted.count >= $0.max && !isClaimed } ?? false }

    /// The first moment, of those at which a send leaves the window, at which fewer than the limit are in it.
    private var admission: Int64 {
        guard let limit else { return now }
        let length = limit.per.wholeMilliseconds
        return counted.map { $0 + length }.sorted().first { moment in
            counted.count { moment - $0 < length } < limit.max
        } ?? now
    }

    private var joinsDigest: Bool { rules.frequency?.over == .digest && event.identity.source != "aegis:digest" }
    private var isSilent: Bool { rules.pushType != .alert }
    private var digest: Digest {
        Digest(type: rules.name, user: question.user, dueAt: UnixTime(milliseconds: admission))
    }

    // MARK: Quiet hours, minute by minute

    /// What quiet hours do to this one now; nil where nothing is quiet or nobody cares.
    private var quietRule: QuietHoursRule? {
        guard isQuiet(at: question.now), rules.priority != .critical else { return nil }
        return rules.quietHours
    }

    /// The first minute that is not quiet; nil when it does not come before the expiry.
    private var quietEnd: UnixTime? {
        var moment = question.now
        while isQuiet(at: moment) {
            moment = moment.nextMinute
            if moment.milliseconds >= expiry { return nil }
        }
        return moment
    }

    private func isQuiet(at moment: UnixTime) -> Bool {
        guard let hours = preferences.quietHours, hours.isEnabled else { return false }
        let named = [hours.timeZone] + question.snapshot.devices.map(\.registration.timeZone) + ["UTC"]
        let zone = named.compactMap { $0 }.first { zones.zones[$0] != nil } ?? "UTC"
        guard let local = zones.localTime(at: moment, in: zone) else { return false }
        let days = Weekday.allCases
        let minuteOfWeek = (days.firstIndex(of: local.weekday) ?? 0) * 1_440 + local.minutes
        return hours.windows.contains { window in
            window.days.contains { day in
                let begin = (days.firstIndex(of: day) ?? 0) * 1_440 + window.start
                let length = window.end > window.start ? window.end - window.start : window.end - window.start + 1_440
                let span = begin..<(begin + length)
                return span.contains(minuteOfWeek) || span.contains(minuteOfWeek + 7 * 1_440)
            }
        }
    }

    // MARK: Devices

    private var reachable: [Device] {
        question.snapshot.devices
            .filter { event.app == nil || event.app == $0.registration.app }
            .filter { question.apps[$0.registration.app]?.environments.contains($0.registration.environment) == true }
            .filter { device in
                switch rules.pushType {
                case .alert, .background: device.registration.kind == .device
                case .voip: device.registration.kind == .voip
                case .liveactivity: device.registration.kind == .liveactivity
                }
            }
    }

    private var allowed: [Device] {
        reachable.filter { device in
            if rules.pushType != .alert { return true }
            switch device.registration.authorization {
            case .authorized, .provisional: return true
            case .ephemeral: return now - device.registeredAt.milliseconds <= 8 * 3_600_000
            case .denied, .notDetermined: return false
            }
        }
    }

    private var open: [Device] {
        allowed.filter { question.snapshot.entry?.closedDevices.contains($0.id) != true }
    }

    private var plan: SendPlan {
        let targets = open.map(target)
        let raised = targets.filter { $0.badge == .increment }.map(\.device.registration.app)
        return SendPlan(
            targets: targets, expiresAt: UnixTime(milliseconds: expiry), badgeApps: Set(raised),
            counts: isClaimed ? nil : limit, trace: [])
    }

    private func target(_ device: Device) -> SendTarget {
        let app = question.apps[device.registration.app] ?? AppRules(id: device.registration.app)
        return SendTarget(device: device, level: level(app), sound: sound(device, app), badge: badge(app))
    }

    private func level(_ app: AppRules) -> InterruptionLevel {
        // From the wanted one downwards, the first that the app may use.
        let ladder: [InterruptionLevel] = [.critical, .timeSensitive, .active, .passive]
        let wanted = quietRule == .silence ? .passive : rules.interruptionLevel
        let permitted = ladder.drop { $0 != wanted }.first { level in
            switch level {
            case .critical: app.hasCriticalAlerts
            case .timeSensitive: app.hasTimeSensitive
            case .active, .passive: true
            }
        }
        return permitted ?? .passive
    }

    private func sound(_ device: Device, _ app: AppRules) -> SoundRule {
        if rules.pushType != .alert || quietRule == .silence { return .none }
        if device.registration.authorization == .provisional { return .none }
        if rules.reason == "chat-message" {
            return preferences.playSoundChat && [.server, .off].contains(app.badge) ? .named("dm.aiff") : .none
        }
        if case .critical(let name, _) = rules.sound, !app.hasCriticalAlerts { return .named(name) }
        return rules.sound
    }

    private func badge(_ app: AppRules) -> BadgeRule {
        rules.pushType == .alert && app.badge == .server ? rules.badge : .none
    }
}
