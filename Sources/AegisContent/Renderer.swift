package import AegisCore

/// Writes notifications: the catalog's templates filled with an event, as the bytes that APNs takes.
///
/// Everything that can be known before an event comes is compiled when the renderer is made; what Foundation says of locales,
/// zones and days is kept. One notification for one device is one buffer, written from front to back.
package struct Renderer: Sendable {
    private let defaultLocale: LocaleTag
    private let locales: [LocaleTag]
    private let types: [String: CompiledType]
    private let readers: ReaderLocales
    private let zones: ZoneRules
    private let apps: [AppRules]
    private let privacyGuard = PrivacyGuard()

    /// - Parameters:
    ///   - apps: Those whose names for root keys are compiled beforehand; others are served as well.
    ///   - zones: Shared with whoever decides, so that each zone is looked up once.
    package init(catalog: Catalog, apps: [AppRules] = [], zones: ZoneRules = ZoneRules()) {
        defaultLocale = catalog.defaultLocale
        // Two tags that differ in case alone: which one is used must not change from run to run.
        let locales = Set(catalog.types.values.flatMap(\.locales)).sorted { $0.text < $1.text }
        self.locales = locales
        types = catalog.types.mapValues { CompiledType($0, locales: locales, apps: apps) }
        readers = ReaderLocales(locales, default: catalog.defaultLocale)
        self.zones = zones
        self.apps = apps
    }

    /// What is rendered for each device of one person.
    ///
    /// - Parameters:
    ///   - timeZone: The person's IANA zone; nil or unknown takes UTC.
    ///   - items: How many notifications a digest stands for; with one it reads as that one.
    package func request(
        _ type: CatalogType, for event: DomainEvent, to user: UserID, timeZone: String?, items: Int = 0
    ) -> RenderRequest {
        RenderRequest(
            type: types[type.rules.name] ?? CompiledType(type, locales: locales, apps: apps),
            values: TemplateValues(event: event, user: user, timeZone: timeZone, items: items))
    }

    /// The rendered `thread-id`, the same for all devices; nil where the type has none.
    ///
    /// - Throws: A rejection of kind `content` for a missing value.
    package func threadID(of request: RenderRequest) throws(Rejection) -> String? {
        guard let template = request.type.threadID else { return nil }
        return try template.text(request.values, neutralSpelling(request))
    }

    /// The event's own collapse id, else the type's rendered one; nil leaves it to be derived from event and user.
    ///
    /// It may be longer than the 64 bytes that APNs takes; whoever sends it shortens it.
    ///
    /// - Throws: A rejection of kind `content` for a missing value.
    package func collapseID(of request: RenderRequest) throws(Rejection) -> String? {
        if let own = request.values.event.collapseID { return own }
        guard let template = request.type.collapseID else { return nil }
        return try template.text(request.values, neutralSpelling(request))
    }

    /// The payload for one device.
    ///
    /// - Parameter threadID: As ``threadID(of:)`` gave it.
    /// - Throws: A rejection of stage `render`: `content` for missing values, `tooLarge` where trimming the text does not
    ///   help, `privacy` for a text that may not be shown and has no neutral one in its place, `configuration` for what the
    ///   catalog should not have.
    package func render(
        _ request: RenderRequest, threadID: String?, for target: SendTarget, of app: AppRules
    ) throws(Rejection) -> RenderedPush {
        let type = request.type
        if let problem = type.problem { throw problem }
        let preferred = target.device.registration.locale ?? request.values.event.locale ?? defaultLocale
        let reader = readers.reader(of: preferred)
        guard type.rules.pushType != .background else {
            return try render(request, nil, reader, preferred, threadID, for: target, of: app, refused: nil).push
        }
        let isDigest = request.values.items > 1 && type.hasDigest
        guard let texts = reader.best(of: isDigest ? type.digests : type.texts) else {
            throw .content("\(type.rules.name) has no text for the default locale")
        }
        let (push, visible) = try render(
            request, texts, reader, preferred, threadID, for: target, of: app, refused: nil)
        guard let finding = privacyGuard.finding(in: visible.span, rule: type.privacy) else { return push }
        guard let neutral = reader.best(of: type.fallbacks) else { throw .privacy(finding) }
        let (replacement, shown) = try render(
            request, neutral, reader, preferred, threadID, for: target, of: app, refused: finding)
        if let finding = privacyGuard.finding(in: shown.span, rule: type.privacy) { throw .privacy(finding) }
        return replacement
    }

    /// - Returns: The push, and what of it a person reads.
    private func render(
        _ request: RenderRequest, _ texts: CompiledType.Texts?, _ reader: ReaderLocales.Reader,
        _ preferred: LocaleTag, _ threadID: String?, for target: SendTarget, of app: AppRules,
        refused: PrivacyFinding?
    ) throws(Rejection) -> (push: RenderedPush, visible: [UInt8]) {
        let type = request.type
        let limit = type.rules.pushType.payloadLimit
        let spelling = TemplateSpelling(
            formats: reader.formats, plurals: texts?.plurals ?? reader.plurals, zones: zones)
        var writer = PayloadWriter()
        try write(request, texts, spelling, threadID, target, app, isNoting: false, to: &writer)
        // Screened before it is trimmed: a number that is cut is still most of a number.
        let visible = texts == nil ? [] : writer.visibleText
        if writer.size > limit {
            // Written again with notes: so few are too large that the others need not pay for them.
            writer = PayloadWriter()
            try write(request, texts, spelling, threadID, target, app, isNoting: true, to: &writer)
            try writer.fit(limit, by: type.trim)
        }
        let push = RenderedPush(
            payload: PushPayload(bytes: writer.bytes, badgeOffset: writer.badgeOffset),
            threadID: texts == nil ? nil : threadID, locale: texts?.locale ?? preferred, refused: refused,
            titleRange: writer.titleRange, deepLinkRange: writer.deepLink)
        return (push, visible)
    }

    /// For ids that are the same for all devices: in the event's language, without a zone.
    private func neutralSpelling(_ request: RenderRequest) -> TemplateSpelling {
        let reader = readers.reader(of: request.values.event.locale ?? defaultLocale)
        return TemplateSpelling(formats: reader.formats, plurals: reader.plurals, zones: zones)
    }
}

