internal import AegisCore
internal import AegisPorts

// What became of notifications.
extension SQLiteConnection {
    func history(ofEvent id: String, user: UserID?) throws(StoreError) -> [NotificationRecord] {
        let records = try with(.history) { (statement) throws(StoreError) in
            statement.bind(id, at: 1)
            statement.bind(user?.text, at: 2)
            return try Self.records(in: statement)
        }
        return try completed(records)
    }

    func history(
        of user: UserID, after cursor: HistoryCursor?, limit: Int
    ) throws(StoreError) -> [NotificationRecord] {
        let records = try with(.historyOfUser) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(cursor?.createdAt.milliseconds ?? .max, at: 2)
            statement.bind(cursor?.event.id ?? "", at: 3)
            statement.bind(cursor?.event.source ?? "", at: 4)
            statement.bind(Int64(max(0, limit)), at: 5)
            return try Self.records(in: statement)
        }
        return try completed(records)
    }

    func markRead(
        _ eventID: String, of user: UserID, at now: UnixTime
    ) throws(StoreError) -> [AppID: Int]? {
        let rows = try with(.unreadOf) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(eventID, at: 2)
            var rows: [(key: NotificationKey, counted: CountedBadges, isRead: Bool)] = []
            while try statement.step() {
                rows.append(
                    (
                        try Self.key(in: statement, from: 0), CountedBadges(text: statement.text(at: 4)),
                        statement.integerOrNil(at: 5) != nil
                    ))
            }
            return rows
        }
        guard !rows.isEmpty else { return nil }
        let before = try badges(of: user)
        for row in rows where !row.isRead {
            try takeBack(row.counted, of: user)
            try with(.markRead) { (statement) throws(StoreError) in
                statement.bind(row.key)
                statement.bind(now.milliseconds, at: 5)
                statement.bind(row.counted.read.text, at: 6)
                try statement.run()
            }
        }
        return try badges(of: user).filter { before[$0.key] != $0.value }
    }

    private static func records(in statement: Statement) throws(StoreError) -> [NotificationRecord] {
        var records: [NotificationRecord] = []
        while try statement.step() {
            records.append(
                NotificationRecord(
                    key: try key(in: statement, from: 0), type: statement.text(at: 4),
                    state: try state(in: statement, at: 5), reason: statement.textOrNil(at: 6),
                    digest: statement.textOrNil(at: 9), trace: statement.textOrNil(at: 10),
                    repeats: Int(statement.integer(at: 7)),
                    createdAt: UnixTime(milliseconds: statement.integer(at: 8)),
                    readAt: statement.integerOrNil(at: 11).map { UnixTime(milliseconds: $0) }, deliveries: []))
        }
        return records
    }

    /// Adds what stands in other tables.
    private func completed(_ records: [NotificationRecord]) throws(StoreError) -> [NotificationRecord] {
        var records = records
        for index in records.indices {
            records[index].deliveries = try deliveries(of: records[index].key)
            if records[index].state == .deferred { records[index].dueAt = try dueAt(of: records[index].key) }
        }
        return records
    }

    private func dueAt(of key: NotificationKey) throws(StoreError) -> UnixTime? {
        try with(.dueAt) { (statement) throws(StoreError) in
            statement.bind(key)
            return try statement.step() ? UnixTime(milliseconds: statement.integer(at: 0)) : nil
        }
    }

    private func deliveries(of key: NotificationKey) throws(StoreError) -> [NotificationRecord.Delivery] {
        try with(.deliveriesOf) { (statement) throws(StoreError) in
            statement.bind(key)
            var deliveries: [NotificationRecord.Delivery] = []
            while try statement.step() {
                deliveries.append(
                    NotificationRecord.Delivery(
                        device: DeviceID(statement.integer(at: 0)), pushID: statement.text(at: 1),
                        outcome: statement.text(at: 2), status: statement.integerOrNil(at: 3).map { Int($0) },
                        reason: statement.textOrNil(at: 4), attempts: Int(statement.integer(at: 5))))
            }
            return deliveries
        }
    }

    func deviceCounts() throws(StoreError) -> [DeviceCount] {
        try with(.deviceCounts) { (statement) throws(StoreError) in
            var counts: [DeviceCount] = []
            while try statement.step() {
                guard let authorization = Authorization(rawValue: statement.text(at: 1)) else {
                    throw Self.unreadable("authorization")
                }
                counts.append(
                    DeviceCount(
                        app: AppID(statement.text(at: 0)), authorization: authorization,
                        count: Int(statement.integer(at: 2))))
            }
            return counts
        }
    }
}
