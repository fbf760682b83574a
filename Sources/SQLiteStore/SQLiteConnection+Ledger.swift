internal import AegisCore
internal import AegisPorts

// Recall, and ageing out.
extension SQLiteConnection {
    func recall(_ questions: [RecallQuestion]) throws(StoreError) -> [RecipientSnapshot] {
        var known: [UserID: RecipientSnapshot] = [:]
        var snapshots: [RecipientSnapshot] = []
        snapshots.reserveCapacity(questions.count)
        for question in questions {
            let key = question.key
            var snapshot: RecipientSnapshot
            if let read = known[key.user] {
                snapshot = read
            } else {
                snapshot = RecipientSnapshot(
                    devices: try devices(of: key.user), preferences: try preferences(of: key.user),
                    badges: try badges(of: key.user))
                snapshot.devices.removeAll { $0.quarantinedAt != nil }
                known[key.user] = snapshot
            }
            snapshot.entry = try entry(of: key)
            if let counted = question.frequencyKey {
                snapshot.recentSends = try recentSends(of: key.user, counted)
            }
            snapshots.append(snapshot)
        }
        return snapshots
    }

    private func entry(of key: NotificationKey) throws(StoreError) -> LedgerEntry? {
        let state = try with(.entry) { (statement) throws(StoreError) -> LedgerState? in
            statement.bind(key)
            return try statement.step() ? try Self.state(in: statement, at: 0) : nil
        }
        guard let state else { return nil }
        return try with(.closedDevices) { (statement) throws(StoreError) in
            statement.bind(key)
            var entry = LedgerEntry(state: state)
            if !state.isFinal || state == .deferred { entry.items = try items(of: key) }
            while try statement.step() {
                entry.closedDevices.insert(DeviceID(statement.integer(at: 0)))
                if statement.text(at: 1) == DeliveryOutcome.accepted.name { entry.hasAcceptance = true }
            }
            return entry
        }
    }

    static func state(in row: Statement, at column: Int32) throws(StoreError) -> LedgerState {
        guard let state = LedgerState(rawValue: row.text(at: column)) else { throw unreadable("state") }
        return state
    }

    /// Reads a key from four columns: day, event id, event source, user.
    static func key(in row: Statement, from column: Int32) throws(StoreError) -> NotificationKey {
        guard let user = try? UserID(row.text(at: column + 3)) else { throw unreadable("user_id") }
        return NotificationKey(
            event: EventIdentity(source: row.text(at: column + 2), id: row.text(at: column + 1)), user: user,
            day: UTCDay(number: Int32(clamping: row.integer(at: column))))
    }
}

extension Statement {
    /// Binds ?1 to ?4.
    func bind(_ key: NotificationKey) {
        bind(Int64(key.day.number), at: 1)
        bind(key.event.id, at: 2)
        bind(key.event.source, at: 3)
        bind(key.user.text, at: 4)
    }
}

// MARK: - Ageing out

extension SQLiteConnection {
    /// Drops at most about `limit` rows of each table of days before `day`.
    ///
    /// - Returns: Whether there is more.
    func dropPiece(before day: UTCDay, limit: Int) throws(StoreError) -> Bool {
        let hasMoreDeliveries = try dropPiece(.dropDeliveries, upTo: .deliveryBoundary, before: day, limit)
        let hasMoreNotifications = try dropPiece(.dropNotifications, upTo: .notificationBoundary, before: day, limit)
        return hasMoreDeliveries || hasMoreNotifications
    }

    private func dropPiece(
        _ drop: Query, upTo boundary: Query, before day: UTCDay, _ limit: Int
    ) throws(StoreError) -> Bool {
        let next = try with(boundary) { (statement) throws(StoreError) -> NotificationKey? in
            statement.bind(Int64(day.number), at: 1)
            statement.bind(Int64(limit), at: 2)
            return try statement.step() ? try Self.key(in: statement, from: 0) : nil
        }
        try with(drop) { (statement) throws(StoreError) in
            if let next {
                statement.bind(next)
            } else {
                // Nothing sorts before the empty texts: this is the beginning of the day.
                statement.bind(Int64(day.number), at: 1)
                for index: Int32 in 2...4 { statement.bind("", at: index) }
            }
            try statement.run()
        }
        return next != nil
    }
}
