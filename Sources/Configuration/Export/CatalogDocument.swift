import AegisContent
import AegisCore
import Foundation

/// What the app has to know of a catalog, as JSON: `docs/ios.md` describes its keys.
struct CatalogDocument: Encodable {
    struct Category: Encodable {
        struct Action: Encodable {
            let id: String
            let title: String
            let options: [String]
        }

        let id: String
        let actions: [Action]
        let options: [String]
        let hiddenPreview: String?
    }

    struct StringKey: Encodable, Hashable {
        let key: String
        let arguments: Int
    }

    struct NotificationType: Encodable {
        let name: String
        let category: String?
        let reason: String
        let priority: String
        let interruptionLevel: String
        let pushType: String
        let badge: String
        let mutableContent: Bool
        let deepLink: String?
        let threadID: String?
        let customKeys: [String]
        let stringKeys: [StringKey]

        enum CodingKeys: String, CodingKey {
            case name, category, reason, priority, interruptionLevel, pushType, badge, mutableContent, deepLink
            case threadID = "threadId"
            case customKeys, stringKeys
        }
    }

    /// Of this document; a key is added without a new number.
    let version = 1
    let defaultLocale: String
    let locales: [String]
    let categories: [Category]
    let types: [NotificationType]
    let reasons: [String]
    let rootKeys = ["type", "event_id", "deep_link", "recipient", "reason"]
    let stringKeys: [StringKey]

    init(_ catalog: Catalog) {
        defaultLocale = catalog.defaultLocale.text
        locales = Set(catalog.types.values.flatMap(\.messages).map(\.locale)).sorted()
        categories = catalog.categories.values.sorted { $0.id < $1.id }.map { category in
            Category(
                id: category.id,
                actions: category.actions.map { .init(id: $0.id, title: $0.title, options: $0.options) },
                options: category.options, hiddenPreview: category.hiddenPreview)
        }
        types = catalog.types.values.sorted { $0.rules.name < $1.rules.name }.map { type in
            NotificationType(
                name: type.rules.name, category: type.rules.category, reason: type.rules.reason,
                priority: type.rules.priority.rawValue, interruptionLevel: type.rules.interruptionLevel.rawValue,
                pushType: type.rules.pushType.rawValue, badge: type.rules.badge.rawValue,
                mutableContent: type.rules.isMutableContent, deepLink: type.deepLink?.source,
                threadID: type.threadID?.source, customKeys: type.custom.map(\.key),
                stringKeys: type.stringKeys)
        }
        reasons = Set(types.map(\.reason)).sorted()
        stringKeys = Set(types.flatMap(\.stringKeys)).sorted { ($0.key, $0.arguments) < ($1.key, $1.arguments) }
    }

    /// Two spaces deep, keys by alphabet, a line feed at the end: the same catalog gives the same bytes.
    func json() throws(Problem) -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        } catch {
            throw Problem(file: "catalog", message: "cannot be written as JSON")
        }
    }
}

extension CatalogType {
    /// All texts, with their locale.
    fileprivate var messages: [(locale: String, texts: MessageTemplates)] {
        [content, digest, fallback].flatMap { $0.map { ($0.key.text, $0.value) } }
    }

    /// The keys of the app's string table that its texts name, each once for each number of arguments.
    fileprivate var stringKeys: [CatalogDocument.StringKey] {
        let keys = messages.flatMap { message in
            message.texts.localized.values.map {
                CatalogDocument.StringKey(key: $0.key, arguments: $0.arguments.count)
            }
        }
        return Set(keys).sorted { ($0.key, $0.arguments) < ($1.key, $1.arguments) }
    }
}
