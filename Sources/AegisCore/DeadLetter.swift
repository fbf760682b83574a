/// What kind of fault kept a record from being used.
package enum DeadLetterKind: String, Hashable, Sendable, CaseIterable {
    case malformed
    case unmatched
    case recipient
    case content
    case privacy
    case tooLarge = "too_large"
    case delivery
    case configuration
}

/// Where on its way an event failed.
package enum DeadLetterStage: String, Hashable, Sendable, CaseIterable {
    case decode
    case expand
    case decide
    case render
    case send
}

/// A fault found in a record, before anything was sent.
package struct Rejection: Error, Hashable, Sendable {
    package let kind: DeadLetterKind
    package let stage: DeadLetterStage
    /// One line; no token, no message text.
    package let reason: String

    package init(kind: DeadLetterKind, stage: DeadLetterStage, reason: String) {
        self.kind = kind
        self.stage = stage
        self.reason = reason
    }
}

/// A record that could not be used, as it goes to the dead-letter topic.
///
/// Key, value and headers are the original's; ``addedHeaders(at:)`` says what is added.
package struct DeadLetter: Hashable, Sendable {
    package var rejection: Rejection
    package var origin: TopicPartition
    package var record: KafkaRecord
    package var eventID: String?
    package var type: String?
    package var user: UserHash?
    /// The devices that failed, for the kind `delivery`; empty where nothing was sent.
    package var targets: [DeviceHash]
    package var attempts: Int
    package var apnsStatus: Int?
    package var apnsReason: String?
    /// Bytes of the original that are left out, as the broker takes no record of its size; 0 where it is whole.
    package var omittedBytes = 0
    package private(set) var isAbridged = false

    package init(
        rejection: Rejection, origin: TopicPartition, record: KafkaRecord, eventID: String? = nil, type: String? = nil,
        user: UserHash? = nil, targets: [DeviceHash] = [], attempts: Int = 0, apnsStatus: Int? = nil,
        apnsReason: String? = nil
    ) {
        self.rejection = rejection
        self.origin = origin
        self.record = record
        self.eventID = eventID
        self.type = type
        self.user = user
        self.targets = targets
        self.attempts = attempts
        self.apnsStatus = apnsStatus
        self.apnsReason = apnsReason
    }

    /// The same without the original's value and headers, for a broker that takes no record so large.
    ///
    /// Topic, partition and offset of the origin still say where the whole stands. A key of more than 1 KiB is left out too.
    package var abridged: DeadLetter {
        var letter = self
        let keepsKey = (record.key?.count ?? 0) <= 1_024
        // A null value would be a tombstone.
        letter.record = KafkaRecord(
            offset: record.offset, timestamp: record.timestamp, key: keepsKey ? record.key : nil, value: [],
            // How often it was replayed is counted in its headers.
            headers: record.headers.filter { $0.name == "aegis-dlq-replays" })
        letter.isAbridged = true
        letter.omittedBytes = record.byteCount - letter.record.byteCount
        return letter
    }
}
