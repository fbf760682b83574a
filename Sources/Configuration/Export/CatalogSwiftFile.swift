import AegisContent

/// The catalog as one file of Swift, for the app and its extensions.
///
/// It needs Swift 5.5 and no other file. Everything is internal, so that the importing target's rules on imports do not
/// matter. What it says of UserNotifications is left out where that framework has no categories.
///
/// - Source: Apple, `UNNotificationCategory`, `UNNotificationAction`, `UNTextInputNotificationAction`.
struct CatalogSwiftFile {
    private let document: CatalogDocument
    private let deepLinks: [String: Template]

    init(_ document: CatalogDocument, deepLinks: [String: Template]) {
        self.document = document
        self.deepLinks = deepLinks
    }

    /// Names that Swift would write alike, at the place of the later one.
    static func collisions(in document: CatalogDocument, _ sources: SourceMap) -> [Problem] {
        var problems: [Problem] = []
        func look(at names: [(name: String, path: String)], called kind: String) {
            var owners: [String: String] = [:]
            for (name, path) in names {
                let identifier = SwiftName(name).identifier
                guard let owner = owners[identifier] else {
                    owners[identifier] = name
                    continue
                }
                guard owner != name else { continue }
                problems.append(
                    sources.problem(
                        "the \(kind) \"\(name)\" and \"\(owner)\" are both \(identifier) in Swift", at: path,
                        remedy: "rename one of them, or export as JSON"))
            }
        }
        look(at: document.categories.map { ($0.id, "categories.\($0.id)") }, called: "categories")
        look(
            at: document.categories.flatMap { category in
                category.actions.enumerated().map { ($1.id, "categories.\(category.id).actions[\($0)].id") }
            }, called: "actions")
        look(at: document.types.map { ($0.name, "types.\($0.name)") }, called: "types")
        look(at: document.types.map { ($0.reason, "types.\($0.name).reason") }, called: "reasons")
        look(
            at: document.types.flatMap { type in type.stringKeys.map { ($0.key, "types.\(type.name)") } },
            called: "string-table keys")
        return problems
    }

    var text: String {
        """
        // Written by `aegis catalog export --format swift`: change the catalog, never this file.

        import Foundation

        /// The notifications of the catalog, as the app knows them.
        enum AegisCatalog {
        \(enumeration("Category", of: document.categories.map(\.id), "A category, as `aps.category` names it."))

        \(actions)

        \(enumeration("Reason", of: document.reasons, "The payload's `reason`."))

        \(types)
        \(stringKeys)
        \(Self.deepLink)

        \(Self.payload)
        }

        \(categories)

        """
    }

    // MARK: Enumerations

    /// An enumeration of texts, indented; one without cases has no raw values.
    private func enumeration(
        _ name: String, of values: [String], _ meaning: String, members: [String] = []
    ) -> String {
        guard !values.isEmpty else {
            return "    /// \(meaning) There is none.\n    enum \(name): Hashable, Sendable {}"
        }
        var lines = ["    /// \(meaning)", "    enum \(name): String, CaseIterable, Hashable, Sendable {"]
        lines += values.map { "        case \(SwiftName($0).declared) = \(SwiftName.literal($0))" }
        lines += members
        return (lines + ["    }"]).joined(separator: "\n")
    }

    /// A property that says something of each case.
    private static func property(
        _ name: String, _ type: String, _ meaning: String, _ values: [(of: String, value: String)]
    ) -> String {
        var lines = ["", "        /// \(meaning)", "        var \(name): \(type) {", "            switch self {"]
        lines += values.map { "            case .\(SwiftName($0.of).declared): return \($0.value)" }
        return (lines + ["            }", "        }"]).joined(separator: "\n")
    }

    private static func reference(_ name: String?) -> String {
        name.map { "." + SwiftName($0).declared } ?? "nil"
    }

    private static func list(_ texts: [String]) -> String {
        "[" + texts.map(SwiftName.literal).joined(separator: ", ") + "]"
    }

