internal import AegisCore
internal import AegisEvents
internal import AegisPorts

// What people asked for, as the JSON document that the HTTP API shows.
extension SQLiteConnection {
    func preferences(of user: UserID) throws(StoreError) -> Preferences {
        let document = try with(.preferences) { (statement) throws(StoreError) -> [UInt8]? in
            statement.bind(user.text, at: 1)
            return try statement.step() ? statement.bytes(at: 0) : nil
        }
        guard let document else { return .default }
        do throws(PreferencesProblem) {
            return try PreferencesDocument.decode(document)
        } catch {
            throw Self.unreadable("document")
        }
    }

    func setPreferences(_ preferences: Preferences, of user: UserID, at now: UnixTime) throws(StoreError) {
        let document = PreferencesDocument.encode(preferences)
        try with(.setPreferences) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(String(decoding: document, as: UTF8.self), at: 2)
            statement.bind(now.milliseconds, at: 3)
            try statement.run()
        }
    }
}
