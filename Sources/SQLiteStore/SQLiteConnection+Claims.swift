internal import AegisCore
internal import AegisPorts

// What was decided, before anything is sent.
extension SQLiteConnection {
    func claim(_ claims: [Claim], at now: UnixTime) throws(StoreError) -> [ClaimResult] {
        // The counts of each user of the batch, read once and kept up with what the batch does to them.
        var badges: [UserID: [AppID: Int]] = [:]
        var results: [ClaimResult] = []
        results.reserveCapacity(claims.count)
        for claim in claims {
            results.append(try self.claim(claim, at: now, &badges))
        }
        return results
    }

    private func claim(
        _ claim: Claim, at now: UnixTime, _ badges: inout [UserID: [AppID: Int]]
    ) throws(StoreError) -> ClaimResult {
        switch claim.action {
        case .send(let apps, let counts):
            guard try isUpToDate(claim) else { return .outdated }
            return try send(claim, apps, counts, at: now, &badges)
        case .join(let digest, let reason, let lane, let event):
            return try join(claim, digest, reason, lane, event, at: now, &badges)
        case .suppress(let reason):
            return try record(claim, .suppressed, reason.rawValue, at: now, &badges) ? .recorded : .alreadyClosed
        case .reject(let reason):
            return try record(claim, .rejected, reason, at: now, &badges) ? .recorded : .alreadyClosed
        case .postpone(let until, let reason, let lane, let event):
            guard try isUpToDate(claim) else { return .outdated }
            guard try record(claim, .deferred, reason, at: now, &badges) else { return .alreadyClosed }
            try postpone(claim, until: until, lane, event)
            return .recorded
        case .repeated:
            try with(.raiseRepeats) { (statement) throws(StoreError) in
                statement.bind(claim.key)
                try statement.run()
            }
            return .recorded
        }
    }

    private func send(
        _ claim: Claim, _ apps: Set<AppID>, _ counts: CountedSend?, at now: UnixTime,
        _ badges: inout [UserID: [AppID: Int]]
    ) throws(StoreError) -> ClaimResult {
        if let counts, try !admits(counts, for: claim.key.user, at: now) { return .outdated }
        var counted = CountedBadges()
        for app in apps { _ = counted.count(app, at: now) }
        var raised = apps
        if try !insert(claim, .claimed, nil, counted, at: now) {
            guard let row = try openRow(of: claim) else { return .alreadyClosed }
            counted = row.counted
            // Who has read it already has nothing unread by it.
            if row.isRead { for app in apps { counted.pass(app) } }
            raised = apps.filter { counted.count($0, at: now) }
            try update(claim, .claimed, nil, counted)
            if counts != nil { try takeBackSend(of: claim.key) }
        }
        if let counts { try count(claim.key, as: counts, at: now) }
        var counts: [AppID: Int]
        if let known = badges[claim.key.user] {
            counts = known
        } else {
            counts = try self.badges(of: claim.key.user)
        }
        for app in raised {
            try raiseBadge(of: claim.key.user, app: app)
            counts[app] = min((counts[app] ?? 0) + 1, Int(Int32.max))
        }
        badges[claim.key.user] = counts
        return .claimed(badges: counts)
    }

    /// Writes a state in which nothing is sent.
    ///
    /// - Returns: Whether it was written; false when the row is closed.
    func record(
        _ claim: Claim, _ state: LedgerState, _ reason: String, at now: UnixTime,
        _ badges: inout [UserID: [AppID: Int]]
    ) throws(StoreError) -> Bool {
        if try insert(claim, state, reason, CountedBadges(), at: now) { return true }
        guard let row = try openRow(of: claim) else { return false }
        var counted = row.counted
        // What an earlier claim counted and no device accepted is on no phone.
        if try !isAccepted(claim.key) {
            try takeBackSend(of: claim.key)
            try takeBack(counted, of: claim.key.user)
            counted = CountedBadges()
            badges[claim.key.user] = nil
        }
        try update(claim, state, reason, counted)
        return true
    }

    /// - Returns: Whether the row is new.
    func insert(
        _ claim: Claim, _ state: LedgerState, _ reason: String?, _ counted: CountedBadges, at now: UnixTime
    ) throws(StoreError) -> Bool {
        try with(.insertNotification) { (statement) throws(StoreError) in
            statement.bind(claim.key)
            statement.bind(claim.type, at: 5)
            statement.bind(state.rawValue, at: 6)
            statement.bind(reason, at: 7)
            statement.bind(counted.text, at: 8)
            statement.bind(now.milliseconds, at: 9)
            statement.bind(claim.trace, at: 10)
            try statement.run()
            return changes > 0
        }
    }

    /// The claim's row: the badges that it has counted, and whether the person has read it; nil when it is closed to this claim.
    ///
    /// A claimed row is open: whoever claimed it may have died. A deferred row is open to who took it when it came due.
    private func openRow(of claim: Claim) throws(StoreError) -> (counted: CountedBadges, isRead: Bool)? {
        let row = try with(.notification) {
            (statement) throws(StoreError) -> (state: LedgerState, counted: CountedBadges, isRead: Bool)? in
            statement.bind(claim.key)
            guard try statement.step() else { return nil }
            return (
                try Self.state(in: statement, at: 0), CountedBadges(text: statement.text(at: 1)),
                statement.integerOrNil(at: 2) != nil
            )
        }
        guard let row else { return nil }
        switch row.state {
        case .claimed:
            return (row.counted, row.isRead)
        case .deferred:
            guard let deferral = claim.deferral, try isDeferred(deferral) else { return nil }
            return (row.counted, row.isRead)
        case .sent, .suppressed, .rejected:
            return nil
        }
    }

    private func update(
        _ claim: Claim, _ state: LedgerState, _ reason: String?, _ counted: CountedBadges
    ) throws(StoreError) {
        try with(.updateNotification) { (statement) throws(StoreError) in
            statement.bind(claim.key)
            statement.bind(state.rawValue, at: 5)
            statement.bind(reason, at: 6)
            statement.bind(counted.text, at: 7)
            statement.bind(claim.trace, at: 8)
            try statement.run()
        }
    }

    func isAccepted(_ key: NotificationKey) throws(StoreError) -> Bool {
        try with(.isAccepted) { (statement) throws(StoreError) in
            statement.bind(key)
            return try statement.step()
        }
    }
}
