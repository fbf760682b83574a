import AegisCore
import AegisPorts

/// A dead letter on its way, and what is closed once the broker has acknowledged it.
///
/// In that order, so that a crash in between repeats a dead letter and loses none.
struct PendingLetter {
    enum Closing {
        /// A part of a record that names no notification.
        case part(of: RecordReference)
        /// A notification of which nothing was sent; the claim closes its row.
        case rejection(UInt64, Claim)
        /// A notification of which some devices failed.
        case failure(UInt64)
    }

    var letter: DeadLetter
    var closing: Closing
    /// Told once it is acknowledged.
    var report: PipelineReport?
    /// Was called too large in the company of others: the broker may have meant them together.
    var goesAlone = false
}

// MARK: - Dead letters: a loop of their own, so that one that cannot be published holds up its own record alone

extension Pipeline {
    /// Whether so many wait that what is read would only add to them.
    var hasLetterBacklog: Bool { letters.count >= settings.batchSize * 2 }

    func publish(_ batch: [PendingLetter]) {
        guard !batch.isEmpty else { return }
        letters += batch
        if lettersWaitSince == nil { lettersWaitSince = parts.clock.uptime() }
        wakeLetterLoop()
    }

    func wakeLetterLoop() {
        letterWaiter?.resume()
        letterWaiter = nil
    }

    func letterLoop() async {
        var backoff = settings.firstBackoff
        while !isStopped {
            guard !letters.isEmpty else {
                await withCheckedContinuation { letterWaiter = $0 }
                continue
            }
            if await publishNext() {
                backoff = settings.firstBackoff
            } else {
                await pause(for: backoff)
                backoff = min(backoff + backoff, settings.longestBackoff)
            }
        }
    }

    /// Publishes a batch, and closes what it stands for.
    ///
    /// - Returns: Whether there is reason to go on at once.
    private func publishNext() async -> Bool {
        let batch = nextLetters()
        let answers = await parts.deadLetters.publish(batch.map(\.letter), at: parts.clock.now())
        guard !isStopped else { return false }
        var acknowledged: [PendingLetter] = []
        var again: [PendingLetter] = []
        var failure: EventLogError?
        for (index, pending) in batch.enumerated() {
            guard index < answers.count, let error = answers[index] else {
                if index < answers.count { acknowledged.append(pending) } else { again.append(pending) }
                continue
            }
            var pending = pending
            if error.kind == .tooLarge, !pending.goesAlone {
                pending.goesAlone = true
            } else if error.kind == .tooLarge, !pending.letter.isAbridged {
                pending.letter = pending.letter.abridged
            } else {
                failure = error
            }
            again.append(pending)
        }
        // To the back: one that the broker never takes shall not stand in the way of the others.
        letters.removeFirst(batch.count)
        letters += again
        note(failure)
        await close(acknowledged)
        if letters.isEmpty {
            lettersWaitSince = nil
        } else if !acknowledged.isEmpty {
            lettersWaitSince = parts.clock.uptime()
        }
        return failure == nil && (!acknowledged.isEmpty || !again.isEmpty)
    }

    /// The first that fit together, or one that goes alone.
    private func nextLetters() -> [PendingLetter] {
        var batch: [PendingLetter] = []
        var bytes = 0
        for pending in letters.prefix(settings.batchSize) {
            // The producer copies what it is handed.
            bytes += pending.letter.record.byteCount
            guard batch.isEmpty || bytes <= Self.batchBytes && !pending.goesAlone else { break }
            batch.append(pending)
            if pending.goesAlone { break }
        }
        return batch
    }

    private static let batchBytes = 8 << 20

    private func note(_ failure: EventLogError?) {
        if let failure, deadLetterTrouble == nil {
            parts.log.error(
                "Dead letters cannot be published; what they stand for is not committed until they are",
                ["detail": .text(failure.description)])
        } else if failure == nil, deadLetterTrouble != nil {
            parts.log.info("Dead letters can be published again")
        }
        deadLetterTrouble = failure
    }

    private func close(_ acknowledged: [PendingLetter]) async {
        guard !acknowledged.isEmpty else { return }
        var claims: [Claim] = []
        var settlement = Settlement()
        for pending in acknowledged {
            parts.meter.add(
                1, to: .deadLetters, [pending.letter.origin.topic, pending.letter.rejection.kind.rawValue])
            switch pending.closing {
            case .part: break
            case .rejection(let number, let claim):
                claims.append(claim)
                for _ in open[number]?.repeats ?? [] {
                    claims.append(Claim(key: claim.key, type: claim.type, action: .repeated))
                }
                if let deferral = claim.deferral { settlement.finishedDeferrals.append(deferral) }
            case .failure(let number):
                guard let notification = open[number] else { continue }
                for failure in notification.failures {
                    settlement.deliveries.append(settled(failure, of: notification))
                }
                close(notification, in: &settlement)
            }
        }
        let now = parts.clock.now()
        guard await write(claims, at: now) != nil, await write(settlement, at: now) else { return }
        var ended: [OpenNotification] = []
        for pending in acknowledged {
            switch pending.closing {
            case .part(let reference): finishPart(of: reference)
            case .rejection(let number, _), .failure(let number):
                guard let notification = open.removeValue(forKey: number) else { continue }
                finish(notification)
                if !notification.wasAccepted { ended.append(notification) }
            }
        }
        await refreshBadges(of: ended)
        parts.observer?.saw(acknowledged.compactMap(\.report))
        await releaseFinished()
        if isIdle { wakeIdleWaiters() }
        await updatePauses()
        wakeWorker()
    }
}