// MARK: Writing

extension Renderer {
    private static let alertStart = Array(#"{"aps":{"alert":{"#.utf8)
    private static let background = Array(#"{"aps":{"content-available":1}"#.utf8)
    private static let badge = Array(#","badge":"#.utf8)
    private static let threadID = Array(#","thread-id":""#.utf8)
    private static let levelStart = Array(#","interruption-level":""#.utf8)
    private static let mutableContent = Array(#","mutable-content":1"#.utf8)
    private static let brace = Array("}".utf8)
    private static let bracket = Array("]".utf8)
    private static let comma = Array(",".utf8)

    private func write(
        _ request: RenderRequest, _ texts: CompiledType.Texts?, _ spelling: borrowing TemplateSpelling,
        _ threadID: String?, _ target: SendTarget, _ app: AppRules, isNoting: Bool, to writer: inout PayloadWriter
    ) throws(Rejection) {
        if let texts {
            writer.append(Self.alertStart)
            for part in texts.parts { try write(part, request, spelling, to: &writer) }
            writer.append(Self.brace)
            writeAps(request.type, threadID, target, app, to: &writer)
            writer.append(Self.brace)
        } else {
            writer.append(Self.background)
        }
        if let roots = request.type.roots(of: app) {
            try write(roots, request, spelling, isNoting: isNoting, to: &writer)
        } else {
            let roots = RootLayout(renaming: request.type.roots, of: request.type, names: app.rootKeys)
            try write(roots, request, spelling, isNoting: isNoting, to: &writer)
        }
        writer.append(Self.brace)
    }

    private func write(
        _ part: CompiledType.Part, _ request: RenderRequest, _ spelling: borrowing TemplateSpelling,
        to writer: inout PayloadWriter
    ) throws(Rejection) {
        switch part {
        case .template(let text, let before, let template):
            writer.append(before)
            try writer.text(text, template, request.values, spelling)
            writer.quote()
        case .localized(let before, let arguments):
            writer.append(before)
            guard !arguments.isEmpty else { return }
            for index in arguments.indices {
                if index > 0 { writer.append(Self.comma) }
                writer.quote()
                try writer.argument(arguments[index], request.values, spelling)
                writer.quote()
            }
            writer.append(Self.bracket)
        }
    }

    private func writeAps(
        _ type: CompiledType, _ threadID: String?, _ target: SendTarget, _ app: AppRules,
        to writer: inout PayloadWriter
    ) {
        let countsOnDevice = app.badge == .client
        switch (target.badge, app.badge) {
        case (.increment, .server), (.keep, .server):
            writer.append(Self.badge)
            writer.badge()
        case (.none, _), (_, .client), (_, .off): break
        }
        // Where a service extension gives chat its sound, one in the payload would play although the person muted chat.
        if !(countsOnDevice && type.isChat) {
            writer.append(target.sound == type.rules.sound ? type.sound : CompiledType.sound(target.sound))
        }
        if let threadID {
            writer.append(Self.threadID)
            writer.append(escaping: threadID)
            writer.quote()
        }
        writer.append(type.category)
        writer.append(Self.levelStart)
        writer.append(escaping: target.level.rawValue)
        writer.quote()
        writer.append(type.relevance)
        if type.rules.isMutableContent || countsOnDevice { writer.append(Self.mutableContent) }
    }

    private func write(
        _ roots: RootLayout, _ request: RenderRequest, _ spelling: borrowing TemplateSpelling, isNoting: Bool,
        to writer: inout PayloadWriter
    ) throws(Rejection) {
        if let problem = roots.problem { throw problem }
        writer.append(roots.beforeEventID)
        writer.append(escaping: request.values.event.identity.id)
        writer.quote()
        if let template = request.type.deepLink {
            writer.append(roots.beforeDeepLink)
            try writer.deepLink(template, request.values, spelling)
            writer.quote()
        }
        writer.append(roots.beforeRecipient)
        writer.append(escaping: request.values.user.text)
        writer.append(roots.reason)
        for field in roots.custom {
            let start = writer.bytes.count
            writer.append(field.before)
            try writer.template(field.value, request.values, spelling)
            writer.quote()
            if isNoting { writer.noteCustom(field.name, from: start) }
        }
    }
}

extension Rejection {
    fileprivate static func privacy(_ finding: PrivacyFinding) -> Rejection {
        Rejection(
            kind: .privacy, stage: .render,
            reason: "the text would show \(finding.words), and the type has no neutral text in its place")
    }
}
