internal import AegisCore
internal import AegisPorts

// What people asked for, as the JSON document that the HTTP API shows.
extension SQLiteConnection {
    func preferences(of user: UserID) throws(StoreError) -> Preferences {
        let document = try with(.preferences) { (statement) throws(StoreError) -> String? in
            statement.bind(user.text, at: 1)
            return try statement.step() ? statement.text(at: 0) : nil
        }
        guard document != nil else { return .default }
        return Preferences()
    }

    func setPreferences(_ preferences: Preferences, of user: UserID, at now: UnixTime) throws(StoreError) {
        try with(.setPreferences) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind("{}", at: 2)
            statement.bind(now.milliseconds, at: 3)
            try statement.run()
        }
    }
}
