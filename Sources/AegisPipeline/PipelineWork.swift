import AegisContent
import AegisCore
import AegisEvents
import AegisPorts

/// One event for one person, before it is decided.
struct Request {
    var key: NotificationKey
    var event: DomainEvent
    var type: CatalogType
    var lane: Lane
    var recordedAt: UnixTime
    var origin: OpenNotification.Origin
    var isDue: Bool

    var recallQuestion: RecallQuestion {
        RecallQuestion(key: key, frequencyKey: type.rules.frequencyKey)
    }
}

/// A request and what was decided about it.
private struct Planned {
    var request: Request
    var plan: NotificationPlan
    /// Its own if it is sent, or that of the one it repeats.
    var number: UInt64?
    var isRepeat: Bool
    /// Whether a device accepted it before.
    var wasAccepted: Bool
    /// Of a due digest.
    var items = 0
    /// A crash came between the last device's outcome and the closing of the row, which is made up for.
    var isLeftOpen = false
}

// MARK: - Planning: decode, expand, enrich, decide, render, claim, hand over

extension Pipeline {
    func workLoop() async {
        while !isStopped {
            worker = .busy
            guard await mayWork else {
                await waitForCall()
                continue
            }
            await process()
            // What changed under its decision may go on changing for a moment: another instance is at it.
            if !outdated.isEmpty { await pause(for: min(.milliseconds(5), settings.firstBackoff)) }
            await releaseFinished()
            if isIdle { wakeIdleWaiters() }
            await updatePauses()
        }
    }

    private func waitForCall() async {
        // A call that came while the question was asked, or the stop, must not be slept through.
        guard case .busy = worker, !isStopped else { return }
        await withCheckedContinuation { worker = .waiting($0) }
    }

    private var mayWork: Bool {
        get async {
            let hasWork =
                !outdated.isEmpty || (queue.hasDue && hasRoom(in: .standard))
                || Lane.allCases.contains { queue.hasRecords(in: $0) && hasRoom(in: $0) }
            guard hasWork, !hasLetterBacklog else { return false }
            return await !isOutage
        }
    }

    /// Room in memory for deliveries of a lane: bulk leaves some to standard, and standard some to urgent.
    private func hasRoom(in lane: Lane) -> Bool {
        openDeliveryCount < max(1, settings.limit(of: lane))
    }

    func deferralLoop() async {
        var isBehind = false
        while !isStopped {
            // While more is due than one batch takes, the next follows as soon as this one is in work.
            await pause(for: isBehind ? min(.milliseconds(5), settings.deferralInterval) : settings.deferralInterval)
            // What is taken is leased: nothing is, while it could not be used.
            guard !isDraining, !queue.hasDue, await !isOutage else { continue }
            let now = parts.clock.now()
            let limit = settings.batchSize
            let lease = settings.deferralLease
            let store = parts.store
            let due = await persistently("take_due") { () async throws(StoreError) in
                try await store.takeDue(at: now, limit: limit, lease: lease)
            }
            isBehind = due?.count == limit
            guard let due, !due.isEmpty, !isDraining else { continue }
            queue.append(due: due)
            wakeWorker()
        }
    }

    private func process() async {
        var requests = outdated
        outdated = []
        var rejected: [PendingLetter] = []
        var reports: [PipelineReport] = []
        var orphans: [DeferredNotification] = []
        if hasRoom(in: .standard) {
            let due = queue.takeDue()
            dueInWork += due.count
            for notification in due { expand(notification, requests: &requests, orphans: &orphans) }
        }
        for lane in Lane.allCases where hasRoom(in: lane) {
            // A lane takes no more than it has room for, a delivery for each notification at least; one record may ask for
            // thousands, so notifications are counted as well.
            let room = max(1, settings.limit(of: lane) - openDeliveryCount)
            let limit = requests.count + min(settings.batchSize, room)
            var records = 0
            while records < settings.batchSize, requests.count < limit, let record = queue.takeFirst(in: lane) {
                records += 1
                inWork[record.reference.assignment, default: 0] += 1
                openBytes += record.byteCount
                let before = requests.count + rejected.count
                expand(record, requests: &requests, rejected: &rejected, reports: &reports)
                let count = requests.count + rejected.count - before
                openRecords[record.reference] = OpenRecord(remaining: max(1, count), bytes: record.byteCount)
                if count == 0 { finishPart(of: record.reference) }
            }
        }
        if await decideAndSend(requests, rejected: rejected, orphans: orphans, reports: reports) {
            dueInWork = outdated.count(where: \.isDue)
        }
    }

