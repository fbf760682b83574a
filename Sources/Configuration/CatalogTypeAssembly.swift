import AegisContent
import AegisCore

/// Makes one type of the catalog from its settings.
struct CatalogTypeAssembly {
    /// Root keys of the payload that are ours or Apple's.
    private static let reservedKeys = ["aps", "type", "event_id", "deep_link", "recipient", "reason"]

    let name: String
    let section: Section
    /// The ids of the catalog's categories.
    let categories: [String]
    let defaultLocale: LocaleTag?
    /// Nil where they are unknown.
    let apps: [AppRules]?
    /// Nil where it is unknown.
    let retention: Duration?
    var problems: [Problem]
    /// Paths that no text uses.
    var sensitive: [String] = []

    mutating func type(matches: [String]) -> CatalogType {
        let problemsBefore = problems.count
        let isBackground = section.text("push_type") == PushType.background.rawValue
        let priority = section.choice("priority", or: Priority.medium)
        readSensitive()
        let rules = NotificationRules(
            name: name, priority: priority, category: category(isBackground: isBackground),
            reason: section.textIfSet("reason") ?? name,
            interruptionLevel: section.choice(
                "interruption_level", or: Self.interruptionLevel(of: priority, isBackground: isBackground)),
            relevance: section.numberIfSet("relevance_score"), sound: sound(isBackground: isBackground),
            badge: section.choice("badge", or: isBackground ? BadgeRule.none : .increment),
            timeToLive: section.duration("ttl"), consent: section.choice("consent", or: .transactional),
            isOnByDefault: section.boolean("default"),
            quietHours: section.choice("quiet_hours", or: isBackground || priority == .critical ? .bypass : .defer),
            frequency: frequency(of: priority, isBackground: isBackground),
            isMutableContent: section.boolean("mutable_content"), pushType: isBackground ? .background : .alert)
        let type = CatalogType(
            rules: rules, matches: matches, deepLink: deepLink(isBackground: isBackground),
            threadID: identifier(section.setting("thread_id")), collapseID: identifier(section.setting("collapse_id")),
            custom: custom(), content: messages("content"), fallback: messages("fallback"), digest: messages("digest"),
            privacy: section.choice("privacy", or: .strict), sensitive: sensitive, trim: trim())
        checkDigest(type)
        checkPrivacy(of: type)
        if isBackground {
            checkBackground(rules)
        } else {
            checkVisible(type)
        }
        // What single keys show is reported there alone.
        if problems.count == problemsBefore, let problem = rules.headerProblem {
            problems.report(problem, at: section.place(of: "push_type"))
        }
        if let retention, rules.timeToLive > retention {
            problems.report(
                "\(ScalarText.text(rules.timeToLive)) is longer than the ledger remembers",
                at: section.place(of: "ttl"),
                remedy: "store.retention is \(ScalarText.text(retention))")
        }
        return type
    }

    /// A silent push presents nothing; a critical one is still lowered where the app has no entitlement.
    private static func interruptionLevel(of priority: Priority, isBackground: Bool) -> InterruptionLevel {
        guard !isBackground else { return .passive }
        switch priority {
        case .critical: return .timeSensitive
        case .high, .medium: return .active
        case .low: return .passive
        }
    }

    private mutating func category(isBackground: Bool) -> String? {
        guard let category = section.textIfSet("category") else {
            if !isBackground, !section.has("category") {
                problems.report(
                    "is required", at: section.place(of: "category"), remedy: "name a category, or write none")
            }
            return nil
        }
        guard category != "none" else { return nil }
        if !categories.contains(category) {
            problems.report(
                "unknown category \"\(category)\"", at: section.place(of: "category"),
                remedy: Spelling.question(category, among: categories + ["none"]))
        }
        return category
    }

    private mutating func deepLink(isBackground: Bool) -> Template? {
        guard let setting = section.setting("deep_link") else {
            if !isBackground {
                problems.report(
                    "is required", at: section.place(of: "deep_link"), remedy: "write where a tap leads, or none")
            }
            return nil
        }
        guard setting.text != "none", let link = identifier(setting) else { return nil }
        if let problem = DeepLink.problem(in: link) { problems.report(problem, at: setting.place) }
        return link
    }

