import AegisCore
package import AegisEvents
package import AegisPorts

/// The JSON of one notification's way, as the API and `aegis explain` show it.
///
/// - Shape: `{event_id, source, type, state, reason, why, digest, repeats, created_at, due_at, read_at, deliveries:[{device,
///   apns_id, outcome, status, reason, attempts}]}`; what does not apply is left out.
package enum NotificationDocument {
    /// Everything the ledger knows of one event, people shown by their hashes, as members of an object that is open.
    package static func write(
        _ records: [NotificationRecord], ofEvent id: String, _ digests: any IdentityDigests, to writer: inout JSONWriter
    ) {
        writer.member("event_id", id)
        writer.key("notifications")
        writer.array { writer in
            for record in records {
                writer.element()
                writer.object { writer in
                    writer.member("user", digests.hash(of: record.key.user).text)
                    write(record, to: &writer)
                }
            }
        }
    }

    /// Writes the members into an object that is open.
    package static func write(_ record: NotificationRecord, to writer: inout JSONWriter) {
        writer.member("event_id", record.key.event.id)
        writer.member("source", record.key.event.source)
        writer.member("type", record.type)
        writer.member("state", record.state.rawValue)
        if let reason = record.reason { writer.member("reason", reason) }
        if let trace = record.trace { writer.member("why", trace) }
        if let digest = record.digest { writer.member("digest", digest) }
        writer.member("repeats", record.repeats)
        writer.member("created_at", Timestamp.rfc3339(record.createdAt))
        if let dueAt = record.dueAt { writer.member("due_at", Timestamp.rfc3339(dueAt)) }
        if let readAt = record.readAt { writer.member("read_at", Timestamp.rfc3339(readAt)) }
        writer.key("deliveries")
        writer.array { writer in
            for delivery in record.deliveries {
                writer.element()
                writer.object { writer in
                    writer.member("device", Int(delivery.device.number))
                    writer.member("apns_id", delivery.pushID)
                    writer.member("outcome", delivery.outcome)
                    if let status = delivery.status { writer.member("status", status) }
                    if let reason = delivery.reason { writer.member("reason", reason) }
                    writer.member("attempts", delivery.attempts)
                }
            }
        }
    }
}
