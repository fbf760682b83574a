import AegisContent
import AegisCore
import AegisPorts

// MARK: - Dead letters of what nothing was sent for

extension Pipeline {
    /// Books a notification that was refused, so that what repeats it waits for its dead letter as well.
    func reject(_ rejection: Rejection, _ request: Request, number: UInt64, wasAccepted: Bool) -> PendingLetter {
        let type = request.type.rules.name
        let key = request.key
        open[number] = OpenNotification(
            key: key, type: type, origin: request.origin, remaining: 0, wasAccepted: wasAccepted, isRejected: true,
            badgeApps: [])
        let claim = claim(for: request, plan: .reject(rejection))
        parts.meter.add(1, to: .notifications, [type, "rejected", rejection.kind.rawValue])
        switch request.origin {
        case .record(let reference, let record):
            return PendingLetter(
                letter: DeadLetter(
                    rejection: rejection, origin: reference.assignment.partition, record: record,
                    eventID: key.event.id, type: type, user: parts.digests.hash(of: key.user)),
                closing: .rejection(number, claim),
                report: .rejected(record: reference, event: key.event, type: type, user: key.user, rejection))
        case .deferral(_, let bytes):
            return pending(rejection, ofDeferred: key, bytes: bytes, number: number, claim: claim)
        }
    }

    /// Books a deferred notification whose type has left the catalog.
    func reject(orphan: DeferredNotification) -> PendingLetter {
        let rejection = Rejection(
            kind: .configuration, stage: .decide,
            reason: "the catalog no longer has the type of this deferred notification")
        let number = nextNotification
        nextNotification += 1
        openKeys[orphan.key] = number
        open[number] = OpenNotification(
            key: orphan.key, type: orphan.type, origin: .deferral(orphan.id, orphan.event), remaining: 0,
            wasAccepted: false, isRejected: true, badgeApps: [])
        return pending(
            rejection, ofDeferred: orphan.key, bytes: orphan.event, number: number,
            claim: Claim(
                key: orphan.key, type: orphan.type, action: .reject(reason: rejection.reason), deferral: orphan.id))
    }

    private func pending(
        _ rejection: Rejection, ofDeferred key: NotificationKey, bytes: [UInt8], number: UInt64, claim: Claim
    ) -> PendingLetter {
        let (partition, record) = deferredOrigin(of: key, bytes: bytes)
        return PendingLetter(
            letter: DeadLetter(
                rejection: rejection, origin: partition, record: record, eventID: key.event.id, type: claim.type,
                user: parts.digests.hash(of: key.user)),
            closing: .rejection(number, claim),
            report: .rejected(
                record: RecordReference(assignment: PartitionAssignment(partition: partition, epoch: 0), offset: -1),
                event: key.event, type: claim.type, user: key.user, rejection))
    }

    /// A record, or an element of it, that names no notification.
    func reject(_ rejection: Rejection, of record: WorkQueue.Record, event: DomainEvent?) -> PendingLetter {
        PendingLetter(
            letter: DeadLetter(
                rejection: rejection, origin: record.reference.assignment.partition, record: record.record,
                eventID: event?.identity.id, type: event?.type),
            closing: .part(of: record.reference),
            report: .rejected(
                record: record.reference, event: event?.identity, type: event?.type, user: nil, rejection))
    }

    /// A deferred event has left its record behind; its stored form takes the place of the value.
    func deferredOrigin(of key: NotificationKey, bytes: [UInt8]) -> (partition: TopicPartition, record: KafkaRecord) {
        (
            TopicPartition(topic: key.event.source, partition: -1),
            KafkaRecord(offset: -1, timestamp: parts.clock.now(), key: nil, value: bytes)
        )
    }
}