    private mutating func trim() -> [TrimStep] {
        guard section.has("trim") else { return TrimStep.default }
        let custom = section.table("custom").map { "custom.\($0.key)" }
        let known = AlertText.allCases.map(\.rawValue) + custom
        var steps: [TrimStep] = []
        for setting in section.list("trim") {
            guard let name = setting.text else { continue }
            if let text = AlertText(rawValue: name) {
                steps.append(.text(text))
            } else if custom.contains(name) {
                steps.append(.custom(String(name.dropFirst("custom.".count))))
            } else {
                problems.report(
                    "nothing called \"\(name)\" can be given up", at: setting.place,
                    remedy: Spelling.question(name, among: known))
            }
        }
        return steps
    }

    private mutating func sound(isBackground: Bool) -> SoundRule {
        if let sound = section.sectionIfSet("sound") {
            let name = sound.text("name")
            return sound.boolean("critical") ? .critical(name: name, volume: sound.number("volume")) : .named(name)
        }
        guard let name = section.textIfSet("sound") else { return isBackground ? .none : .named("default") }
        return name == "none" ? .none : .named(name)
    }

    private mutating func custom() -> [CustomField] {
        var fields: [CustomField] = []
        for (key, setting) in section.table("custom") {
            if Self.reservedKeys.contains(key) {
                problems.report("is a key of every payload", at: setting.place, remedy: "choose another name")
            }
            if let value = template(setting, mayCount: true) { fields.append(CustomField(key: key, value: value)) }
        }
        return fields
    }

    private mutating func checkBackground(_ rules: NotificationRules) {
        if rules.priority == .critical {
            problems.report(
                "a background push is never critical", at: section.place(of: "priority"),
                remedy: "iOS may hold it back for hours")
        }
        if section.has("interruption_level"), rules.interruptionLevel == .critical {
            problems.report("a background push is never critical", at: section.place(of: "interruption_level"))
        }
        if section.has("sound"), rules.sound != .none {
            problems.report("a background push has no sound", at: section.place(of: "sound"), remedy: "leave it out")
        }
        if section.has("badge"), rules.badge != .none {
            problems.report("a background push has no badge", at: section.place(of: "badge"), remedy: "leave it out")
        }
        if !section.table("content").isEmpty {
            problems.report("a background push shows no text", at: section.place(of: "content"), remedy: "leave it out")
        }
    }

    private mutating func checkVisible(_ type: CatalogType) {
        let rules = type.rules
        if let defaultLocale {
            if type.content[defaultLocale] == nil, section.setting("content")?.isReadable ?? true {
                problems.report("wants texts in \(defaultLocale), the default locale", at: section.place(of: "content"))
            }
            if rules.priority == .critical, type.fallback[defaultLocale] == nil,
                section.setting("fallback")?.isReadable ?? true
            {
                problems.report(
                    "a critical type wants a neutral text in \(defaultLocale)", at: section.place(of: "fallback"),
                    remedy: "it is sent where the rendered text may not be shown")
            }
        }
        checkEntitlements(rules)
    }

    private mutating func checkEntitlements(_ rules: NotificationRules) {
        guard let apps else { return }
        let hasCriticalAlerts = apps.contains { $0.hasCriticalAlerts }
        if rules.interruptionLevel == .critical, !hasCriticalAlerts {
            problems.report(
                "no app has the entitlement critical-alerts", at: section.place(of: "interruption_level"),
                remedy: "use time-sensitive")
        }
        if case .critical = rules.sound, !hasCriticalAlerts {
            problems.report(
                "no app has the entitlement critical-alerts", at: section.place(of: "sound"),
                remedy: "write the file's name alone")
        }
        if rules.interruptionLevel == .timeSensitive, !apps.contains(where: { $0.hasTimeSensitive }) {
            problems.warn(
                "no app has the entitlement time-sensitive, so it is presented as active",
                at: section.place(of: "interruption_level"))
        }
    }
}
