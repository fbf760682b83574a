internal import AegisCore
internal import AegisPorts

// Unread counts by user and app.
extension SQLiteConnection {
    func badges(of user: UserID) throws(StoreError) -> [AppID: Int] {
        try with(.badgesOfUser) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            var badges: [AppID: Int] = [:]
            while try statement.step() {
                badges[AppID(statement.text(at: 0))] = Int(statement.integer(at: 1))
            }
            return badges
        }
    }

    func badge(of user: UserID, app: AppID) throws(StoreError) -> Int {
        try with(.badge) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(app.text, at: 2)
            return try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    func setBadge(_ count: Int, of user: UserID, app: AppID, at now: UnixTime) throws(StoreError) {
        try with(.setBadge) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(app.text, at: 2)
            statement.bind(Int64(min(max(0, count), Int(Int32.max))), at: 3)
            statement.bind(now.milliseconds, at: 4)
            try statement.run()
        }
    }

    func raiseBadge(of user: UserID, app: AppID) throws(StoreError) {
        try with(.raiseBadge) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(app.text, at: 2)
            try statement.run()
        }
    }

    /// Lowers what was raised, except where the badge was reset since.
    func takeBack(_ counted: CountedBadges, of user: UserID) throws(StoreError) {
        for (app, raisedAt) in counted.raisedAt where raisedAt != CountedBadges.isRead {
            try with(.takeBackBadge) { (statement) throws(StoreError) in
                statement.bind(user.text, at: 1)
                statement.bind(app.text, at: 2)
                statement.bind(raisedAt, at: 3)
                try statement.run()
            }
        }
    }
}
