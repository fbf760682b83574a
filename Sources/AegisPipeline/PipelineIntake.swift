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
            parts.meter.add(batch.records.count, to: .eventsConsumed, [batch.assignment.partition.topic])
            for record in batch.records {
                // What is drained or held no more is read again by whoever goes on from the committed offset.
                guard !isDraining, offsets.received(batch.assignment, record.offset) == .accepted else { continue }
                queue.append(
                    WorkQueue.Record(
                        reference: RecordReference(assignment: batch.assignment, offset: record.offset), record: record)
                )
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
    func releaseFinished() async {
        var waiting: [[PartitionAssignment]] = []
        let asked = revoking
        revoking = []
        for assignments in asked {
            guard assignments.allSatisfy({ inWork[$0] == nil }) else {
                waiting.append(assignments)
                continue
            }
            await commit()
            forget(assignments)
            await parts.eventLog.release(assignments)
        }
        revoking.append(contentsOf: waiting)
    }

    private func forget(_ assignments: [PartitionAssignment]) {
        offsets.revoked(assignments)
        assignedPartitions.subtract(assignments)
        for assignment in assignments { inWork[assignment] = nil }
    }

    /// Pauses the topics whose lane has reached its limit, all of them in an outage, and resumes them when there is room.
    func updatePauses() async {
        let held = openDeliveries.values.reduce(0, +) + queue.recordCount
        let bytes = queue.byteCount + openBytes
        let bytesLimit = pausedTopics.isEmpty ? settings.maxInFlightBytes : settings.maxInFlightBytes / 4 * 3
        let mustStop = await isOutage || isDraining || bytes >= bytesLimit
        var paused: Set<String> = []
        for (topic, topicSettings) in settings.topics {
            let limit = settings.limit(of: topicSettings.lane)
            // A topic that stopped goes on when a quarter of the room is free again, so that it does not flap.
            let threshold = pausedTopics.contains(topic) ? limit / 4 * 3 : limit
            if mustStop || held >= max(1, threshold) { paused.insert(topic) }
        }
        let partitions = assignedPartitions.count { paused.contains($0.partition.topic) }
        parts.meter.set(Double(mustStop ? partitions : 0), of: .partitionsPaused, ["outage"])
        parts.meter.set(Double(mustStop ? 0 : partitions), of: .partitionsPaused, ["in_flight"])
        guard paused != pausedTopics else { return }
        pausedTopics = paused
        await parts.eventLog.setPaused(paused)
    }

    /// Nothing could be done with what would be read: the store is down, or every app's circuit is open.
    var isOutage: Bool {
        get async {
            if storeTrouble != nil { return true }
            return await dispatcher.areAllCircuitsOpen
        }
    }

    func wakeWorker() {
        worker?.resume()
        worker = nil
    }
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
    func commit() async {
        let positions = offsets.committable()
        guard !positions.isEmpty else { return }
        do throws(EventLogError) {
            try await parts.eventLog.commit(positions)
            offsets.committed(positions)
        } catch {
            parts.log.debug("Commit failed and is tried again", ["detail": .text(error.description)])
        }
    }

    /// A part of a record has its final outcome; the record is finished with the last of them.
    func finishPart(of reference: RecordReference) {
        guard let remaining = openParts[reference] else { return }
        guard remaining <= 1 else {
            openParts[reference] = remaining - 1
            return
        }
        openParts[reference] = nil
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
            if let storeTrouble {
                parts.log.error("The store still does not answer", ["detail": .text(storeTrouble.description)])
            }
        }
    }

    private func measure() async {
        for lane in Lane.allCases {
            parts.meter.set(Double(openDeliveries[lane] ?? 0), of: .inFlightDeliveries, [lane.rawValue])
        }
        for (partition, lag) in await parts.eventLog.lag() {
            parts.meter.set(Double(lag), of: .consumerLag, [partition.topic, "\(partition.partition)"])
        }
        if storeTrouble == nil, let count = try? await parts.store.deferredCount() {
            parts.meter.set(Double(count), of: .deferredNotifications, [])
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
        for (app, reason) in await dispatcher.openCircuits.sorted(by: { $0.key.description < $1.key.description }) {
            degraded.append("circuit of \(app) is open: \(reason)")
        }
        if !isDraining, !pausedTopics.isEmpty {
            degraded.append("paused topics: \(pausedTopics.sorted().joined(separator: ", "))")
        }
        return HealthReport(isReady: reasons.isEmpty, notReadyReasons: reasons, degraded: degraded)
    }
}
