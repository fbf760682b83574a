import AegisCore

/// Aegis's own JSON: `{"id", "type", "occurred_at", "recipient", "data", …}`; members it does not know are left alone.
struct AegisFormat {
    let headers: HeaderReader
    let origin: EventOrigin
    let limits: DecodeLimits

    func item(in document: EventData, at index: Int) throws(Rejection) -> DecodedItem {
        let fields = ObjectReader(document, at: index)
        let id = try fields.identifier("id", limit: EventLimits.id) ?? origin.fallbackID
        let traceparent = try TraceParent.valid(headers.text("traceparent")) ?? Self.traceparent(fields)
        let event = try Self.event(
            fields, identity: EventIdentity(source: origin.partition.topic, id: id),
            occurredAt: fields.leniently(timeOf: "occurred_at") ?? origin.timestamp, traceparent: traceparent,
            recipientLimit: limits.recipients)
        if case .users(let users) = event.recipients, users.isEmpty { return .ignored(.noRecipient) }
        return .event(event)
    }

    /// An event that this service wrote for itself: it names its source, and its times are exact.
    static func storedEvent(in document: EventData) throws(Rejection) -> DomainEvent {
        guard document.nodes.first?.kind == .object else { throw .malformed("a stored event must be an object") }
        let fields = ObjectReader(document, at: 0)
        guard let source = try fields.text("source", limit: .max), let id = try fields.text("id", limit: .max),
            let occurredAt = try fields.time("occurred_at")
        else { throw .malformed("a stored event has a source, an id and a time") }
        return try event(
            fields, identity: EventIdentity(source: source, id: id), occurredAt: occurredAt,
            traceparent: traceparent(fields), recipientLimit: .max)
    }

    private static func traceparent(_ fields: ObjectReader) -> String? {
        TraceParent.valid(
            fields.index(of: "traceparent").flatMap { fields.document.text(of: fields.document.nodes[$0]) })
    }

    private static func event(
        _ fields: ObjectReader, identity: EventIdentity, occurredAt: UnixTime, traceparent: String?, recipientLimit: Int
    ) throws(Rejection) -> DomainEvent {
        guard let type = try fields.text("type", limit: EventLimits.type) else { throw .malformed("type is missing") }
        var data = EventData.empty
        if let index = fields.index(of: "data") {
            guard fields.kind(of: "data") == .object else { throw .malformed("data is no object") }
            data = fields.data(at: index)
        }
        let audience = try AudienceFields(fields, recipientLimit: recipientLimit)
        return DomainEvent(
            identity: identity, type: type, occurredAt: occurredAt, audience: audience, data: data,
            traceparent: traceparent)
    }
}

/// How long names may be: they become keys of the store.
enum EventLimits {
    static let id = 512
    static let source = 512
    static let type = 256
}

extension DomainEvent {
    init(
        identity: EventIdentity, type: String, occurredAt: UnixTime, audience: AudienceFields, data: EventData,
        traceparent: String?
    ) {
        self.init(
            identity: identity, type: type, occurredAt: occurredAt, recipients: audience.recipients,
            actor: audience.actor, deliverAt: audience.deliverAt, expiresAt: audience.expiresAt,
            locale: audience.locale, collapseID: audience.collapseID, app: audience.app, data: data,
            traceparent: traceparent)
    }
}
