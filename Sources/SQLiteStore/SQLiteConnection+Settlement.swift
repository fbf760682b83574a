internal import AegisCore
internal import AegisPorts

// What became of what was sent.
extension SQLiteConnection {
    func settle(_ settlement: Settlement, at now: UnixTime) throws(StoreError) -> [PruneResult] {
        // Deliveries first: a closure asks them whether any device accepted.
        for delivery in settlement.deliveries { try insert(delivery, at: now) }
        for closure in settlement.closures { try close(closure) }
        var results: [PruneResult] = []
        for prune in settlement.prunes { results.append(try self.prune(prune, at: now)) }
        for prune in settlement.quarantines { try quarantine(prune, at: now) }
        for deferral in settlement.finishedDeferrals { try finish(deferral) }
        return results
    }

    /// The first outcome of a device stays.
    private func insert(_ delivery: Settlement.Delivery, at now: UnixTime) throws(StoreError) {
        try with(.insertDelivery) { (statement) throws(StoreError) in
            statement.bind(delivery.key)
            statement.bind(delivery.device.number, at: 5)
            statement.bind(delivery.outcome.name, at: 6)
            statement.bind(delivery.pushID.description, at: 7)
            statement.bind(delivery.status.map { Int64($0) }, at: 8)
            statement.bind(delivery.recordedReason, at: 9)
            statement.bind(Int64(delivery.attempts), at: 10)
            statement.bind(now.milliseconds, at: 11)
            try statement.run()
        }
    }

    private func close(_ closure: Settlement.Closure) throws(StoreError) {
        guard closure.state.isFinal else { return }
        let counted = try with(.closeNotification) { (statement) throws(StoreError) -> CountedBadges? in
            statement.bind(closure.key)
            statement.bind(closure.state.rawValue, at: 5)
            statement.bind(closure.reason, at: 6)
            guard try statement.step() else { return nil }
            // What was accepted stays counted, so there is nothing to read.
            let counted = closure.wasAccepted ? CountedBadges() : CountedBadges(text: statement.text(at: 0))
            try statement.run()
            return counted
        }
        guard let counted, !closure.wasAccepted, try !isAccepted(closure.key) else { return }
        try takeBackSend(of: closure.key)
        guard !counted.isEmpty else { return }
        try takeBack(counted, of: closure.key.user)
        try with(.clearCounted) { (statement) throws(StoreError) in
            statement.bind(closure.key)
            try statement.run()
        }
    }
}

extension Settlement.Delivery {
    /// A skip says why by itself.
    var recordedReason: String? {
        switch outcome {
        case .skipped(let skip): reason ?? skip.rawValue
        case .accepted, .failed, .pruned, .expired, .superseded, .cancelled: reason
        }
    }
}
