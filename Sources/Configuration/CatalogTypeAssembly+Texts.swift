import AegisContent
import AegisCore

extension CatalogTypeAssembly {
    /// What is shown everywhere, in characters.
    private static let longestTitle = 50
    private static let longestBody = 150
    /// The path of a digest's number.
    private static let digestCount = "digest.count"
    private static let privacyGuard = PrivacyGuard()

    /// - Parameter mayCount: Whether it may say the number of a digest, with a `default` for what is none.
    mutating func template(_ setting: Setting?, mayCount: Bool = false) -> Template? {
        guard let setting, let text = setting.text else { return nil }
        do {
            let template = try Template(parsing: text)
            if mayCount, template.requiredPaths.contains(Self.digestCount) {
                problems.report(
                    "digest.count is there for a digest alone", at: setting.place,
                    remedy: "write {{digest.count | default(\"1\")}}")
            }
            return template
        } catch {
            problems.report(error.description, at: setting.place)
            return nil
        }
    }

    /// A template of what stays the same however many notifications a digest stands for.
    mutating func identifier(_ setting: Setting?) -> Template? {
        let template = template(setting)
        if let setting, template?.paths.contains(Self.digestCount) ?? false {
            problems.report(
                "digest.count has no place here", at: setting.place, remedy: "only texts may say the number of a digest"
            )
        }
        return template
    }

    /// A template of visible text.
    private mutating func shown(_ setting: Setting?, in key: String) -> Template? {
        let template = template(setting, mayCount: key != "digest")
        guard let setting, let template else { return template }
        for path in template.paths {
            guard let field = sensitive.first(where: { Self.covers($0, path) }) else { continue }
            problems.report(
                "shows {{\(path)}}, and the field \(field) is sensitive", at: setting.place,
                remedy: "leave it out of visible text")
        }
        return template
    }

    /// Whether a path is a sensitive field, or one below or above it; an element of a list counts as the list.
    private static func covers(_ field: String, _ path: String) -> Bool {
        let field = field.split(separator: ".")
        let path = path.split(separator: ".")
        let lists = path.filter { !$0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
        return [path, lists].contains { zip(field, $0).allSatisfy(==) }
    }

    mutating func readSensitive() {
        for setting in section.list("sensitive") {
            guard let path = setting.text else { continue }
            guard let template = try? Template(parsing: "{{\(path)}}"), template.segments == [.place(path)] else {
                problems.report("\"\(path)\" is no path", at: setting.place, remedy: "write it as card.number")
                continue
            }
            if path.hasPrefix("data.") || path.contains("/") {
                problems.warn(
                    "paths begin below data, and points join their names", at: setting.place,
                    remedy: "write it as card.number")
            }
            sensitive.append(path)
        }
    }

    mutating func messages(_ key: String) -> [LocaleTag: MessageTemplates] {
        var messages: [LocaleTag: MessageTemplates] = [:]
        for (name, setting) in section.table(key) {
            guard let message = setting.section else { continue }
            guard let locale = LocaleTag(name) else {
                problems.report("is no language", at: setting.place, remedy: "write it as en or pt-BR")
                continue
            }
            messages[locale] = MessageTemplates(
                title: shown(message.setting("title"), in: key), subtitle: shown(message.setting("subtitle"), in: key),
                body: shown(message.setting("body"), in: key), localized: localized(message, of: key))
            if !message.has("title"), !message.has("body"), !message.has("title_loc_key"), !message.has("loc_key") {
                problems.report("wants a title or a body", at: setting.place)
            }
            warn("title", of: message, over: Self.longestTitle)
            warn("body", of: message, over: Self.longestBody)
            if key == "fallback" { warnOfPlaces(in: message) }
        }
        return messages
    }

    private mutating func localized(_ message: Section, of key: String) -> [AlertText: LocalizedText] {
        var texts: [AlertText: LocalizedText] = [:]
        for text in AlertText.allCases {
            let stem = text == .body ? "" : text.rawValue + "_"
            guard let name = message.textIfSet(stem + "loc_key") else {
                if message.has(stem + "loc_args"), !message.has(stem + "loc_key") {
                    problems.report("wants \(stem)loc_key", at: message.place(of: stem + "loc_args"))
                }
                continue
            }
            if message.has(text.rawValue) {
                problems.report(
                    "\(text.rawValue) is written already", at: message.place(of: stem + "loc_key"),
                    remedy: "write the text or its key, not both")
            }
            var arguments: [Template] = []
            for setting in message.list(stem + "loc_args") {
                if let argument = shown(setting, in: key) { arguments.append(argument) }
            }
            texts[text] = LocalizedText(key: name, arguments: arguments)
        }
        return texts
    }

    /// Counts what is written; how long the places become is known at sending alone.
    private mutating func warn(_ key: String, of message: Section, over limit: Int) {
        guard let text = message.textIfSet(key) else { return }
        let count = Self.literalCharacters(of: text)
        guard count > limit else { return }
        problems.warn("has \(count) characters, of which \(limit) are shown everywhere", at: message.place(of: key))
    }

    private mutating func warnOfPlaces(in message: Section) {
        for key in ["title", "subtitle", "body"] where message.textIfSet(key)?.contains("{{") ?? false {
            problems.warn("a neutral text has no place for data", at: message.place(of: key))
        }
    }

    private static func literalCharacters(of text: String) -> Int {
        var count = 0
        var rest = text[...]
        while let start = rest.firstRange(of: "{{")?.lowerBound {
            count += rest[..<start].count
            guard let end = rest[start...].firstRange(of: "}}")?.upperBound else { return count }
            rest = rest[end...]
        }
        return count + rest.count
    }

    /// Texts that are the same for every event can be judged before one comes.
    mutating func checkPrivacy(of type: CatalogType) {
        for (key, messages) in [("content", type.content), ("digest", type.digest), ("fallback", type.fallback)] {
            for (locale, message) in messages.sorted(by: { $0.key.text < $1.key.text }) {
                let place = place(ofMessage: locale, in: key)
                let templates = [message.title, message.subtitle, message.body].compactMap(\.self)
                if type.privacy == .strict, templates.contains(where: \.formatsMoney) {
                    problems.warn(
                        "an amount of money is refused where privacy is strict", at: place,
                        remedy: "write privacy: amounts-allowed")
                }
                let literals = templates.compactMap(\.literal)
                guard literals.count == templates.count,
                    let finding = Self.privacyGuard.finding(
                        in: literals.joined(separator: "\n"), rule: type.privacy)
                else { continue }
                problems.report(
                    "shows \(finding.words), so it is never sent", at: place, remedy: "say it without",
                    severity: key == "fallback" || type.fallback.isEmpty ? .error : .warning)
            }
        }
    }

    private func place(ofMessage locale: LocaleTag, in key: String) -> Place {
        section.table(key).first { LocaleTag($0.key) == locale }?.value.place ?? section.place(of: key)
    }
}
