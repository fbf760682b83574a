import AegisContent
import AegisCore
import AegisEvents

/// Shortens what the tests of this target need again and again.
enum Sample {
    static func event(_ data: String = "{}", locale: String? = nil, collapseID: String? = nil) throws -> DomainEvent {
        DomainEvent(
            identity: EventIdentity(source: "s", id: "evt-1"), type: "Shop.OrderPaid",
            occurredAt: UnixTime(milliseconds: 0), recipients: .users([try UserID("user-42")]),
            locale: locale.flatMap { LocaleTag($0) }, collapseID: collapseID,
            data: try JSONScanner.scan(Array(data.utf8)))
    }

    static func type(
        _ content: [String: MessageTemplates], name: String = "order", reason: String = "order",
        category: String? = "CAT", pushType: PushType = .alert, relevance: Int? = nil, deepLink: String? = nil,
        threadID: String? = nil, collapseID: String? = nil, custom: [CustomField] = [],
        trim: [TrimStep] = TrimStep.default
    ) throws -> CatalogType {
        var texts: [LocaleTag: MessageTemplates] = [:]
        for (locale, templates) in content { if let tag = LocaleTag(locale) { texts[tag] = templates } }
        return CatalogType(
            rules: NotificationRules(
                name: name, priority: .high, category: category, reason: reason, interruptionLevel: .active,
                relevance: relevance, pushType: pushType),
            deepLink: try template(deepLink), threadID: try template(threadID), collapseID: try template(collapseID),
            custom: custom, content: texts,
            // Most of these texts are about how sums are spelled.
            privacy: .amountsAllowed, trim: trim)
    }

    static func text(_ title: String?, _ body: String?, subtitle: String? = nil) throws -> MessageTemplates {
        MessageTemplates(title: try template(title), subtitle: try template(subtitle), body: try template(body))
    }

    private static func template(_ source: String?) throws -> Template? {
        guard let source else { return nil }
        return try Template(parsing: source)
    }

    /// The catalog of one type, whose default language is English.
    static func catalog(_ type: CatalogType) throws -> Catalog {
        Catalog(defaultLocale: try locale("en"), categories: [:], types: [type.rules.name: type])
    }

    private struct NoLocale: Error {}

    static func locale(_ text: String) throws -> LocaleTag {
        guard let tag = LocaleTag(text) else { throw NoLocale() }
        return tag
    }

    /// One notification for one device.
    struct Job {
        var type: CatalogType
        var event: DomainEvent
        var user: UserID
        var target: SendTarget
        var app: AppRules
        var zone: String?
        var items = 0

        /// Renders it as the service does, the thread's id first.
        func render(by renderer: Renderer) throws -> RenderedPush {
            let request = renderer.request(type, for: event, to: user, timeZone: zone, items: items)
            return try renderer.render(
                request, threadID: try renderer.threadID(of: request), for: target, of: app)
        }

        func render() throws -> RenderedPush {
            try render(by: Renderer(catalog: Sample.catalog(type)))
        }
    }

    static func job(
        _ type: CatalogType, _ event: DomainEvent, locale: String? = nil, zone: String? = nil,
        level: InterruptionLevel = .active, sound: SoundRule = .named("default"), badge: BadgeRule = .increment,
        mode: BadgeMode = .server, rootKeys: [String: String] = [:]
    ) throws -> Job {
        let app = AppID("com.example.app")
        let user = try UserID("user-42")
        let device = Device(
            id: DeviceID(1),
            registration: DeviceRegistration(
                user: user, app: app, environment: .production, installation: "i", token: try DeviceToken(hex: "ab"),
                authorization: .authorized, locale: locale.flatMap { LocaleTag($0) }),
            registeredAt: UnixTime(milliseconds: 0))
        return Job(
            type: type, event: event, user: user,
            target: SendTarget(device: device, level: level, sound: sound, badge: badge),
            app: AppRules(id: app, badge: mode, rootKeys: rootKeys), zone: zone)
    }

    /// The text that `body` becomes.
    static func body(_ body: String, _ data: String, locale: String = "en", zone: String? = nil) throws -> String {
        let type = try type([locale: text(body, nil)])
        let push = try job(type, event(data), locale: locale, zone: zone).render()
        return push.title ?? ""
    }
}
