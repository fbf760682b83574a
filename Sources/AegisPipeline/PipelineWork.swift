import AegisContent
import AegisCore
import AegisEvents
import AegisPorts

/// One event for one person, before it is decided.
private struct Request {
    var key: NotificationKey
    var event: DomainEvent
    var type: CatalogType
    var lane: Lane
    var recordedAt: UnixTime
    var origin: OpenNotification.Origin
    var isDue: Bool
}

/// A dead letter and whose record it closes.
private struct RejectedPart {
    var letter: DeadLetter
    var report: PipelineReport
    var reference: RecordReference?
}

// MARK: - Planning: decode, expand, enrich, decide, render, claim, hand over

extension Pipeline {
    func workLoop() async {
        while !isStopped {
            guard await mayWork else {
                await withCheckedContinuation { worker = $0 }
                continue
            }
            await process()
            await releaseFinished()
            if isIdle { wakeIdleWaiters() }
            await updatePauses()
        }
    }

    private var mayWork: Bool {
        get async {
            guard !queue.isEmpty, openDeliveries.values.reduce(0, +) < settings.maxInFlight else { return false }
            return await !isOutage && !isStopped
        }
    }

    func deferralLoop() async {
        while !isStopped {
            await pause(for: settings.deferralInterval)
            guard !isDraining, !queue.hasDue, storeTrouble == nil else { continue }
            let now = parts.clock.now()
            let limit = settings.batchSize
            let lease = settings.deferralLease
            let store = parts.store
            let due = await persistently("take_due") { () async throws(StoreError) in
                try await store.takeDue(at: now, limit: limit, lease: lease)
            }
            guard let due, !due.isEmpty, !isDraining else { continue }
            queue.append(due: due)
            wakeWorker()
        }
    }

    private func process() async {
        var requests: [Request] = []
        var rejected: [RejectedPart] = []
        var reports: [PipelineReport] = []
        var orphans: [DeferredNotification] = []
        let (due, records) = queue.take(settings.batchSize)
        for record in records {
            inWork[record.reference.assignment, default: 0] += 1
            let before = requests.count + rejected.count
            expand(record, requests: &requests, rejected: &rejected, reports: &reports)
            let count = requests.count + rejected.count - before
            openParts[record.reference] = max(1, count)
            if count == 0 { finishPart(of: record.reference) }
        }
        for notification in due { expand(notification, requests: &requests, orphans: &orphans) }
        await decideAndSend(requests, rejected: rejected, orphans: orphans, reports: reports)
    }

    private func expand(
        _ record: WorkQueue.Record, requests: inout [Request], rejected: inout [RejectedPart],
        reports: inout [PipelineReport]
    ) {
        let partition = record.reference.assignment.partition
        let topic = settings.topics[partition.topic] ?? PipelineSettings.Topic()
        func ignore(_ reason: IgnoreReason) {
            parts.meter.add(1, to: .eventsIgnored, [partition.topic, reason.rawValue])
            reports.append(.ignored(record: record.reference, reason: reason))
        }
        func reject(_ rejection: Rejection, _ event: DomainEvent?) {
            rejected.append(
                self.rejected(rejection, of: record.reference, record.record, event: event, type: nil, user: nil))
        }
        for item in decoder.decode(record.record, from: partition) {
            switch item {
            case .ignored(let reason):
                ignore(reason)
            case .rejected(let rejection):
                reject(rejection, nil)
            case .event(let event):
                guard let type = planner.catalog.type(matching: event.type) else {
                    if topic.rejectsUnmatched {
                        reject(
                            Rejection(kind: .unmatched, stage: .decide, reason: "no catalog type matches this event"),
                            event)
                    } else {
                        ignore(.unmatched)
                    }
                    continue
                }
                guard case .users(let users) = event.recipients else {
                    reject(
                        Rejection(
                            kind: .recipient, stage: .expand, reason: "audiences are not available in this version"),
                        event)
                    continue
                }
                for user in users {
                    requests.append(
                        Request(
                            key: NotificationKey(event: event.identity, user: user, day: event.occurredAt.day),
                            event: event, type: type, lane: type.rules.priority.overridesLane ?? topic.lane,
                            recordedAt: record.record.timestamp, origin: .record(record.reference, record.record),
                            isDue: false))
                }
            }
        }
    }