    private func expand(
        _ record: WorkQueue.Record, requests: inout [Request], rejected: inout [PendingLetter],
        reports: inout [PipelineReport]
    ) {
        let partition = record.reference.assignment.partition
        let topic = settings.topics[partition.topic] ?? PipelineSettings.Topic()
        func ignore(_ reason: IgnoreReason) {
            parts.meter.add(1, to: .eventsIgnored, [partition.topic, reason.rawValue])
            reports.append(.ignored(record: record.reference, reason: reason))
        }
        func reject(_ rejection: Rejection, _ event: DomainEvent?) {
            rejected.append(self.reject(rejection, of: record, event: event))
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
        guard openKeys[due.key] == nil else { return }
        guard let event = EventDecoder.decodeStored(due.event), let type = planner.catalog.types[due.type] else {
            orphans.append(due)
            return
        }
        requests.append(
            Request(
                key: due.key, event: event, type: type, lane: due.lane, recordedAt: parts.clock.now(),
                origin: .deferral(due.id, due.event), isDue: true))
    }

    /// False if the pipeline has stopped before everything was handed over.
    private func decideAndSend(
        _ requests: [Request], rejected: [PendingLetter], orphans: [DeferredNotification], reports: [PipelineReport]
    ) async -> Bool {
        var reports = reports
        guard let snapshots = await recall(requests.map(\.recallQuestion)) else { return false }
        let now = parts.clock.now()
        var letters = rejected + orphans.map { reject(orphan: $0) }
        let planned = plan(requests, snapshots: snapshots, letters: &letters, at: now)
        publish(letters)
        guard let results = await write(planned.map { claim(for: $0.request, plan: $0.plan, items: $0.items) }, at: now)
        else {
            return false
        }
        guard await handOver(planned, results: results, reports: &reports) else { return false }
        parts.observer?.saw(reports)
        return true
    }

    /// Decides on each; what is refused is booked and goes to the dead letters, the rest is answered.
    private func plan(
        _ requests: [Request], snapshots: [RecipientSnapshot], letters: inout [PendingLetter], at now: UnixTime
    ) -> [Planned] {
        var planned: [Planned] = []
        planned.reserveCapacity(requests.count)
        // What the batch itself sends counts for what comes after it.
        var sends: [CountedUser: Int] = [:]
        for (request, snapshot) in zip(requests, snapshots) {
            let key = request.key
            var snapshot = snapshot
            let counted = request.type.rules.frequencyKey.map { CountedUser(user: key.user, key: $0) }
            if let counted, let count = sends[counted] {
                snapshot.recentSends += Array(repeating: now, count: count)
            }
            let number = openKeys[key]
            // The same event twice in this process at once: the first is on its way.
            guard number == nil else {
                if let number, open[number]?.isRejected == true {
                    // There is no row yet to count it on: that comes with the dead letter.
                    if case .record(let reference, _) = request.origin { open[number]?.repeats.append(reference) }
                    continue
                }
                planned.append(
                    Planned(request: request, plan: .duplicate, number: number, isRepeat: true, wasAccepted: false))
                continue
            }
            let plan = planner.plan(
                request.event, as: request.type, for: key.user, snapshot: snapshot, isDue: request.isDue, at: now)
            var item = Planned(
                request: request, plan: plan, isRepeat: false, wasAccepted: snapshot.entry?.hasAcceptance ?? false,
                items: snapshot.entry?.items ?? 0)
            switch plan {
            case .send(let plan, _):
                if let counted, plan.counts != nil { sends[counted, default: 0] += 1 }
                item.number = nextNotification
                openKeys[key] = nextNotification
                nextNotification += 1
            case .reject(let rejection):
                openKeys[key] = nextNotification
                letters.append(
                    reject(rejection, request, number: nextNotification, wasAccepted: item.wasAccepted))
                nextNotification += 1
                continue
            case .duplicate:
                item.isLeftOpen = snapshot.entry?.state == .claimed
            case .suppress, .join, .postpone:
                break
            }
            planned.append(item)
        }
        return planned
    }

    func recall(_ questions: [RecallQuestion]) async -> [RecipientSnapshot]? {
        guard !questions.isEmpty else { return [] }
        let store = parts.store
        return await persistently("recall") { () async throws(StoreError) in
            try await store.recall(questions).checked(count: questions.count, during: "recall")
        }
    }

    func write(_ claims: [Claim], at now: UnixTime) async -> [ClaimResult]? {
        guard !claims.isEmpty else { return [] }
        let store = parts.store
        return await persistently("claim") { () async throws(StoreError) in
            try await store.claim(claims, at: now).checked(count: claims.count, during: "claim")
        }
    }

    func claim(for request: Request, plan: NotificationPlan, items: Int = 0) -> Claim {
        var deferral: DeferralID?
        if case .deferral(let id, _) = request.origin { deferral = id }
        let action: Claim.Action =
            switch plan {
            case .send(let plan, _): .send(badgeApps: plan.badgeApps, counts: request.counted(plan.counts))
            case .suppress(let reason, _): .suppress(reason)
            case .join(let digest, let reason, _):
                .join(
                    digest, reason, lane: request.lane,
                    event: EventEncoder.encode(request.event.limited(to: request.key.user).newest(of: digest)))
            case .postpone(let until, let rule, _):
                .postpone(
                    until: until, reason: rule.rawValue, lane: request.lane,
                    event: EventEncoder.encode(request.event.limited(to: request.key.user)))
            case .duplicate: .repeated
            case .reject(let rejection): .reject(reason: rejection.reason)
            }
        return Claim(
            key: request.key, type: request.type.rules.name, action: action, deferral: deferral, items: items,
            trace: plan.effects)
    }

    /// False if the pipeline has stopped before everything was written.
    private func handOver(
        _ planned: [Planned], results: [ClaimResult], reports: inout [PipelineReport]
    ) async -> Bool {
        var deliveries: [Delivery] = []
        var settlement = Settlement()
        for (item, result) in zip(planned, results) {
            let request = item.request
            let type = request.type.rules.name
            var outcome = NotificationReport.Outcome.duplicate
            switch (item.plan, result) {
            case (.send(let plan, let targets), .claimed(let counts)):
                outcome = .sent(devices: targets.count)
                deliveries.append(contentsOf: open(item, plan: plan, targets: targets, counts: counts))
            case (.send, let result):
                openKeys[request.key] = nil
                if result == .outdated {
                    outdated.append(request)
                    continue
                }
            case (.join, .outdated), (.postpone, .outdated):
                outdated.append(request)
                continue
            case (.suppress(let reason, _), .recorded), (.join(_, let reason, _), .recorded):
                outcome = .suppressed(reason)
            case (.postpone(let until, let rule, _), .recorded):
                outcome = .deferred(until: until, reason: rule.rawValue)
            case (.suppress, _), (.join, _), (.postpone, _), (.duplicate, _), (.reject, _):
                break
            }
            parts.meter.add(1, to: .notifications, [type, outcome.name, outcome.reason])
            reports.append(
                .decided(
                    NotificationReport(
                        key: request.key, type: type, outcome: outcome, record: request.origin.reference)))
            if case .sent = outcome { continue }
            if item.isLeftOpen {
                settlement.closures.append(
                    Settlement.Closure(key: request.key, state: .sent, reason: nil, wasAccepted: item.wasAccepted))
            }
            if case .deferral(let id, _) = request.origin, isDone(item, outcome) {
                settlement.finishedDeferrals.append(id)
            }
            if case .record(let reference, _) = request.origin { end(item, of: reference) }
        }
        if !deliveries.isEmpty { await dispatcher.submit(deliveries) }
        return await write(settlement, at: parts.clock.now())
    }

    /// Whether the row of a due notification that is not sent may go.
    private func isDone(_ item: Planned, _ outcome: NotificationReport.Outcome) -> Bool {
        // Postponed again, it has a new row; a repeat keeps its lease, and finds the ledger closed when it comes again.
        if case .deferred = outcome { return false }
        return !item.isRepeat
    }

    /// A record's part that needs no sending ends at once, or with the notification that it repeats: were it committed before
    /// that one has ended, a crash would lose both.
    private func end(_ item: Planned, of reference: RecordReference) {
        if item.isRepeat, let number = item.number, open[number] != nil {
            open[number]?.repeats.append(reference)
        } else {
            finishPart(of: reference)
        }
    }

    /// Books a claimed notification and makes its deliveries.
    private func open(
        _ item: Planned, plan: SendPlan, targets: [PlannedDelivery], counts: [AppID: Int]
    ) -> [Delivery] {
        guard let number = item.number else { return [] }
        let request = item.request
        open[number] = OpenNotification(
            key: request.key, type: request.type.rules.name, origin: request.origin, remaining: targets.count,
            wasAccepted: item.wasAccepted, badgeApps: plan.badgeApps)
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
}

extension Request {
    /// What the ledger counts it as, under the limit it was planned with.
    fileprivate func counted(_ limit: FrequencyLimit?) -> CountedSend? {
        guard let limit, let key = type.rules.frequencyKey else { return nil }
        return CountedSend(key: key, limit: limit)
    }
}

/// One person's sends under one limit.
private struct CountedUser: Hashable {
    var user: UserID
    var key: String
}

extension DomainEvent {
    /// The event as the digest that stands for it and others.
    fileprivate func newest(of digest: Digest) -> DomainEvent {
        var event = self
        event.identity = digest.key.event
        event.deliverAt = digest.dueAt
        event.expiresAt = nil
        event.collapseID = nil
        return event
    }

    /// The event as it concerns one person.
    fileprivate func limited(to user: UserID) -> DomainEvent {
        var event = self
        event.recipients = .users([user])
        return event
    }
}

extension Array where Element: Sendable {
    /// An answer of the wrong length would leave records without an end: it is a trouble of the store like any other.
    fileprivate func checked(count expected: Int, during operation: String) throws(StoreError) -> [Element] {
        guard count == expected else {
            throw StoreError(
                kind: .corrupt, operation: operation, detail: "\(count) answers to \(expected) questions")
        }
        return self
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
