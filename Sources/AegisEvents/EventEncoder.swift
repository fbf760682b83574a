package import AegisCore

/// Writes events in Aegis's own shape, with the source that a record's topic says otherwise.
///
/// ``EventDecoder/decodeStored(_:)`` reads the bytes back to an equal event, so a deferred one loses nothing on its way.
/// Times outside the years 0000 to 9999 stay at their ends.
package enum EventEncoder {
    package static func encode(_ event: DomainEvent) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("source", event.identity.source)
            writer.member("id", event.identity.id)
            writer.member("type", event.type)
            writer.member("occurred_at", Timestamp.rfc3339(event.occurredAt))
            switch event.recipients {
            case .audience(let name): writer.member("audience", name)
            case .users(let users):
                writer.key("recipients")
                writer.array { writer in
                    for user in users {
                        writer.element()
                        writer.string(user.text)
                    }
                }
            }
            if let actor = event.actor { writer.member("actor", actor.text) }
            if let time = event.deliverAt { writer.member("deliver_at", Timestamp.rfc3339(time)) }
            if let time = event.expiresAt { writer.member("expires_at", Timestamp.rfc3339(time)) }
            if let locale = event.locale { writer.member("locale", locale.text) }
            if let collapseID = event.collapseID { writer.member("collapse_id", collapseID) }
            if let app = event.app { writer.member("app", app.text) }
            if let traceparent = event.traceparent { writer.member("traceparent", traceparent) }
            writer.key("data")
            writer.raw(event.data.bytes)
        }
        return writer.bytes
    }
}
