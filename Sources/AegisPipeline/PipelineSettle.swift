import AegisContent
import AegisCore
import AegisPorts

// MARK: - Settling: outcomes, prunes, dead letters, offsets

extension Pipeline {
    func settleLoop() async {
        while let results = await dispatcher.results() {
            await settle(results.deliveries, badTokens: results.badTokens)
            await releaseFinished()
            if isIdle { wakeIdleWaiters() }
            await updatePauses()
            wakeWorker()
        }
    }

    private func settle(_ results: [DeliveryResult], badTokens: [DispatchResults.BadToken]) async {
        guard let final = await prune(results) else { return }
        var settlement = Settlement()
        settlement.quarantines = badTokens.map {
            Settlement.Prune(token: $0.token, app: $0.app, goneAt: nil, reason: $0.reason)
        }
        var reports: [PipelineReport] = []
        var changed: [UInt64: OpenNotification] = [:]
        var touched: [DeliveryResult] = []
        for result in final {
            let number = result.delivery.notification
            guard var notification = changed[number] ?? open[number] else { continue }
            touched.append(result)
            notification.remaining -= 1
            if result.outcome == .accepted { notification.wasAccepted = true }
            if result.outcome == .failed {
                notification.failures.append(result)
            } else {
                settlement.deliveries.append(settled(result, of: notification))
            }
            reports.append(
                .delivered(
                    result, key: notification.key, type: notification.type, reason: result.response?.reason?.text))
            changed[number] = notification
            if notification.isDelivered { close(notification, in: &settlement) }
        }
        guard await write(settlement, at: parts.clock.now()) else { return }
        for result in touched { release(result) }
        for (number, notification) in changed { update(number, with: notification) }
        await refreshBadges(of: changed.values.filter { $0.isDelivered && !$0.wasAccepted })
        count(touched, badTokens: badTokens)
        parts.observer?.saw(reports)
    }

    /// What is written is what is known from now on; a notification stays open until then.
    private func update(_ number: UInt64, with notification: OpenNotification) {
        var notification = notification
        // Repeats may have joined while it was written.
        notification.repeats = open[number]?.repeats ?? []
        guard !notification.isDelivered else {
            open[number] = nil
            return finish(notification)
        }
        open[number] = notification
        // A failed device is closed only after its dead letter is safe.
        guard notification.remaining == 0, let letter = deadLetter(for: notification) else { return }
        publish([PendingLetter(letter: letter, closing: .failure(number))])
    }

    /// Asks for the counts that a notification without an acceptance has left: the store knows whether they were reset since.
    ///
    /// Only where another push to the person is on its way; else the next claim brings the count with it.
    func refreshBadges(of ended: [OpenNotification]) async {
        let store = parts.store
        for notification in ended {
            for app in notification.badgeApps where badges.isOnItsWay(to: notification.key.user, app) {
                guard let count = try? await store.badge(of: notification.key.user, app: app) else { continue }
                badges.update(notification.key.user, app, count: count)
            }
        }
    }

    /// Writes outcomes; false once the pipeline has stopped.
    func write(_ settlement: Settlement, at now: UnixTime) async -> Bool {
        guard !settlement.isEmpty else { return true }
        let store = parts.store
        let settled = await persistently("settle") { () async throws(StoreError) in
            try await store.settle(settlement, at: now)
        }
        return settled != nil
    }

    /// Soft-deletes what 410s named, and gives those another chance whose device has registered since.
    ///
    /// What is left is final.
    private func prune(_ results: [DeliveryResult]) async -> [DeliveryResult]? {
        let candidates = results.indices.filter {
            if case .prune = results[$0].device { true } else { false }
        }
        guard !candidates.isEmpty else { return results }
        let prunes = candidates.map { index -> Settlement.Prune in
            guard case .prune(let goneAt) = results[index].device else { return prune(of: results[index], goneAt: nil) }
            return prune(of: results[index], goneAt: goneAt)
        }
        let now = parts.clock.now()
        let store = parts.store
        let answers = await persistently("prune") { () async throws(StoreError) in
            try await store.settle(Settlement(prunes: prunes), at: now)
        }
        guard let answers, answers.count == candidates.count else { return nil }
        var kept: [Int] = []
        for (index, answer) in zip(candidates, answers) {
            switch answer {
            case .pruned(let rows):
                parts.meter.add(rows, to: .tokensPruned, [results[index].response?.reason?.text ?? "410"])
            case .kept:
                kept.append(index)
            }
        }
        guard let registered = await stillRegistered(kept.map { results[$0] }) else { return nil }
        var final = results
        var again: [DeliveryResult] = []
        var dropped: Set<Int> = []
        for (index, isRegistered) in zip(kept, registered) {
            // Gone by an earlier answer about the same token: its end stands.
            guard isRegistered else { continue }
            if results[index].delivery.wasGivenAnotherChance {
                final[index].outcome = .failed
            } else {
                again.append(results[index])
                dropped.insert(index)
            }
        }
        if !again.isEmpty { await dispatcher.giveAnotherChance(again, after: settings.secondChanceDelay) }
        return final.indices.filter { !dropped.contains($0) }.map { final[$0] }
    }

