package import AegisCore

/// One notification for one device, decided and not written yet.
package struct RenderRequest: Sendable {
    package var type: CatalogType
    package var event: DomainEvent
    package var user: UserID
    package var target: SendTarget
    package var app: AppRules
    /// The person's IANA zone; nil or unknown takes UTC.
    package var timeZone: String?

    package init(
        type: CatalogType, event: DomainEvent, user: UserID, target: SendTarget, app: AppRules, timeZone: String?
    ) {
        self.type = type
        self.event = event
        self.user = user
        self.target = target
        self.app = app
        self.timeZone = timeZone
    }
}

/// A notification as it goes out, but for the badge's number.
package struct RenderedPush: Hashable, Sendable {
    package var payload: PushPayload
    /// As shown, after any trimming; nil for background pushes.
    package var title: String?
    package var threadID: String?
    package var deepLink: String?
    /// Of the text that was used; the preferred one for pushes without text.
    package var locale: LocaleTag

    package init(payload: PushPayload, title: String?, threadID: String?, deepLink: String?, locale: LocaleTag) {
        self.payload = payload
        self.title = title
        self.threadID = threadID
        self.deepLink = deepLink
        self.locale = locale
    }
}