    /// A deferred notification comes back as it was stored; an orphan is one whose type has left the catalog meanwhile.
    private func expand(
        _ due: DeferredNotification, requests: inout [Request], orphans: inout [DeferredNotification]
    ) {
        guard !openKeys.contains(due.key) else { return }
        guard let event = EventDecoder.decodeStored(due.event), let type = planner.catalog.types[due.type] else {
            orphans.append(due)
            return
        }
        requests.append(
            Request(
                key: due.key, event: event, type: type, lane: due.lane, recordedAt: parts.clock.now(),
                origin: .deferral(due.id, due.event), isDue: true))
    }

    private func decideAndSend(
        _ requests: [Request], rejected: [RejectedPart], orphans: [DeferredNotification], reports: [PipelineReport]
    ) async {
        var rejected = rejected
        var reports = reports
        let keys = requests.map(\.key)
        let store = parts.store
        var snapshots: [RecipientSnapshot] = []
        if !keys.isEmpty {
            let recalled = await persistently("recall") { () async throws(StoreError) in try await store.recall(keys) }
            guard let recalled, recalled.count == keys.count else { return }
            snapshots = recalled
        }
        let now = parts.clock.now()
        var settlement = Settlement(finishedDeferrals: orphans.map(\.id))
        var claims: [Claim] = []
        var planned: [(request: Request, plan: NotificationPlan)] = []
        claims.reserveCapacity(requests.count)
        planned.reserveCapacity(requests.count)
        for (request, snapshot) in zip(requests, snapshots) {
            // The same event twice in this process at once: the first is on its way, this one only counts.
            let isRepeat = !openKeys.insert(request.key).inserted
            let plan =
                isRepeat
                ? NotificationPlan.duplicate
                : planner.plan(
                    request.event, as: request.type, for: request.key.user, snapshot: snapshot, isDue: request.isDue,
                    at: now)
            if !isRepeat, !plan.isSend { openKeys.remove(request.key) }
            if case .reject(let rejection) = plan { rejected.append(self.rejected(rejection, of: request)) }
            if case .duplicate = plan, !isRepeat, let entry = snapshot.entry, entry.state == .claimed {
                // A crash came between the last device's outcome and the closing of the row.
                settlement.closures.append(
                    Settlement.Closure(
                        key: request.key, state: .sent, reason: nil, wasAccepted: entry.hasAcceptance))
            }
            claims.append(claim(for: request, plan: plan, at: now))
            planned.append((request, plan))
        }
        for orphan in orphans {
            let part = self.rejected(orphan)
            rejected.append(part)
            claims.append(
                Claim(
                    key: orphan.key, type: orphan.type, action: .reject(reason: part.letter.rejection.reason),
                    deferral: orphan.id))
        }
        // Acknowledged before the ledger calls them closed: a crash in between repeats a dead letter and loses none.
        guard await publishPersistently(rejected.map(\.letter)) else { return }
        reports.append(contentsOf: rejected.map(\.report))
        if !claims.isEmpty {
            let written = claims
            let results = await persistently("claim") { () async throws(StoreError) in
                try await store.claim(written, at: now)
            }
            guard let results, results.count == claims.count else { return }
            await handOver(planned, results: results, settlement: settlement, reports: &reports)
        }
        for part in rejected {
            if let reference = part.reference { finishPart(of: reference) }
        }
        parts.observer?.saw(reports)
    }

    private func claim(for request: Request, plan: NotificationPlan, at now: UnixTime) -> Claim {
        var deferral: DeferralID?
        if case .deferral(let id, _) = request.origin { deferral = id }
        let action: Claim.Action =
            switch plan {
            case .send(let plan, _): .send(badgeApps: plan.badgeApps)
            case .suppress(let reason, _): .suppress(reason)
            case .postpone(let until, let rule, _):
                .postpone(
                    until: until, reason: rule.rawValue, lane: request.lane,
                    event: EventEncoder.encode(request.event.limited(to: request.key.user)))
            case .duplicate: .repeated
            case .reject(let rejection): .reject(reason: rejection.reason)
            }
        return Claim(key: request.key, type: request.type.rules.name, action: action, deferral: deferral)
    }

