internal import AegisCore
internal import AegisPorts

// What waits for its time.
extension SQLiteConnection {
    /// Replaces the row of the notification, if it has one, under a new id: who still holds the old one has lost it.
    func postpone(
        _ claim: Claim, until: UnixTime, _ lane: Lane, _ event: [UInt8]
    ) throws(StoreError) {
        try with(.insertDeferred) { (statement) throws(StoreError) in
            statement.bind(claim.key)
            statement.bind(claim.type, at: 5)
            statement.bind(until.milliseconds, at: 6)
            statement.bind(lane.rawValue, at: 7)
            statement.bind(event, at: 8)
            statement.bind(Int64(claim.items), at: 9)
            try statement.run()
        }
    }

    func isDeferred(_ id: DeferralID) throws(StoreError) -> Bool {
        try with(.isDeferred) { (statement) throws(StoreError) in
            statement.bind(id.number, at: 1)
            return try statement.step()
        }
    }

    func takeDue(at now: UnixTime, limit: Int, lease: Duration) throws(StoreError) -> [DeferredNotification] {
        let due = try with(.due) { (statement) throws(StoreError) in
            statement.bind(now.milliseconds, at: 1)
            // A negative limit would be none.
            statement.bind(Int64(max(0, limit)), at: 2)
            var due: [DeferredNotification] = []
            while try statement.step() {
                guard let lane = Lane(rawValue: statement.text(at: 7)) else { throw Self.unreadable("lane") }
                due.append(
                    DeferredNotification(
                        id: DeferralID(statement.integer(at: 0)), key: try Self.key(in: statement, from: 1),
                        type: statement.text(at: 5), lane: lane,
                        dueAt: UnixTime(milliseconds: statement.integer(at: 6)), event: statement.bytes(at: 8)))
            }
            return due
        }
        let leaseEnd = now.advanced(by: lease)
        for notification in due {
            try with(.leaseDeferred) { (statement) throws(StoreError) in
                statement.bind(notification.id.number, at: 1)
                statement.bind(leaseEnd.milliseconds, at: 2)
                try statement.run()
            }
        }
        return due
    }

    func finish(_ id: DeferralID) throws(StoreError) {
        try with(.deleteDeferred) { (statement) throws(StoreError) in
            statement.bind(id.number, at: 1)
            try statement.run()
        }
    }

    func nextDue() throws(StoreError) -> UnixTime? {
        try with(.nextDue) { (statement) throws(StoreError) in
            guard try statement.step() else { return nil }
            return statement.integerOrNil(at: 0).map { UnixTime(milliseconds: $0) }
        }
    }

    func deferredCount() throws(StoreError) -> Int {
        try with(.deferredCount) { (statement) throws(StoreError) in
            try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }
}