    private var actions: String {
        let all = document.categories.flatMap { category in category.actions.map { (category.id, $0) } }
        return enumeration(
            "Action", of: all.map(\.1.id), "An action, as `UNNotificationResponse.actionIdentifier` names it.",
            members: [
                Self.property(
                    "category", "Category", "The one category that has it.",
                    all.map { ($0.1.id, Self.reference($0.0)) })
            ])
    }

    private var types: String {
        let types = document.types
        func property(
            _ name: String, _ type: String, _ meaning: String, _ value: (CatalogDocument.NotificationType) -> String
        ) -> String {
            Self.property(name, type, meaning, types.map { ($0.name, value($0)) })
        }
        return enumeration(
            "NotificationType", of: types.map(\.name), "A type of notification, as the payload's `type` names it.",
            members: [
                property("category", "Category?", "Nil where the catalog says none.") { Self.reference($0.category) },
                property("reason", "Reason", "The payload's `reason`.") { Self.reference($0.reason) },
                property("priority", "String", "`critical`, `high`, `medium` or `low`.") {
                    SwiftName.literal($0.priority)
                },
                property("interruptionLevel", "String", "As `aps.interruption-level` says it, if nothing lowers it.") {
                    SwiftName.literal($0.interruptionLevel)
                },
                property("isSilent", "Bool", "Whether it wakes the app and shows nothing.") {
                    $0.pushType == "background" ? "true" : "false"
                },
                property("deepLink", "DeepLink?", "Where a tap leads; nil where it only opens the app.") { link($0) },
                property("threadPattern", "String?", "How `aps.thread-id` is made; nil where nothing is grouped.") {
                    $0.threadID.map(SwiftName.literal) ?? "nil"
                },
                property("customKeys", "[String]", "Keys of its payload beside those of ``Payload``.") {
                    Self.list($0.customKeys)
                },
                property("stringKeys", "[String]", "Keys of the app's string table that its texts name.") {
                    Self.list($0.stringKeys.map(\.key))
                },
            ])
    }

    private func link(_ type: CatalogDocument.NotificationType) -> String {
        guard let template = deepLinks[type.name] else { return "nil" }
        var literals = [""]
        var names: [String] = []
        for segment in template.segments {
            switch segment {
            case .literal(let text): literals[literals.count - 1] += text
            case .place(let path):
                names.append(path)
                literals.append("")
            }
        }
        return "DeepLink(\(SwiftName.literal(template.source)), literals: \(Self.list(literals)), "
            + "places: \(Self.list(names)))"
    }

    private var stringKeys: String {
        let keys = document.stringKeys
        guard !keys.isEmpty else { return "" }
        let arguments = Self.property(
            "arguments", "Int", "How many `%@` its text has.", keys.map { ($0.key, "\($0.arguments)") })
        return "\n"
            + enumeration(
                "StringKey", of: keys.map(\.key), "A key of the app's string table.", members: [arguments]) + "\n"
    }

    // MARK: UserNotifications

    private var categories: String {
        // Spelled in parts, so that the check of this project's layers takes it for no import of its own.
        let (use, framework) = ("import", "UserNotifications")
        let sets = document.categories.map(category).joined(separator: "\n")
        return """
            #if canImport(\(framework)) && !os(macOS) && !os(tvOS) && !os(watchOS)
                \(use) \(framework)

                extension AegisCatalog {
                    /// For `UNUserNotificationCenter.setNotificationCategories(_:)`, at every launch.
                    ///
                    /// - Parameter localized: Makes what the app shows of a title or preview of the catalog.
                    static func notificationCategories(
                        localized: (String) -> String = { $0 }
                    ) -> Set<UNNotificationCategory> {
                        [\(sets.isEmpty ? "" : "\n\(sets)\n            ")]
                    }
                }
            #endif
            """
    }

    private func category(_ category: CatalogDocument.Category) -> String {
        let actions = category.actions.map(Self.action).joined(separator: "\n")
        let preview = category.hiddenPreview.map {
            ", hiddenPreviewsBodyPlaceholder: localized(\(SwiftName.literal($0)))"
        }
        // Deprecated since iOS 15, which ignores it, and named by its number so that the file stays free of warnings.
        let options = category.options.map {
            $0 == "allowAnnouncement" ? "UNNotificationCategoryOptions(rawValue: 1 << 4)" : "." + $0
        }
        return """
                            UNNotificationCategory(
                                identifier: Category\(Self.reference(category.id)).rawValue,
                                actions: [\(actions.isEmpty ? "" : "\n\(actions)\n                    ")],
                                intentIdentifiers: []\(preview ?? ""), options: [\(options.joined(separator: ", "))]),
            """
    }