    /// Whether each one's user still has a device with its token; nil once the pipeline has stopped.
    private func stillRegistered(_ results: [DeliveryResult]) async -> [Bool]? {
        let keys = results.compactMap { open[$0.delivery.notification]?.key }
        guard !keys.isEmpty else { return results.map { _ in false } }
        guard let snapshots = await recall(keys.map { RecallQuestion(key: $0) }) else { return nil }
        let devices = Dictionary(zip(keys, snapshots).map { ($0, $1.devices) }, uniquingKeysWith: { first, _ in first })
        return results.map { result in
            let registration = result.delivery.planned.device.registration
            guard let key = open[result.delivery.notification]?.key else { return false }
            return devices[key]?.contains {
                $0.registration.token == registration.token && $0.registration.key == registration.key
            } ?? false
        }
    }

    private func prune(of result: DeliveryResult, goneAt: UnixTime?) -> Settlement.Prune {
        Settlement.Prune(
            token: result.delivery.planned.device.registration.token, app: result.delivery.app, goneAt: goneAt,
            reason: result.response?.reason?.text ?? "\(result.response?.status ?? 0)")
    }

    func settled(_ result: DeliveryResult, of notification: OpenNotification) -> Settlement.Delivery {
        Settlement.Delivery(
            key: notification.key, device: result.delivery.planned.device.id, pushID: result.delivery.planned.pushID,
            outcome: result.outcome, status: result.response?.status, reason: result.response?.reason?.text,
            attempts: result.attempts)
    }

    func close(_ notification: OpenNotification, in settlement: inout Settlement) {
        settlement.closures.append(
            Settlement.Closure(
                key: notification.key, state: .sent, reason: nil, wasAccepted: notification.wasAccepted))
        if case .deferral(let id, _) = notification.origin { settlement.finishedDeferrals.append(id) }
    }

    private func deadLetter(for notification: OpenNotification) -> DeadLetter? {
        guard let last = notification.failures.last else { return nil }
        let response = last.response
        let answer = response.map { "\($0.status) \($0.reason?.text ?? "without a reason")" } ?? "no answer"
        let partition: TopicPartition
        let record: KafkaRecord
        switch notification.origin {
        case .record(let reference, let original):
            partition = reference.assignment.partition
            record = original
        case .deferral(_, let bytes):
            (partition, record) = deferredOrigin(of: notification.key, bytes: bytes)
        }
        return DeadLetter(
            rejection: Rejection(
                kind: .delivery, stage: .send,
                reason: "\(notification.failures.count) of the user's devices failed, the last with \(answer)"),
            origin: partition, record: record, eventID: notification.key.event.id, type: notification.type,
            user: parts.digests.hash(of: notification.key.user),
            targets: notification.failures.map {
                parts.digests.hash(of: $0.delivery.planned.device.registration.token)
            },
            attempts: notification.failures.map(\.attempts).max() ?? 0, apnsStatus: response?.status,
            apnsReason: response?.reason?.text)
    }

    private func release(_ result: DeliveryResult) {
        let delivery = result.delivery
        badges.release(delivery.user, delivery.app.app)
        openBytes -= delivery.planned.rendered.payload.bytes.count
        openDeliveries[delivery.lane] = max(0, (openDeliveries[delivery.lane] ?? 0) - 1)
    }

    func finish(_ notification: OpenNotification) {
        openKeys[notification.key] = nil
        if case .record(let reference, _) = notification.origin { finishPart(of: reference) }
        for reference in notification.repeats { finishPart(of: reference) }
    }

    private func count(_ results: [DeliveryResult], badTokens: [DispatchResults.BadToken]) {
        for token in badTokens { parts.meter.add(1, to: .tokensPruned, [token.reason]) }
        var waits: [Lane: [Double]] = [:]
        for result in results {
            let delivery = result.delivery
            parts.meter.add(
                1, to: .deliveries,
                [
                    delivery.app.app.text, delivery.app.environment.rawValue, delivery.planned.type.rawValue,
                    result.outcome.name,
                ])
            if result.response != nil {
                waits[delivery.lane, default: []].append(max(0, result.endedAt.since(delivery.recordedAt).seconds))
            }
            if result.alerts {
                parts.log.error(
                    "APNs refused a push for a reason that is ours to mend",
                    [
                        "app": .text(delivery.app.description),
                        "reason": .text(result.response?.reason?.text ?? "unsendable"),
                        "device": .device(parts.digests.hash(of: delivery.planned.device.registration.token)),
                    ])
            }
        }
        for (lane, seconds) in waits { parts.meter.observe(seconds, in: .eventToAPNsDuration, [lane.rawValue]) }
    }
}
