package import AegisCore

/// Kafka as the pipeline sees it: batches in, positions out.
///
/// An implementation keeps its place in the consumer group whatever the pipeline does: it goes on polling while paused and
/// while the pipeline drains. Offsets are never stored or committed but by ``commit(_:)``.
package protocol EventLog: Sendable {
    /// What has happened since the last call, in order, at least one signal; waits for it. Nil after ``close()``.
    func signals() async -> [IntakeSignal]?

    /// Stops and resumes reading of topics. A later assignment of a paused topic's partition is paused as well.
    func setPaused(_ topics: Set<String>) async

    /// Commits, for each partition, the offset to go on from; returns when the broker has acknowledged it.
    ///
    /// Positions of an assignment that is no longer held are left out without an error: the new owner decides.
    func commit(_ positions: [CommitPosition]) async throws(EventLogError)

    /// Answers ``IntakeSignal/revoking(_:)``: what could be finished was finished and committed, the partitions may go.
    func release(_ assignments: [PartitionAssignment]) async

    /// How far behind the newest record each assigned partition is: records after the committed position.
    func lag() async -> [TopicPartition: Int64]

    /// Leaves the group and closes; ``signals()`` returns nil from then on.
    func close() async
}

/// What the event log tells the pipeline.
package enum IntakeSignal: Sendable {
    case records(RecordBatch)
    case assigned([PartitionAssignment])
    /// The group wants these back. Reading has stopped; the log waits for ``EventLog/release(_:)``, up to its own limit.
    case revoking([PartitionAssignment])
    /// They are gone already, another instance may have them: nothing of theirs can be committed.
    case lost([PartitionAssignment])
    /// The brokers cannot be reached, or not as configured; told once per change.
    case unreachable(EventLogError)
    case reachable
}

/// Records of one partition, in offset order, as one poll returned them.
///
/// Offsets may have gaps.
package struct RecordBatch: Sendable {
    package let assignment: PartitionAssignment
    package let records: [KafkaRecord]

    package init(assignment: PartitionAssignment, records: [KafkaRecord]) {
        self.assignment = assignment
        self.records = records
    }
}

package struct EventLogError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The brokers do not answer: wait.
        case unreachable
        /// Refused credentials or rights: wait, and tell the operator.
        case refused
        case unknownTopic
        /// The assignment is not ours any more.
        case fenced
        /// A property librdkafka does not take.
        case configuration
        /// The broker takes no record of this size.
        case tooLarge
        case other
    }

    package let kind: Kind
    /// What was being done, in one word: `commit`, `subscribe`, `produce`.
    package let operation: String
    /// The library's own code and text.
    package let detail: String

    package init(kind: Kind, operation: String, detail: String) {
        self.kind = kind
        self.operation = operation
        self.detail = detail
    }

    package var description: String { "Kafka \(operation): \(detail)" }
}

/// Where records go that could not be used.
package protocol DeadLetters: Sendable {
    /// Returns when each of them has its answer.
    ///
    /// - Returns: One answer a letter, in their order: nil once the broker has acknowledged it, so that the offset of its origin
    ///   may be committed, else why not.
    func publish(_ letters: [DeadLetter], at now: UnixTime) async -> [EventLogError?]
}

/// Where events are published: the `publish` verb and `POST /v1/events`.
package protocol EventPublisher: Sendable {
    /// Returns when the broker has acknowledged every record.
    func publish(_ records: [OutgoingRecord], to topic: String) async throws(EventLogError)
}

package struct OutgoingRecord: Hashable, Sendable {
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]

    package init(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.key = key
        self.value = value
        self.headers = headers
    }
}
