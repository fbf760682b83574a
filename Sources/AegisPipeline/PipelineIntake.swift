import AegisCore
package import AegisPorts

// MARK: - Reading, pausing, giving partitions back

extension Pipeline {
    func intakeLoop() async {
        while let signals = await parts.eventLog.signals() {
            for signal in signals { await take(signal) }
            await updatePauses()
            wakeWorker()
        }
    }

    private func take(_ signal: IntakeSignal) async {
        switch signal {
        case .records(let batch):
            let topic = batch.assignment.partition.topic
            let lane = settings.topics[topic]?.lane ?? .standard
            parts.meter.add(batch.records.count, to: .eventsConsumed, [topic])
            for record in batch.records {
                // What is drained or held no more is read again by whoever goes on from the committed offset.
                guard !isDraining, offsets.received(batch.assignment, record.offset) == .accepted else { continue }
                queue.append(
                    WorkQueue.Record(
                        reference: RecordReference(assignment: batch.assignment, offset: record.offset), record: record),
                    in: lane)
            }
        case .assigned(let assignments):
            hasJoined = true
            offsets.assigned(assignments)
            assignedPartitions.formUnion(assignments)
        case .revoking(let assignments):
            queue.remove(of: Set(assignments))
            revoking.append(assignments)
            await releaseFinished()
        case .lost(let assignments):
            parts.log.warning(
                "Partitions were lost to another member; what is in work there may repeat under the same apns-id",
                ["partitions": .number(Int64(assignments.count))])
            queue.remove(of: Set(assignments))
            forget(assignments)
            await releaseFinished()
            if isIdle { wakeIdleWaiters() }
        case .unreachable(let error):
            if brokerTrouble == nil {
                parts.log.error("Kafka cannot be reached; reading waits", ["detail": .text(error.description)])
            }
            brokerTrouble = error
        case .reachable:
            if brokerTrouble != nil { parts.log.info("Kafka is reachable again") }
            brokerTrouble = nil
        }
    }

    /// Gives partitions back once nothing of theirs is in work and what is finished is committed.
    ///
    /// Several loops ask for it at once, so nothing is set aside across a suspension: what one of them took out of the list
    /// and put back later, another would have missed.
    func releaseFinished() async {
        while let index = revoking.firstIndex(where: { $0.allSatisfy { inWork[$0] == nil } }) {
            let assignments = revoking.remove(at: index)
            await commit()
            forget(assignments)
            await parts.eventLog.release(assignments)
        }
    }

    private func forget(_ assignments: [PartitionAssignment]) {
        offsets.revoked(assignments)
        assignedPartitions.subtract(assignments)
        for assignment in assignments { inWork[assignment] = nil }
    }

    /// Pauses the topics whose lane has reached its limit, all of them in an outage, and resumes them when there is room.
    func updatePauses() async {
        guard case .none = pauseUpdate else {
            pauseUpdate = .runningAndAsked
            return
        }
        repeat {
            pauseUpdate = .running
            await pauseAndResume()
        } while pauseUpdate == .runningAndAsked
        pauseUpdate = .none
    }

    private func pauseAndResume() async {
        let isOutage = await isOutage
        let held = openDeliveryCount + queue.recordCount
        let bytes = queue.byteCount + openBytes
        let bytesLimit = pausedTopics.isEmpty ? settings.maxInFlightBytes : settings.maxInFlightBytes / 4 * 3
        let mustStop = isOutage || isDraining || bytes >= bytesLimit
        let reason: PauseReason =
            isOutage ? .outage : isDraining ? .draining : bytes >= bytesLimit ? .bytes : .inFlight
        var paused: Set<String> = []
        for (topic, topicSettings) in settings.topics {
            let limit = settings.limit(of: topicSettings.lane)
            // A topic that stopped goes on when a quarter of the room is free again, so that it does not flap.
            let threshold = pausedTopics.contains(topic) ? limit / 4 * 3 : limit
            if mustStop || held >= max(1, threshold) { paused.insert(topic) }
        }
        let partitions = assignedPartitions.count { paused.contains($0.partition.topic) }
        for each in PauseReason.allCases {
            parts.meter.set(Double(each == reason ? partitions : 0), of: .partitionsPaused, [each.rawValue])
        }
        guard paused != pausedTopics else { return }
        pausedTopics = paused
        await parts.eventLog.setPaused(paused)
    }

    var openDeliveryCount: Int { openDeliveries.values.reduce(0, +) }

    /// Nothing could be done with what would be read: the store is down, too many dead letters wait for the broker, or every
    /// app's circuit is open.
    var isOutage: Bool {
        get async {
            if storeTrouble != nil || deadLetterTrouble != nil && hasLetterBacklog { return true }
            return await dispatcher.holdsEverythingBack
        }
    }

    func wakeWorker() {
        switch worker {
        case .busy, .called:
            worker = .called
        case .waiting(let continuation):
            worker = .busy
            continuation.resume()
        }
    }
}

/// Why partitions are not read, as `aegis_partitions_paused` names it; where several hold, the first of these.
private enum PauseReason: String, CaseIterable {
    case outage
    case draining
    case bytes
    case inFlight = "in_flight"
}

// MARK: - Committing

extension Pipeline {
    func commitLoop() async {
        while !isStopped {
            await pause(for: settings.commitInterval)
            await commit()
            await updatePauses()
            wakeWorker()
        }
    }

