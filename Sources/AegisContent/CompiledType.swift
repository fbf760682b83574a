import AegisCore

/// One type of the catalog as bytes that wait for an event.
final class CompiledType: Sendable {
    /// The texts in one locale.
    final class Texts: Sendable {
        let locale: LocaleTag
        let plurals: PluralRule
        let parts: [Part]

        init(locale: LocaleTag, plurals: PluralRule, parts: [Part]) {
            self.locale = locale
            self.plurals = plurals
            self.parts = parts
        }
    }

    /// One text of the alert; its key and colon are part of the bytes before it.
    enum Part: Sendable {
        case template(AlertText, before: [UInt8], Template)
        /// The key of the app's string table is written already; arguments follow in a list.
        case localized(before: [UInt8], arguments: [Template])
    }

    let rules: NotificationRules
    let isChat: Bool
    /// By the renderer's index of locales; nil where there is none.
    let texts: [Texts?]
    let digests: [Texts?]
    let hasDigest: Bool
    let fallbacks: [Texts?]
    let privacy: PrivacyRule
    let deepLink: Template?
    let threadID: Template?
    let collapseID: Template?
    let trim: [TrimStep]
    let category: [UInt8]
    let relevance: [UInt8]
    let sound: [UInt8]
    let roots: RootLayout
    /// For apps that call keys of the payload by other names.
    let renamedRoots: [AppID: RootLayout]
    /// Why nothing of this type can be written; nil for a good type.
    let problem: Rejection?

    init(_ type: CatalogType, locales: [LocaleTag], apps: [AppRules]) {
        rules = type.rules
        isChat = type.rules.isChat
        deepLink = type.deepLink
        threadID = type.threadID
        collapseID = type.collapseID
        trim = type.trim
        func compile(_ messages: [LocaleTag: MessageTemplates]) -> [Texts?] {
            locales.map { locale in messages[locale].map { Self.compile($0, in: locale) } }
        }
        texts = compile(type.content)
        digests = compile(type.digest)
        hasDigest = !type.digest.isEmpty
        fallbacks = compile(type.fallback)
        privacy = type.privacy
        category = type.rules.category.map { Self.member("category", $0) } ?? []
        relevance = type.rules.relevance.map { Array(",\"relevance-score\":\(Self.thousandths($0))".utf8) } ?? []
        sound = Self.sound(type.rules.sound)
        roots = RootLayout(type, names: [:])
        var renamed: [AppID: RootLayout] = [:]
        for app in apps where !app.rootKeys.isEmpty { renamed[app.id] = RootLayout(type, names: app.rootKeys) }
        renamedRoots = renamed
        let problem = type.rules.headerProblem ?? type.deepLink.flatMap { DeepLink.problem(in: $0) }
        self.problem = problem.map {
            Rejection(kind: .configuration, stage: .render, reason: "\(type.rules.name): \($0)")
        }
    }

    func roots(of app: AppRules) -> RootLayout? {
        guard !app.rootKeys.isEmpty else { return roots }
        guard let renamed = renamedRoots[app.id], renamed.names == app.rootKeys else { return nil }
        return renamed
    }

    /// `,"sound":…` of a rule; empty for none.
    static func sound(_ rule: SoundRule) -> [UInt8] {
        switch rule {
        case .none: return []
        case .named(let name): return member("sound", name)
        case .critical(let name, let volume):
            var bytes = Array(",\"sound\":{\"critical\":1,\"name\":".utf8)
            JSONText.appendQuoted(name, to: &bytes)
            bytes.append(contentsOf: ",\"volume\":\(thousandths(volume))}".utf8)
            return bytes
        }
    }

    private static func member(_ name: String, _ value: String) -> [UInt8] {
        var bytes = Array(",\"\(name)\":".utf8)
        JSONText.appendQuoted(value, to: &bytes)
        return bytes
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

    private static func compile(_ message: MessageTemplates, in locale: LocaleTag) -> Texts {
        var parts: [Part] = []
        for text in AlertText.allCases {
            let comma = parts.isEmpty ? "" : ","
            if let template = message.template(of: text) {
                parts.append(.template(text, before: Array("\(comma)\"\(text.rawValue)\":\"".utf8), template))
            } else if let localized = message.localized[text] {
                let stem = text == .body ? "" : text.rawValue + "-"
                var before = Array("\(comma)\"\(stem)loc-key\":".utf8)
                JSONText.appendQuoted(localized.key, to: &before)
                if !localized.arguments.isEmpty { before.append(contentsOf: ",\"\(stem)loc-args\":[".utf8) }
                parts.append(.localized(before: before, arguments: localized.arguments))
            }
        }
        return Texts(locale: locale, plurals: PluralRule(locale), parts: parts)
    }
}

extension MessageTemplates {
    fileprivate func template(of text: AlertText) -> Template? {
        switch text {
        case .title: title
        case .subtitle: subtitle
        case .body: body
        }
    }
}

/// The keys beside `aps`, under the names one app knows them by.
final class RootLayout: Sendable {
    struct Custom: Sendable {
        let name: String
        /// Comma, key, colon and the first quote.
        let before: [UInt8]
        let value: Template
    }

    let names: [String: String]
    // Type, comma, key and the first quote.
    let beforeEventID: [UInt8]
    let beforeDeepLink: [UInt8]
    let beforeRecipient: [UInt8]
    /// The quote after the recipient and the reason.
    let reason: [UInt8]
    let custom: [Custom]
    /// Two values under one name; nil where there are none.
    let problem: Rejection?

    convenience init(_ type: CatalogType, names: [String: String]) {
        self.init(
            type.rules, hasDeepLink: type.deepLink != nil, custom: type.custom.map { ($0.key, $0.value) }, names: names)
    }

    /// The same keys under the names of an app that was not known beforehand.
    convenience init(renaming known: RootLayout, of type: CompiledType, names: [String: String]) {
        self.init(
            type.rules, hasDeepLink: type.deepLink != nil, custom: known.custom.map { ($0.name, $0.value) },
            names: names)
    }

    private init(
        _ rules: NotificationRules, hasDeepLink: Bool, custom fields: [(name: String, value: Template)],
        names: [String: String]
    ) {
        var taken: Set<String> = ["aps"]
        var twice: String?
        func key(_ name: String) -> [UInt8] {
            let renamed = names[name] ?? name
            if !taken.insert(renamed).inserted { twice = twice ?? renamed }
            var bytes = Array(",".utf8)
            JSONText.appendQuoted(renamed, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            return bytes
        }
        self.names = names
        var first = key("type")
        JSONText.appendQuoted(rules.name, to: &first)
        let quote = UInt8(ascii: "\"")
        beforeEventID = first + key("event_id") + [quote]
        beforeDeepLink = !hasDeepLink ? [] : key("deep_link") + [quote]
        beforeRecipient = key("recipient") + [quote]
        var reason = [quote] + key("reason")
        JSONText.appendQuoted(rules.reason, to: &reason)
        self.reason = reason
        custom = fields.map { Custom(name: $0.name, before: key($0.name) + [quote], value: $0.value) }
        problem = twice.map {
            Rejection(kind: .configuration, stage: .render, reason: "two values of the payload are called \($0)")
        }
    }
}
