import AegisContent
import AegisCore

/// The keys of `catalog.yaml`.
enum CatalogKeys {
    static let root: [KeyDescription] = [
        KeyDescription("version", .integer(1...1), .byDefault("1"), "The version of this format."),
        KeyDescription(
            "default_locale", .text("language"), .byDefault("en"),
            "The language of a recipient whose own has no texts here; every visible type must have it."),
        KeyDescription(
            "categories", .table(of: .section(category), keys: "CATEGORY"), .optional("none"),
            "The categories that the app registers with iOS."),
        KeyDescription("types", .table(of: .section(type), keys: "type"), .required, "Every notification there is."),
    ]

    private static let category: [KeyDescription] = [
        KeyDescription("actions", .list(of: .section(action)), .optional("none"), "The buttons under a notification."),
        KeyDescription(
            "options",
            .list(
                of: .choice([
                    "customDismissAction", "allowInCarPlay", "hiddenPreviewsShowTitle", "hiddenPreviewsShowSubtitle",
                    "allowAnnouncement",
                ])), .optional("none"), "Options of `UNNotificationCategory`."),
        KeyDescription(
            "hidden_preview", .text("text"), .optional("the system's text"), "Shown where previews are hidden."),
    ]

    private static let action: [KeyDescription] = [
        KeyDescription("id", .text("name"), .required, "The action's identifier in the app."),
        KeyDescription("title", .text("text"), .required, "What the button says."),
        KeyDescription(
            "options",
            .list(of: .choice(["foreground", "destructive", "authenticationRequired", "textInput"])), .optional("none"),
            "Options of `UNNotificationAction`; `textInput` lets the person write an answer."),
    ]

    private static let type: [KeyDescription] = [
        KeyDescription(
            "match", .list(of: .text("event type")), .optional("its own name alone"),
            "Event type names that mean this type, beside its own; a name in two types is refused."),
        KeyDescription(
            "priority", .choice(Priority.allCases.map(\.rawValue)), .byDefault("medium"), "How urgent it is."),
        KeyDescription(
            "category", .text("CATEGORY or none"), .optional("refused for a visible type"),
            "One of `categories`, or `none`, said explicitly."),
        KeyDescription(
            "deep_link", .text("template or none"), .optional("refused for a visible type"),
            "Where a tap leads in the app, or `none`, said explicitly."),
        KeyDescription("reason", .text("name"), .optional("the type's name"), "The payload's `reason`."),
        KeyDescription(
            "thread_id", .text("template"), .optional("none"), "Notifications of one thread are grouped on the device."),
        KeyDescription(
            "collapse_id", .text("template"), .optional("derived from event and user"),
            "A later notification with the same id replaces an earlier one."),
        KeyDescription(
            "interruption_level", .choice(InterruptionLevel.allCases.map(\.rawValue)),
            .optional("critical: `time-sensitive`; high, medium: `active`; low, background: `passive`"),
            "How loudly iOS presents it; `critical` needs an app with `critical-alerts`."),
        KeyDescription(
            "relevance_score", .fraction, .optional("none"), "How iOS ranks it in a summary, from 0 to 1."),
        KeyDescription(
            "sound", .textOrSection("default, none or a file's name", criticalSound),
            .optional("`default`; background: none"), "What is heard."),
        KeyDescription(
            "badge", .choice(BadgeRule.allCases.map(\.rawValue)), .optional("`increment`; background: `none`"),
            "One more unread, the count as it is, or no badge in the payload."),
        KeyDescription(
            "ttl", .duration(.seconds(1)...(.days(400))), .byDefault("24h"),
            "How long it is worth delivering; never longer than the store's `retention`."),
        KeyDescription(
            "consent", .choice(ConsentRule.allCases.map(\.rawValue)), .byDefault("transactional"),
            "Whether the person must have agreed to marketing."),
        KeyDescription("default", .boolean, .byDefault("on"), "`off`: only users who switched it on receive it."),
        KeyDescription(
            "quiet_hours", .choice(QuietHoursRule.allCases.map(\.rawValue)),
            .optional("critical, background: `bypass`; others: `defer`"), "What a person's quiet hours do to it."),
        KeyDescription(
            "frequency", .section(frequency),
            .optional("no limit; background: `{max: 3, per: 1h, over: digest}`; refused for a critical type"),
            "How many one person gets in a time; a person's own preferences may ask for another number and time."),
        KeyDescription(
            "digest", .table(of: .section(message), keys: "locale"),
            .optional("refused for a visible type with `over: digest`"),
            "The texts of several in one, by locale; `{{digest.count}}` is their number."),
        KeyDescription(
            "privacy", .choice(PrivacyRule.allCases.map(\.rawValue)), .byDefault("strict"),
            "What may stand in visible text: `strict` refuses amounts of money too."),
        KeyDescription(
            "sensitive", .list(of: .text("path")), .optional("none"),
            "Paths below `data`, such as `card.number`: no text uses them, nor what is below or above them."),
        KeyDescription(
            "fallback", .table(of: .section(message), keys: "locale"), .optional("refused for a critical type"),
            "Neutral texts that say nothing private, by locale."),
        KeyDescription(
            "mutable_content", .boolean, .byDefault("off"), "Whether a service extension may change it on the device."),
        KeyDescription(
            "push_type",
            .choice(
                ["alert", "background"],
                later: [
                    "voip", "liveactivity", "complication", "fileprovider", "location", "mdm", "pushtotalk", "controls",
                    "widgets",
                ]), .byDefault("alert"), "`background` wakes the app and shows nothing."),
        KeyDescription(
            "custom", .table(of: .text("template"), keys: "key"), .optional("none"),
            "Further keys of the payload, beside `aps`."),
        KeyDescription(
            "content", .table(of: .section(message), keys: "locale"), .optional("refused for a visible type"),
            "The texts by locale."),
        KeyDescription(
            "trim", .list(of: .text("title, subtitle, body or custom.KEY")), .optional("`[body, subtitle, title]`"),
            "What is given up, in this order, where the payload is too large: texts are shortened, keys left out."),
    ]

