package import AegisCore

/// Is told what the pipeline decides and what becomes of it: the demo's rows, and tests.
package protocol PipelineObserver: Sendable {
    func saw(_ reports: [PipelineReport])
}

package enum PipelineReport: Sendable {
    /// A record or a part of it that needs no notification.
    case ignored(record: RecordReference, reason: IgnoreReason)
    /// A dead letter that the broker has acknowledged, before anything was sent.
    case rejected(record: RecordReference, event: EventIdentity?, type: String?, user: UserID?, Rejection)
    /// One event for one person, decided and written to the ledger.
    case decided(NotificationReport)
    /// One device's end, written to the ledger.
    case delivered(DeliveryResult, key: NotificationKey, type: String, reason: String?)
}

package struct NotificationReport: Sendable {
    package enum Outcome: Hashable, Sendable {
        case sent(devices: Int)
        case suppressed(SuppressionReason)
        case deferred(until: UnixTime, reason: String)
        case duplicate
    }

    package var key: NotificationKey
    package var type: String
    package var outcome: Outcome
    package var record: RecordReference?
}

/// Where a record stands in Kafka.
package struct RecordReference: Hashable, Sendable {
    package var assignment: PartitionAssignment
    package var offset: Int64

    package init(assignment: PartitionAssignment, offset: Int64) {
        self.assignment = assignment
        self.offset = offset
    }
}
