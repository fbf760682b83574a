package import AegisCore

/// Every notification there is, for the server and the app alike, as `catalog.yaml` describes it.
package struct Catalog: Sendable {
    package var defaultLocale: LocaleTag
    package var categories: [String: NotificationCategory]
    /// By the type's name.
    package var types: [String: CatalogType]
    /// The type's name by each event type name that means it; the type's own name is always among them.
    package let typeNames: [String: String]

    package init(
        defaultLocale: LocaleTag, categories: [String: NotificationCategory], types: [String: CatalogType]
    ) {
        self.defaultLocale = defaultLocale
        self.categories = categories
        self.types = types
        var names: [String: String] = [:]
        for (name, type) in types {
            names[name] = name
            for match in type.matches { names[match] = name }
        }
        typeNames = names
    }

    /// The type that an event of this name means; nil if none does.
    package func type(matching eventType: String) -> CatalogType? {
        typeNames[eventType].flatMap { types[$0] }
    }
}

/// One type of notification: its rules and its texts.
package struct CatalogType: Sendable {
    package var rules: NotificationRules
    /// Event type names that mean this type, beside its own.
    package var matches: [String]
    /// Nil where the type says `none`.
    package var deepLink: Template?
    package var threadID: Template?
    /// Nil derives it from event and user.
    package var collapseID: Template?
    /// Root keys of the payload beside `aps`, in the catalog's order.
    package var custom: [CustomField]
    /// Empty for background types.
    package var content: [LocaleTag: MessageTemplates]
    /// Neutral text that says nothing private, for what the privacy guard refuses.
    package var fallback: [LocaleTag: MessageTemplates]
    /// The text of several in one, for types whose frequency says so; `digest.count` is their number.
    package var digest: [LocaleTag: MessageTemplates]
    /// What may stand in visible text.
    package var privacy: PrivacyRule
    /// Paths below the event's data whose values never stand in visible text, nor do those below them.
    package var sensitive: [String]
    /// What is given up, in this order, where the payload is too large.
    package var trim: [TrimStep]

    package init(
        rules: NotificationRules, matches: [String] = [], deepLink: Template? = nil, threadID: Template? = nil,
        collapseID: Template? = nil, custom: [CustomField] = [], content: [LocaleTag: MessageTemplates] = [:],
        fallback: [LocaleTag: MessageTemplates] = [:], digest: [LocaleTag: MessageTemplates] = [:],
        privacy: PrivacyRule = .strict, sensitive: [String] = [], trim: [TrimStep] = TrimStep.default
    ) {
        self.rules = rules
        self.matches = matches
        self.deepLink = deepLink
        self.threadID = threadID
        self.collapseID = collapseID
        self.custom = custom
        self.content = content
        self.fallback = fallback
        self.digest = digest
        self.privacy = privacy
        self.sensitive = sensitive
        self.trim = trim
    }

    /// Of all its texts; some may be named more than once.
    var locales: [LocaleTag] { Array(content.keys) + Array(digest.keys) + Array(fallback.keys) }
}

package struct CustomField: Sendable {
    package var key: String
    package var value: Template

    package init(key: String, value: Template) {
        self.key = key
        self.value = value
    }
}

/// One thing that a notification can do without, or with less of.
package enum TrimStep: Hashable, Sendable {
    /// A text of the alert is shortened.
    case text(AlertText)
    /// A key beside `aps` is left out.
    case custom(String)

    package static let `default`: [TrimStep] = [.text(.body), .text(.subtitle), .text(.title)]
}

/// The texts of an alert, in the order of writing.
package enum AlertText: String, Hashable, Sendable, CaseIterable {
    case title, subtitle, body
}

/// The texts of a type in one locale, each written here or by the app itself.
package struct MessageTemplates: Sendable {
    package var title: Template?
    package var subtitle: Template?
    package var body: Template?
    /// Texts that the app's own string tables hold, for those of the three that have no template.
    package var localized: [AlertText: LocalizedText]

    package init(
        title: Template? = nil, subtitle: Template? = nil, body: Template? = nil,
        localized: [AlertText: LocalizedText] = [:]
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.localized = localized
    }
}

/// A text of the app's `Localizable.strings`, by its key and what goes into it.
///
/// - Source: Apple, "Generating a remote notification": `title-loc-key` and its kin, with arguments that are strings.
package struct LocalizedText: Sendable {
    package var key: String
    package var arguments: [Template]

    package init(key: String, arguments: [Template] = []) {
        self.key = key
        self.arguments = arguments
    }
}

/// A category of notifications, as the app registers it.
///
/// - Source: Apple, `UNNotificationCategory` and `UNNotificationAction`.
package struct NotificationCategory: Hashable, Sendable {
    package struct Action: Hashable, Sendable {
        package var id: String
        package var title: String
        /// `foreground`, `destructive`, `authenticationRequired`, `textInput`.
        package var options: [String]

        package init(id: String, title: String, options: [String]) {
            self.id = id
            self.title = title
            self.options = options
        }
    }

    package var id: String
    package var actions: [Action]
    package var options: [String]
    /// Shown when previews are hidden.
    package var hiddenPreview: String?

    package init(id: String, actions: [Action], options: [String], hiddenPreview: String?) {
        self.id = id
        self.actions = actions
        self.options = options
        self.hiddenPreview = hiddenPreview
    }
}