    private static let criticalSound: [KeyDescription] = [
        KeyDescription("critical", .boolean, .byDefault("off"), "Heard even when the device is muted."),
        KeyDescription("name", .text("file's name"), .byDefault("default"), "The sound."),
        KeyDescription("volume", .fraction, .byDefault("1"), "From 0 to 1."),
    ]

    private static let frequency: [KeyDescription] = [
        KeyDescription("max", .integer(1...10_000), .required, "At most so many in any span of that length."),
        KeyDescription(
            "per", .duration(.seconds(60)...(.days(30))), .required,
            "The length of the span; never longer than the store's `retention`."),
        KeyDescription(
            "over", .choice(FrequencyOverflow.allCases.map(\.rawValue)), .optional("`drop`; background: `digest`"),
            "What becomes of the others: dropped, sent when there is room, or told in one notification; background pushes "
                + "take `digest` alone, by which the newest goes when there is room."),
    ]

    private static let message: [KeyDescription] = [
        KeyDescription("title", .text("template"), .optional("none"), "At most 50 characters are shown everywhere."),
        KeyDescription("subtitle", .text("template"), .optional("none"), "A second line."),
        KeyDescription("body", .text("template"), .optional("none"), "At most 150 characters are shown everywhere."),
        KeyDescription(
            "title_loc_key", .text("key"), .optional("none"), "Instead of a title: its key in the app's string table."),
        KeyDescription(
            "title_loc_args", .list(of: .text("template")), .optional("none"), "What goes into that text, in order."),
        KeyDescription(
            "subtitle_loc_key", .text("key"), .optional("none"),
            "Instead of a subtitle: its key in the app's string table."),
        KeyDescription(
            "subtitle_loc_args", .list(of: .text("template")), .optional("none"), "What goes into that text, in order."),
        KeyDescription(
            "loc_key", .text("key"), .optional("none"), "Instead of a body: its key in the app's string table."),
        KeyDescription(
            "loc_args", .list(of: .text("template")), .optional("none"), "What goes into that text, in order."),
    ]
}