    private func handOver(
        _ planned: [(request: Request, plan: NotificationPlan)], results: [ClaimResult], settlement: Settlement,
        reports: inout [PipelineReport]
    ) async {
        var deliveries: [Delivery] = []
        var settlement = settlement
        for ((request, plan), result) in zip(planned, results) {
            let type = request.type.rules.name
            var outcome = NotificationReport.Outcome.duplicate
            switch (plan, result) {
            case (.send(let plan, let targets), .claimed(let counts)):
                outcome = .sent(devices: targets.count)
                deliveries.append(contentsOf: open(request, plan: plan, targets: targets, counts: counts))
            case (.send, _):
                openKeys.remove(request.key)
            case (.suppress(let reason, _), .recorded):
                outcome = .suppressed(reason)
            case (.postpone(let until, let rule, _), .recorded):
                outcome = .deferred(until: until, reason: rule.rawValue)
            case (.suppress, _), (.postpone, _), (.duplicate, _), (.reject, _):
                break
            }
            parts.meter.add(1, to: .notifications, [type, outcome.name, outcome.reason])
            if case .reject = plan {
            } else {
                reports.append(
                    .decided(
                        NotificationReport(
                            key: request.key, type: type, outcome: outcome, record: request.origin.reference)))
            }
            if case .sent = outcome { continue }
            switch request.origin {
            case .record(let reference, _):
                if case .reject = plan { continue }
                finishPart(of: reference)
            case .deferral(let id, _):
                if case .deferred = outcome { continue }
                settlement.finishedDeferrals.append(id)
            }
        }
        if !settlement.finishedDeferrals.isEmpty || !settlement.closures.isEmpty {
            let settlement = settlement
            let now = parts.clock.now()
            let store = parts.store
            _ = await persistently("settle") { () async throws(StoreError) in
                try await store.settle(settlement, at: now)
            }
        }
        if !deliveries.isEmpty { await dispatcher.submit(deliveries) }
    }

    /// Books a claimed notification and makes its deliveries.
    private func open(
        _ request: Request, plan: SendPlan, targets: [PlannedDelivery], counts: [AppID: Int]
    ) -> [Delivery] {
        let number = nextNotification
        nextNotification += 1
        open[number] = OpenNotification(
            key: request.key, type: request.type.rules.name, origin: request.origin, remaining: targets.count,
            wasAccepted: false, badgeApps: plan.badgeApps)
        openDeliveries[request.lane, default: 0] += targets.count
        return targets.map { target in
            let registration = target.device.registration
            badges.retain(request.key.user, registration.app, count: counts[registration.app] ?? 0)
            nextTicket += 1
            openBytes += target.rendered.payload.bytes.count
            return Delivery(
                ticket: nextTicket, notification: number, app: registration.key, user: request.key.user,
                lane: request.lane, recordedAt: request.recordedAt, planned: target)
        }
    }

    private func rejected(_ rejection: Rejection, of request: Request) -> RejectedPart {
        let user = request.key.user
        switch request.origin {
        case .record(let reference, let record):
            return rejected(
                rejection, of: reference, record, event: request.event, type: request.type.rules.name, user: user)
        case .deferral(_, let bytes):
            return rejected(rejection, ofDeferred: request.key, type: request.type.rules.name, bytes: bytes)
        }
    }

    private func rejected(_ orphan: DeferredNotification) -> RejectedPart {
        rejected(
            Rejection(
                kind: .configuration, stage: .decide,
                reason: "the catalog no longer has the type of this deferred notification"),
            ofDeferred: orphan.key, type: orphan.type, bytes: orphan.event)
    }

    private func rejected(
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

    private func rejected(
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

extension DomainEvent {
    /// The event as it concerns one person.
    fileprivate func limited(to user: UserID) -> DomainEvent {
        var event = self
        event.recipients = .users([user])
        return event
    }
}

extension NotificationPlan {
    fileprivate var isSend: Bool {
        switch self {
        case .send: true
        case .suppress, .postpone, .duplicate, .reject: false
        }
    }
}

extension OpenNotification.Origin {
    var reference: RecordReference? {
        switch self {
        case .record(let reference, _): reference
        case .deferral: nil
        }
    }
}

extension NotificationReport.Outcome {
    /// The word metrics and rows use.
    package var name: String {
        switch self {
        case .sent: "sent"
        case .suppressed: "suppressed"
        case .deferred: "deferred"
        case .duplicate: "duplicate"
        }
    }

    package var reason: String {
        switch self {
        case .sent, .duplicate: ""
        case .suppressed(let reason): reason.rawValue
        case .deferred(_, let reason): reason
        }
    }
}
