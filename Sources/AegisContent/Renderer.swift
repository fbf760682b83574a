package import AegisCore

/// Writes notifications: the catalog's templates filled with an event, as the bytes that APNs takes.
package struct Renderer: Sendable {
    private let defaultLocale: LocaleTag
    /// Texts by type and lower-case locale.
    private let texts: [String: [String: LocalizedText]]
    private let zones = ZoneRules()

    private struct LocalizedText: Sendable {
        let locale: LocaleTag
        let templates: MessageTemplates
    }

    package init(catalog: Catalog) {
        defaultLocale = catalog.defaultLocale
        texts = catalog.types.mapValues { Self.index($0.content) }
    }

    /// The rendered `thread-id`; nil where the type has none.
    ///
    /// - Throws: A rejection of kind `content` for a missing value.
    package func threadID(
        of type: CatalogType, event: DomainEvent, user: UserID
    ) throws(Rejection) -> String? {
        guard let template = type.threadID else { return nil }
        return try template.text(context(event, user, locale: event.locale ?? defaultLocale, zone: nil))
    }

    /// The event's own collapse id, else the type's rendered one; nil leaves it to be derived from event and user.
    ///
    /// It may be longer than the 64 bytes that APNs takes; whoever sends it shortens it.
    ///
    /// - Throws: A rejection of kind `content` for a missing value.
    package func collapseID(
        of type: CatalogType, event: DomainEvent, user: UserID
    ) throws(Rejection) -> String? {
        if let own = event.collapseID { return own }
        guard let template = type.collapseID else { return nil }
        return try template.text(context(event, user, locale: event.locale ?? defaultLocale, zone: nil))
    }

    /// - Throws: A rejection of stage `render`: `content` for missing values, `tooLarge` where trimming the text does not
    ///   help, `configuration` for what the catalog should not have.
    package func render(_ request: RenderRequest) throws(Rejection) -> RenderedPush {
        let preferred = request.target.device.registration.locale ?? request.event.locale ?? defaultLocale
        switch request.type.rules.pushType {
        case .background: return try renderBackground(request, preferred)
        case .alert, .voip: return try renderAlert(request, preferred)
        case .liveactivity:
            throw Rejection(
                kind: .configuration, stage: .render, reason: "a live activity's state cannot be rendered from texts")
        }
    }

    private func renderBackground(
        _ request: RenderRequest, _ preferred: LocaleTag
    ) throws(Rejection) -> RenderedPush {
        let context = context(request.event, request.user, locale: preferred, zone: request.timeZone)
        var writer = PayloadWriter()
        writer.open(nil)
        writer.open("aps")
        writer.member("content-available", raw: "1")
        writer.close()
        let deepLink = try writeRoot(request, context, to: &writer)
        writer.close()
        try fit(&writer, limit: request.type.rules.pushType.payloadLimit)
        return RenderedPush(
            payload: PushPayload(bytes: writer.bytes), title: nil, threadID: nil, deepLink: deepLink, locale: preferred)
    }

    private func renderAlert(_ request: RenderRequest, _ preferred: LocaleTag) throws(Rejection) -> RenderedPush {
        let rules = request.type.rules
        guard let text = text(of: request.type, preferred: preferred) else {
            throw .content("\(rules.name) has no text for the default locale")
        }
        let context = context(
            request.event, request.user, locale: preferred, zone: request.timeZone, language: text.locale)
        let threadID = try threadID(of: request.type, event: request.event, user: request.user)
        var writer = PayloadWriter()
        writer.open(nil)
        writer.open("aps")
        writer.open("alert")
        try writer.text("title", text.templates.title, context)
        try writer.text("subtitle", text.templates.subtitle, context)
        try writer.text("body", text.templates.body, context)
        writer.close()
        writeAps(request, threadID: threadID, to: &writer)
        writer.close()
        let deepLink = try writeRoot(request, context, to: &writer)
        writer.close()
        try fit(&writer, limit: rules.pushType.payloadLimit)
        return RenderedPush(
            payload: PushPayload(bytes: writer.bytes, badgeOffset: writer.badgeOffset),
            title: text.templates.title == nil ? nil : writer.plainText(0), threadID: threadID, deepLink: deepLink,
            locale: text.locale)
    }

    private func writeAps(_ request: RenderRequest, threadID: String?, to writer: inout PayloadWriter) {
        let rules = request.type.rules
        let countsOnDevice = request.app.badge == .client
        switch (request.target.badge, request.app.badge) {
        case (.increment, .server), (.keep, .server): writer.badge()
        case (.none, _), (_, .client), (_, .off): break
        }
        // Where a service extension gives chat its sound, one in the payload would play although the person muted chat.
        if !(countsOnDevice && rules.isChat) {
            switch request.target.sound {
            case .none: break
            case .named(let name): writer.member("sound", name)
            case .critical(let name, let volume):
                writer.open("sound")
                writer.member("critical", raw: "1")
                writer.member("name", name)
                writer.member("volume", raw: Self.thousandths(volume))
                writer.close()
            }
        }
        if let threadID { writer.member("thread-id", threadID) }
        if let category = rules.category { writer.member("category", category) }
        writer.member("interruption-level", request.target.level.rawValue)
        if let relevance = rules.relevance { writer.member("relevance-score", raw: Self.thousandths(relevance)) }
        if rules.isMutableContent || countsOnDevice { writer.member("mutable-content", raw: "1") }
    }

    /// Writes the keys beside `aps` and returns the deep link.
    private func writeRoot(
        _ request: RenderRequest, _ context: TemplateContext, to writer: inout PayloadWriter
    ) throws(Rejection) -> String? {
        let app = request.app
        try writer.root("type", app, request.type.rules.name)
        try writer.root("event_id", app, request.event.identity.id)
        var deepLink: String?
        if let template = request.type.deepLink {
            let link = try DeepLink.render(template, context)
            try writer.root("deep_link", app, link)
            deepLink = link
        }
        try writer.root("recipient", app, request.user.text)
        try writer.root("reason", app, request.type.rules.reason)
        for field in request.type.custom { try writer.root(field.key, app, field.value, context) }
        return deepLink
    }

    /// Trims body, then subtitle, then title until the payload fits, its badge included.
    private func fit(_ writer: inout PayloadWriter, limit: Int) throws(Rejection) {
        let original = writer.size
        for index in writer.texts.indices.reversed() where writer.size > limit {
            let budget = writer.texts[index].range.count - (writer.size - limit)
            let trimmed = TextTrimmer.trim(writer.plainText(index), to: budget)
            // A notification whose only text is gone is none; the first text keeps at least a character.
            if index == 0, trimmed.isEmpty { break }
            writer.replace(index, by: trimmed)
        }
        guard writer.size <= limit else {
            throw Rejection(
                kind: .tooLarge, stage: .render,
                reason: "the payload has \(original) bytes, \(writer.size) without what can be cut; \(limit) are taken")
        }
    }
}

