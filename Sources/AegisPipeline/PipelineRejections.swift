import AegisContent
import AegisCore
import AegisPorts

/// A dead letter and whose record it closes.
struct RejectedPart {
    var letter: DeadLetter
    var report: PipelineReport
    var reference: RecordReference?
}

// MARK: - Dead letters of what nothing was sent for

extension Pipeline {
    func rejected(_ rejection: Rejection, of request: Request) -> RejectedPart {
        let user = request.key.user
        switch request.origin {
        case .record(let reference, let record):
            return rejected(
                rejection, of: reference, record, event: request.event, type: request.type.rules.name, user: user)
        case .deferral(_, let bytes):
            return rejected(rejection, ofDeferred: request.key, type: request.type.rules.name, bytes: bytes)
        }
    }

    func rejected(_ orphan: DeferredNotification) -> RejectedPart {
        rejected(
            Rejection(
                kind: .configuration, stage: .decide,
                reason: "the catalog no longer has the type of this deferred notification"),
            ofDeferred: orphan.key, type: orphan.type, bytes: orphan.event)
    }

    func rejected(
        _ rejection: Rejection, ofDeferred key: NotificationKey, type: String, bytes: [UInt8]
    ) -> RejectedPart {
        let (partition, record) = deferredOrigin(of: key, bytes: bytes)
        return RejectedPart(
            letter: DeadLetter(
                rejection: rejection, origin: partition, record: record, eventID: key.event.id, type: type,
                user: parts.digests.hash(of: key.user)),
            report: .rejected(
                record: RecordReference(assignment: PartitionAssignment(partition: partition, epoch: 0), offset: -1),
                event: key.event, type: type, user: key.user, rejection),
            reference: nil)
    }

    func rejected(
        _ rejection: Rejection, of reference: RecordReference, _ record: KafkaRecord, event: DomainEvent?,
        type: String?,
        user: UserID?
    ) -> RejectedPart {
        RejectedPart(
            letter: DeadLetter(
                rejection: rejection, origin: reference.assignment.partition, record: record,
                eventID: event?.identity.id, type: type ?? event?.type, user: user.map { parts.digests.hash(of: $0) }),
            report: .rejected(record: reference, event: event?.identity, type: type, user: user, rejection),
            reference: reference)
    }

    /// A deferred event has left its record behind; its stored form takes the place of the value.
    func deferredOrigin(of key: NotificationKey, bytes: [UInt8]) -> (partition: TopicPartition, record: KafkaRecord) {
        (
            TopicPartition(topic: key.event.source, partition: -1),
            KafkaRecord(offset: -1, timestamp: parts.clock.now(), key: nil, value: bytes)
        )
    }
}
