/// What a backend published, whatever its format was.
package struct DomainEvent: Sendable, Hashable {
    package var identity: EventIdentity
    /// The publisher's name of it, matched against the catalog.
    package var type: String
    /// The event's own time, else the record's.
    package var occurredAt: UnixTime
    package var recipients: Recipients
    /// Whoever caused it; nobody is notified of their own action.
    package var actor: UserID?
    package var deliverAt: UnixTime?
    package var expiresAt: UnixTime?
    package var locale: LocaleTag?
    package var collapseID: String?
    /// Limits the event to one app.
    package var app: AppID?
    package var data: EventData
    /// W3C trace context, as published.
    package var traceparent: String?

    package init(
        identity: EventIdentity, type: String, occurredAt: UnixTime, recipients: Recipients, actor: UserID? = nil,
        deliverAt: UnixTime? = nil, expiresAt: UnixTime? = nil, locale: LocaleTag? = nil, collapseID: String? = nil,
        app: AppID? = nil, data: EventData = .empty, traceparent: String? = nil
    ) {
        self.identity = identity
        self.type = type
        self.occurredAt = occurredAt
        self.recipients = recipients
        self.actor = actor
        self.deliverAt = deliverAt
        self.expiresAt = expiresAt
        self.locale = locale
        self.collapseID = collapseID
        self.app = app
        self.data = data
        self.traceparent = traceparent
    }
}

/// Whom an event is for.
package enum Recipients: Sendable, Hashable {
    /// In the order they were named, each once. Empty is a skip, never everybody.
    case users([UserID])
    case audience(String)
}