// MARK: Locale and formats

extension Renderer {
    private static func index(_ content: [LocaleTag: MessageTemplates]) -> [String: LocalizedText] {
        var texts: [String: LocalizedText] = [:]
        // Two tags that differ in case alone: which one is used must not change from run to run.
        for (locale, templates) in content.sorted(by: { $0.key.text > $1.key.text }) {
            texts[locale.text.lowercased()] = LocalizedText(locale: locale, templates: templates)
        }
        return texts
    }

    /// Walks `de-AT`, `de`, then the default locale and its parents.
    private func text(of type: CatalogType, preferred: LocaleTag) -> LocalizedText? {
        let texts = texts[type.rules.name] ?? Self.index(type.content)
        for start in [preferred, defaultLocale] {
            var candidate: LocaleTag? = start
            while let tag = candidate {
                if let found = texts[tag.text.lowercased()] { return found }
                candidate = tag.parent
            }
        }
        return nil
    }

    private func context(
        _ event: DomainEvent, _ user: UserID, locale: LocaleTag, zone: String?, language: LocaleTag? = nil
    ) -> TemplateContext {
        TemplateContext(
            event: event, user: user, language: language ?? locale,
            formatter: ValueFormatter(locale: locale, zone: zone, zones: zones))
    }

    /// A fraction without trailing zeros: 700 is 0.7.
    private static func thousandths(_ value: Int) -> String {
        let clamped = min(max(value, 0), 1_000)
        if clamped % 1_000 == 0 { return clamped == 0 ? "0" : "1" }
        var digits = String(clamped)
        while digits.utf8.count < 3 { digits = "0" + digits }
        while digits.last == "0" { digits.removeLast() }
        return "0." + digits
    }
}
