/// In which shape a topic's records carry their events.
package enum EventFormat: String, Hashable, Sendable, CaseIterable {
    /// Headers say, else the body does.
    case auto
    /// Aegis's own JSON.
    case aegis
    case cloudevents
}

/// How one topic is read.
package struct TopicFormat: Hashable, Sendable {
    package var topic: String
    package var format: EventFormat

    package init(topic: String, format: EventFormat = .auto) {
        self.topic = topic
        self.format = format
    }
}

/// How much of a record is read at all.
package struct DecodeLimits: Hashable, Sendable {
    package var valueBytes: Int
    /// Of nested objects and arrays.
    package var depth: Int
    /// Named by one event; a longer list belongs into an audience.
    package var recipients: Int
    /// Of all header names and values together.
    package var headerBytes: Int

    package init(
        valueBytes: Int = 1_048_576, depth: Int = 64, recipients: Int = 10_000, headerBytes: Int = 65_536
    ) {
        self.valueBytes = valueBytes
        self.depth = depth
        self.recipients = recipients
        self.headerBytes = headerBytes
    }
}
