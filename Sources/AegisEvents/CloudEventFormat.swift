import AegisCore

/// The attributes of a CloudEvent that matter here, in whichever mode they came.
///
/// - Source: CloudEvents 1.0.2; Kafka Protocol Binding 1.0.2.
struct CloudEventAttributes {
    var version: String?
    var id: String?
    var source: String?
    var type: String?
    /// Nil where there is none or it cannot be read; the record's own time stands in.
    var time: UnixTime?
    var expiresAt: UnixTime?
    var contentType: String?
    var traceparent: String?

    /// Adds the recipient fields, which stand in the data beside the rest.
    func item(data: EventData?, origin: EventOrigin, limits: DecodeLimits) throws(Rejection) -> DecodedItem {
        guard let version, version == "1.0" || version.hasPrefix("1.0.") else {
            throw .malformed("specversion is not 1.0")
        }
        guard let type else { throw .malformed("type is missing") }
        if source?.hasPrefix("aegis:") == true {
            throw .malformed("source begins with aegis:, which is kept for events of Aegis itself")
        }
        guard let data, let root = data.nodes.first else { throw .recipient("there is no data, so no recipient") }
        guard root.kind == .object else { throw .recipient("data is \(root.kind.words), so it names no recipient") }
        var audience = try AudienceFields(ObjectReader(data, at: 0), recipientLimit: limits.recipients)
        guard !audience.isForNobody else { return .ignored(.noRecipient) }
        if let expiresAt { audience.expiresAt = min(expiresAt, audience.expiresAt ?? expiresAt) }
        let identity = EventIdentity(source: source ?? origin.partition.topic, id: id ?? origin.fallbackID)
        return .event(
            DomainEvent(
                identity: identity, type: type, occurredAt: time ?? origin.timestamp, audience: audience,
                data: data.subtree(at: 0), traceparent: traceparent))
    }

    /// Whether data of this media type is JSON; data without one is.
    static func isJSON(_ contentType: String?) -> Bool {
        guard let contentType else { return true }
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\"" }
        return type.isEmpty || type.hasSuffix("/json") || type.hasSuffix("+json")
    }
}

/// One CloudEvent as one JSON object.
struct StructuredCloudEvent {
    let headers: HeaderReader
    let origin: EventOrigin
    let limits: DecodeLimits

    func item(in document: EventData, at index: Int) throws(Rejection) -> DecodedItem {
        let fields = ObjectReader(document, at: index)
        var attributes = CloudEventAttributes()
        attributes.version = try fields.text("specversion", limit: 16)
        attributes.id = try fields.identifier("id", limit: EventLimits.id)
        attributes.source = try fields.text("source", limit: EventLimits.source)
        attributes.type = try fields.text("type", limit: EventLimits.type)
        attributes.time = fields.leniently(timeOf: "time")
        attributes.expiresAt = try fields.time("expirytime")
        attributes.contentType = try fields.text("datacontenttype", limit: 256)
        attributes.traceparent =
            try TraceParent.valid(headers.text("traceparent"))
            ?? TraceParent.valid(fields.index(of: "traceparent").flatMap { document.text(of: document.nodes[$0]) })
        return try attributes.item(data: data(fields, attributes.contentType), origin: origin, limits: limits)
    }

    private func data(_ fields: ObjectReader, _ contentType: String?) throws(Rejection) -> EventData? {
        guard let encoded = fields.index(of: "data_base64") else {
            return fields.index(of: "data").map { fields.data(at: $0) }
        }
        guard !fields.has("data") else { throw .malformed("data and data_base64 together") }
        guard let text = fields.document.text(of: fields.document.nodes[encoded]),
            let bytes = Base64.decode(Array(text.utf8))
        else { throw .malformed("data_base64 is not base64") }
        guard CloudEventAttributes.isJSON(contentType) else { throw .malformed("data is of another type than JSON") }
        return try CloudEventData.scan(bytes, limits: limits)
    }
}

/// One CloudEvent whose attributes are headers and whose data is the value.
struct BinaryCloudEvent {
    let headers: HeaderReader
    let origin: EventOrigin
    let limits: DecodeLimits

    func item(_ value: [UInt8]) throws(Rejection) -> DecodedItem {
        var attributes = CloudEventAttributes()
        attributes.version = try headers.text("ce_specversion")
        attributes.id = try text("ce_id", limit: EventLimits.id)
        attributes.source = try text("ce_source", limit: EventLimits.source)
        attributes.type = try text("ce_type", limit: EventLimits.type)
        attributes.time = try headers.text("ce_time").flatMap { Timestamp.parse($0) }
        if let expiry = try headers.text("ce_expirytime") {
            guard let time = Timestamp.parse(expiry) else { throw .malformed("the header ce_expirytime is no time") }
            attributes.expiresAt = time
        }
        let attribute = try TraceParent.valid(headers.text("ce_traceparent"))
        attributes.traceparent = try TraceParent.valid(headers.text("traceparent")) ?? attribute
        guard CloudEventAttributes.isJSON(headers.contentType) else {
            throw .malformed("data is of another type than JSON")
        }
        let data = value.isEmpty ? nil : try CloudEventData.scan(value, limits: limits)
        return try attributes.item(data: data, origin: origin, limits: limits)
    }

    private func text(_ name: String, limit: Int) throws(Rejection) -> String? {
        guard let text = try headers.text(name) else { return nil }
        return try ObjectReader.bounded(text, "the header \(name)", limit: limit)
    }
}

private enum CloudEventData {
    static func scan(_ bytes: [UInt8], limits: DecodeLimits) throws(Rejection) -> EventData {
        do throws(JSONFault) {
            return try JSONScanner.scan(bytes, limits: JSONLimits(bytes: limits.valueBytes, depth: limits.depth))
        } catch {
            throw .malformed("data: \(error.description)")
        }
    }
}
