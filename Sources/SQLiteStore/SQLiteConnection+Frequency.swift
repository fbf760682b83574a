internal import AegisCore
internal import AegisPorts

// Sends that count towards a limit, and digests of what is above it.
extension SQLiteConnection {
    /// The oldest first.
    func recentSends(of user: UserID, _ key: String) throws(StoreError) -> [UnixTime] {
        try with(.recentSends) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(key, at: 2)
            var sends: [UnixTime] = []
            while try statement.step() { sends.append(UnixTime(milliseconds: statement.integer(at: 0))) }
            return sends
        }
    }

    /// Whether the limit has room, now that nobody else writes.
    func admits(_ send: CountedSend, for user: UserID, at now: UnixTime) throws(StoreError) -> Bool {
        try with(.countSends) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(send.key, at: 2)
            statement.bind(now.advanced(by: .zero - send.limit.per).milliseconds, at: 3)
            return try statement.step() ? statement.integer(at: 0) < Int64(send.limit.max) : true
        }
    }

    func count(_ key: NotificationKey, as send: CountedSend, at now: UnixTime) throws(StoreError) {
        try with(.forgetSends) { (statement) throws(StoreError) in
            statement.bind(key.user.text, at: 1)
            statement.bind(send.key, at: 2)
            // Not this limit's own window: others may count the same sends over a longer one.
            statement.bind(now.advanced(by: .zero - FrequencyLimit.longestWindow).milliseconds, at: 3)
            try statement.run()
        }
        try with(.insertSend) { (statement) throws(StoreError) in
            statement.bind(key.user.text, at: 1)
            statement.bind(send.key, at: 2)
            statement.bind(now.milliseconds, at: 3)
            statement.bind(key.event.source, at: 4)
            statement.bind(key.event.id, at: 5)
            try statement.run()
        }
    }

    /// What no device accepted does not count.
    func takeBackSend(of key: NotificationKey) throws(StoreError) {
        try with(.takeBackSend) { (statement) throws(StoreError) in
            statement.bind(key.user.text, at: 1)
            statement.bind(key.event.source, at: 2)
            statement.bind(key.event.id, at: 3)
            try statement.run()
        }
    }

    func dropSends(before day: UTCDay) throws(StoreError) {
        try with(.dropSends) { (statement) throws(StoreError) in
            statement.bind(Int64(day.number) * 86_400_000, at: 1)
            try statement.run()
        }
    }

    /// Whether a due digest still has as many items as it was planned with.
    func isUpToDate(_ claim: Claim) throws(StoreError) -> Bool {
        guard claim.items > 0 else { return true }
        return try items(of: claim.key) == claim.items
    }

    func items(of key: NotificationKey) throws(StoreError) -> Int {
        try with(.itemsOf) { (statement) throws(StoreError) in
            statement.bind(key)
            return try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    func join(
        _ claim: Claim, _ digest: Digest, _ reason: SuppressionReason, _ lane: Lane, _ event: [UInt8],
        at now: UnixTime, _ badges: inout [UserID: [AppID: Int]]
    ) throws(StoreError) -> ClaimResult {
        // Once it was claimed or closed its number has been told.
        if let state = try state(of: digest.key), state != .deferred { return .outdated }
        guard try record(claim, .suppressed, reason.rawValue, at: now, &badges) else { return .alreadyClosed }
        try with(.setDigest) { (statement) throws(StoreError) in
            statement.bind(claim.key)
            statement.bind(digest.key.event.id, at: 5)
            try statement.run()
        }
        let row = Claim(key: digest.key, type: claim.type, action: .repeated)
        _ = try insert(row, .deferred, Self.digestReason, CountedBadges(), at: now)
        let hasJoined = try with(.joinDigest) { (statement) throws(StoreError) in
            statement.bind(digest.key)
            statement.bind(event, at: 5)
            try statement.run()
            return changes > 0
        }
        if !hasJoined {
            let first = Claim(key: digest.key, type: claim.type, action: .repeated, items: 1)
            try postpone(first, until: digest.dueAt, lane, event)
        }
        return .recorded
    }

    private func state(of key: NotificationKey) throws(StoreError) -> LedgerState? {
        try with(.entry) { (statement) throws(StoreError) in
            statement.bind(key)
            return try statement.step() ? try Self.state(in: statement, at: 0) : nil
        }
    }

    private static let digestReason = "frequency"
}