    /// Commits what is finished; what cannot be committed now is tried with the next call.
    ///
    /// One at a time: a commit that was overtaken by a later one would set the group back.
    func commit() async {
        while isCommitting { await withCheckedContinuation { commitWaiters.append($0) } }
        let positions = offsets.committable()
        guard !positions.isEmpty else { return }
        isCommitting = true
        do throws(EventLogError) {
            try await parts.eventLog.commit(positions)
            offsets.committed(positions)
        } catch {
            parts.log.debug("Commit failed and is tried again", ["detail": .text(error.description)])
        }
        isCommitting = false
        for waiter in commitWaiters { waiter.resume() }
        commitWaiters = []
    }

    /// A part of a record has its final outcome; the record is finished with the last of them.
    func finishPart(of reference: RecordReference) {
        guard var record = openRecords[reference] else { return }
        record.remaining -= 1
        guard record.remaining <= 0 else {
            openRecords[reference] = record
            return
        }
        openRecords[reference] = nil
        openBytes -= record.bytes
        offsets.finished(reference.assignment, reference.offset)
        guard let count = inWork[reference.assignment] else { return }
        inWork[reference.assignment] = count > 1 ? count - 1 : nil
    }
}

// MARK: - Lasting troubles

extension Pipeline {
    func reminderLoop() async {
        var next = parts.clock.uptime().advanced(by: settings.reminderInterval)
        while !isStopped {
            await pause(for: min(.seconds(1), settings.reminderInterval))
            await measure()
            guard parts.clock.uptime() >= next else { continue }
            next = parts.clock.uptime().advanced(by: settings.reminderInterval)
            if let brokerTrouble {
                parts.log.error("Kafka still cannot be reached", ["detail": .text(brokerTrouble.description)])
            }
            if let deadLetterTrouble {
                parts.log.error(
                    "Dead letters still cannot be published", ["detail": .text(deadLetterTrouble.description)])
            }
            if let storeTrouble {
                parts.log.error("The store still does not answer", ["detail": .text(storeTrouble.description)])
            }
        }
    }

    private func measure() async {
        for lane in Lane.allCases {
            parts.meter.set(Double(openDeliveries[lane] ?? 0), of: .inFlightDeliveries, [lane.rawValue])
        }
        let lags = await parts.eventLog.lag()
        let held = Set(assignedPartitions.map(\.partition))
        // Another member has it now, and tells of it; what is held and could not be asked for keeps its last figure.
        for gone in measuredPartitions.subtracting(held) {
            parts.meter.remove(.consumerLag, [gone.topic, "\(gone.partition)"])
        }
        measuredPartitions.formIntersection(held)
        for (partition, lag) in lags where held.contains(partition) {
            parts.meter.set(Double(lag), of: .consumerLag, [partition.topic, "\(partition.partition)"])
            measuredPartitions.insert(partition)
        }
        if storeTrouble == nil, let count = try? await parts.store.deferredCount() {
            parts.meter.set(Double(count), of: .deferredNotifications, [])
        }
        await measureDevices()
    }
}

extension Pipeline {
    /// Counts all devices, which is a look at each: now and then is often enough.
    private func measureDevices() async {
        let now = parts.clock.uptime()
        if let last = devicesMeasuredAt, last.duration(to: now) < .seconds(60) { return }
        guard storeTrouble == nil else { return }
        // Also if it fails: a count that cannot be had is not asked for each second.
        devicesMeasuredAt = now
        guard let counts = try? await parts.store.deviceCounts() else { return }
        // What is gone is 0 and not what it was.
        for series in deviceSeries { parts.meter.set(0, of: .devices, series) }
        deviceSeries = []
        for count in counts {
            let series = [count.app.text, count.authorization.rawValue]
            deviceSeries.append(series)
            parts.meter.set(Double(count.count), of: .devices, series)
        }
    }
}

// MARK: - Health

extension Pipeline: ServiceHealth {
    package func health() async -> HealthReport {
        var reasons: [String] = []
        var degraded: [String] = []
        if isDraining { reasons.append("draining") }
        if !hasJoined { reasons.append("the consumer group was not joined yet") }
        if let storeTrouble { reasons.append("the store does not answer: \(storeTrouble.detail)") }
        if let brokerTrouble { degraded.append("Kafka cannot be reached: \(brokerTrouble.detail)") }
        if let deadLetterTrouble {
            degraded.append("dead letters cannot be published: \(deadLetterTrouble.detail)")
        } else if let since = lettersWaitSince, since.duration(to: parts.clock.uptime()) > .seconds(5) {
            degraded.append("dead letters wait for the broker's acknowledgement")
        }
        for (app, detail) in await dispatcher.unreachableApps.sorted(by: { $0.key.description < $1.key.description }) {
            degraded.append("APNs cannot be reached for \(app): \(detail)")
        }
        for (app, reason) in await dispatcher.openCircuits.sorted(by: { $0.key.description < $1.key.description }) {
            degraded.append("circuit of \(app) is open: \(reason)")
        }
        if !isDraining, !pausedTopics.isEmpty {
            degraded.append("paused topics: \(pausedTopics.sorted().joined(separator: ", "))")
        }
        return HealthReport(isReady: reasons.isEmpty, notReadyReasons: reasons, degraded: degraded)
    }
}
