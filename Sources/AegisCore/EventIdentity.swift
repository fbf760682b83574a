/// What makes two records the same event.
///
/// - Shape: a source (CloudEvents' `source`, else the Kafka topic) and an id that is unique within it. An event without an id
///   takes `topic-partition-offset`; an element of a split record without one appends its index.
package struct EventIdentity: Hashable, Sendable, CustomStringConvertible {
    package let source: String
    package let id: String

    package init(source: String, id: String) {
        self.source = source
        self.id = id
    }

    package var description: String { "\(source)#\(id)" }

    package static func == (left: EventIdentity, right: EventIdentity) -> Bool {
        left.id.isExactly(right.id) && left.source.isExactly(right.source)
    }
}

/// One event for one user: the key of the ledger.
///
/// The day is that of the event's own time, so a redelivery finds its row however late it comes.
package struct NotificationKey: Hashable, Sendable {
    package let event: EventIdentity
    package let user: UserID
    package let day: UTCDay

    package init(event: EventIdentity, user: UserID, day: UTCDay) {
        self.event = event
        self.user = user
        self.day = day
    }
}