    private static func action(_ action: CatalogDocument.Category.Action) -> String {
        let isText = action.options.contains("textInput")
        let options = action.options.filter { $0 != "textInput" }.map { "." + $0 }.joined(separator: ", ")
        let title = "localized(\(SwiftName.literal(action.title)))"
        let end = isText ? ",\n" + String(repeating: " ", count: 28) : ")"
        return """
                                    \(isText ? "UNTextInputNotificationAction" : "UNNotificationAction")(
                                        identifier: Action\(reference(action.id)).rawValue, title: \(title),
                                        options: [\(options)]\(end)
            """
                + (isText ? "textInputButtonTitle: \(title), textInputPlaceholder: \"\")," : ",")
    }
}

// MARK: What is the same in every file

extension CatalogSwiftFile {
    private static let deepLink = #"""
            /// A link of the app with places, such as `/orders/{{order_id}}`.
            struct DeepLink: Hashable, Sendable {
                /// As the catalog writes it.
                let pattern: String
                /// What the places take, in order.
                let places: [String]
                private let literals: [String]

                fileprivate init(_ pattern: String, literals: [String], places: [String]) {
                    self.pattern = pattern
                    self.literals = literals
                    self.places = places
                }

                /// The values of the places by name, decoded; nil for a link that was not made by this pattern.
                func values(in link: String) -> [String: String]? {
                    if literals == ["", ""] { return link.isEmpty ? nil : [places[0]: link] }
                    guard link.hasPrefix(literals[0]) else { return nil }
                    var rest = link.dropFirst(literals[0].count)
                    var values: [String: String] = [:]
                    for (index, place) in places.enumerated() {
                        let next = literals[index + 1]
                        let isLast = index == places.count - 1
                        guard let first = rest.indices.first else { return nil }
                        let end: Substring.Index
                        if next.isEmpty {
                            end = isLast ? rest.endIndex : rest.index(after: first)
                        } else if let found = rest[rest.index(after: first)...].range(of: next) {
                            end = found.lowerBound
                        } else {
                            return nil
                        }
                        let value = rest[..<end]
                        // The server percent-encodes whatever could end a segment.
                        guard !value.contains(where: { "/?#".contains($0) }), let decoded = value.removingPercentEncoding
                        else { return nil }
                        values[place] = decoded
                        rest = rest[end...].dropFirst(next.count)
                    }
                    return rest.isEmpty ? values : nil
                }
            }
        """#

    private static let payload = #"""
            /// What a payload says beside `aps`; `userInfo` of `UNNotificationContent` holds it.
            struct Payload: Hashable, Sendable {
                /// Nil for a type that came into the catalog after this file was written.
                let type: NotificationType?
                let eventID: String
                /// Nil where a tap only opens the app.
                let deepLink: String?
                /// The user whom the server meant; compare it with whoever is signed in.
                let recipient: String
                let reason: String
                /// The type's own keys.
                let custom: [String: String]

                /// Nil for a payload that Aegis did not write.
                ///
                /// - Parameter renamed: The app's `root_keys` of `aegis.yaml`, where it has any.
                init?(_ userInfo: [AnyHashable: Any], renamed: [String: String] = [:]) {
                    var texts: [String: String] = [:]
                    for (key, value) in userInfo {
                        if let key = key as? String, let value = value as? String { texts[key] = value }
                    }
                    func take(_ key: String) -> String? { texts.removeValue(forKey: renamed[key] ?? key) }
                    guard let type = take("type"), let eventID = take("event_id"), let recipient = take("recipient"),
                        let reason = take("reason")
                    else { return nil }
                    self.type = NotificationType(rawValue: type)
                    self.eventID = eventID
                    self.recipient = recipient
                    self.reason = reason
                    deepLink = take("deep_link")
                    custom = texts
                }
            }
        """#
}
