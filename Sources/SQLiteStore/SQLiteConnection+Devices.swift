internal import AegisCore
internal import AegisPorts

// Registration, logout, pruning.
extension SQLiteConnection {
    func register(_ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime) throws(StoreError) -> Bool {
        if !sharesToken {
            try change(.moveDevices, registration.token, registration.key, registration.user.text, now)
            try change(.removeOtherOwners, registration.token, registration.key, registration.user.text)
        }
        let (row, wasLive) = try self.row(for: registration, at: now)
        try with(row == nil ? .insertDevice : .refreshDevice) { (statement) throws(StoreError) in
            statement.bind(registration.user.text, at: 1)
            statement.bind(registration.app.text, at: 2)
            statement.bind(registration.environment.rawValue, at: 3)
            statement.bind(registration.installation, at: 4)
            statement.bind(registration.kind.rawValue, at: 5)
            statement.bind(registration.token.hex, at: 6)
            statement.bind(registration.authorization.rawValue, at: 7)
            statement.bind(registration.locale?.text, at: 8)
            statement.bind(registration.timeZone, at: 9)
            statement.bind(registration.appVersion, at: 10)
            statement.bind(now.milliseconds, at: 11)
            if let row { statement.bind(row, at: 12) }
            try statement.run()
        }
        try change(.addOwner, registration.token, registration.key, registration.user.text)
        return !wasLive
    }

    /// The row that this registration takes over, its token free to be set; nil when one has to be made.
    ///
    /// A live row of the installation comes first, since it must survive a change of token; then the row that has the
    /// token; then a deleted row of the installation.
    private func row(
        for registration: DeviceRegistration, at now: UnixTime
    ) throws(StoreError) -> (id: Int64?, wasLive: Bool) {
        let ofInstallation = try with(.deviceByInstallation) {
            (statement) throws(StoreError) -> (id: Int64, token: String, isLive: Bool)? in
            statement.bind(registration.user.text, at: 1)
            statement.bind(registration.app.text, at: 2)
            statement.bind(registration.environment.rawValue, at: 3)
            statement.bind(registration.installation, at: 4)
            statement.bind(registration.kind.rawValue, at: 5)
            guard try statement.step() else { return nil }
            return (statement.integer(at: 0), statement.text(at: 1), statement.integer(at: 2) != 0)
        }
        if let found = ofInstallation, found.isLive, found.token == registration.token.hex { return (found.id, true) }
        let ofToken = try with(.deviceByToken) { (statement) throws(StoreError) -> (id: Int64, isLive: Bool)? in
            statement.bind(registration.user.text, at: 1)
            statement.bind(registration.app.text, at: 2)
            statement.bind(registration.environment.rawValue, at: 3)
            statement.bind(registration.token.hex, at: 4)
            guard try statement.step() else { return nil }
            return (statement.integer(at: 0), statement.integer(at: 1) != 0)
        }
        guard let installed = ofInstallation, installed.isLive || ofToken == nil else {
            return (ofToken?.id, ofToken?.isLive ?? false)
        }
        if let ofToken { try swapTokens(of: ofToken.id, and: installed, to: registration.token.hex, at: now) }
        if installed.token != registration.token.hex { try removeOwner(of: installed.token, registration) }
        return (installed.id, installed.isLive)
    }

    /// The installation's row takes the token; the row that had it keeps the old one, deleted.
    private func swapTokens(
        of other: Int64, and installed: (id: Int64, token: String, isLive: Bool), to token: String, at now: UnixTime
    ) throws(StoreError) {
        try with(.parkDevice) { (statement) throws(StoreError) in
            statement.bind(installed.id, at: 1)
            try statement.run()
        }
        try with(.retireDevice) { (statement) throws(StoreError) in
            statement.bind(other, at: 1)
            statement.bind(installed.token, at: 2)
            statement.bind(now.milliseconds, at: 3)
            try statement.run()
        }
    }

    private func removeOwner(of token: String, _ registration: DeviceRegistration) throws(StoreError) {
        try with(.removeOwner) { (statement) throws(StoreError) in
            statement.bind(token, at: 1)
            statement.bind(registration.app.text, at: 2)
            statement.bind(registration.environment.rawValue, at: 3)
            statement.bind(registration.user.text, at: 4)
            try statement.run()
        }
    }

    func unregister(user: UserID, installation: String, at now: UnixTime) throws(StoreError) -> Int {
        try with(.deleteOwnersOfInstallation) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(installation, at: 2)
            try statement.run()
        }
        return try with(.deleteInstallation) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            statement.bind(installation, at: 2)
            statement.bind(now.milliseconds, at: 3)
            try statement.run()
            return changes
        }
    }

    /// Removes at most `limit` rows, oldest deletions first.
    ///
    /// - Returns: How many there were.
    func dropDevices(deletedBefore moment: UnixTime, limit: Int) throws(StoreError) -> Int {
        try with(.dropDevices) { (statement) throws(StoreError) in
            statement.bind(moment.milliseconds, at: 1)
            statement.bind(Int64(limit), at: 2)
            try statement.run()
            return changes
        }
    }

    /// Registered devices, quarantined ones included, newest registration first.
    func devices(of user: UserID) throws(StoreError) -> [Device] {
        try with(.devicesOfUser) { (statement) throws(StoreError) in
            statement.bind(user.text, at: 1)
            var devices: [Device] = []
            while try statement.step() { devices.append(try Self.device(of: user, in: statement)) }
            if devices.count > 1 {
                devices.sort { ($0.registeredAt, $0.id) > ($1.registeredAt, $1.id) }
            }
            return devices
        }
    }

    private static func device(of user: UserID, in row: Statement) throws(StoreError) -> Device {
        guard let environment = PushEnvironment(rawValue: row.text(at: 2)) else { throw unreadable("environment") }
        guard let kind = DeviceKind(rawValue: row.text(at: 4)) else { throw unreadable("kind") }
        guard let token = try? DeviceToken(hex: row.text(at: 5)) else { throw unreadable("token") }
        guard let authorization = Authorization(rawValue: row.text(at: 6)) else { throw unreadable("authorization") }
        let registration = DeviceRegistration(
            user: user, app: AppID(row.text(at: 1)), environment: environment, installation: row.text(at: 3),
            kind: kind, token: token, authorization: authorization,
            locale: row.textOrNil(at: 7).flatMap { LocaleTag($0) }, timeZone: row.textOrNil(at: 8),
            appVersion: row.textOrNil(at: 9))
        return Device(
            id: DeviceID(row.integer(at: 0)), registration: registration,
            registeredAt: UnixTime(milliseconds: row.integer(at: 10)),
            quarantinedAt: row.integerOrNil(at: 11).map { UnixTime(milliseconds: $0) })
    }

    /// A column that holds what this program does not write; the value itself stays unsaid.
    static func unreadable(_ column: String) -> StoreError {
        StoreError(kind: .corrupt, operation: "read", detail: "the column \(column) holds an unknown value")
    }
}

// MARK: - Pruning and quarantine: compare with the row as it is now, then change all rows of the token or none

extension SQLiteConnection {
    func prune(_ prune: Settlement.Prune, at now: UnixTime) throws(StoreError) -> PruneResult {
        guard try isOutdated(prune) else { return .kept }
        let count = try with(.pruneDevices) { (statement) throws(StoreError) in
            bind(prune.token, prune.app, to: statement)
            statement.bind(now.milliseconds, at: 4)
            statement.bind(prune.reason, at: 5)
            try statement.run()
            return changes
        }
        try with(.removeOwners) { (statement) throws(StoreError) in
            bind(prune.token, prune.app, to: statement)
            try statement.run()
        }
        return .pruned(count)
    }

    func quarantine(_ prune: Settlement.Prune, at now: UnixTime) throws(StoreError) {
        guard try isOutdated(prune) else { return }
        try with(.quarantineDevices) { (statement) throws(StoreError) in
            bind(prune.token, prune.app, to: statement)
            statement.bind(now.milliseconds, at: 4)
            try statement.run()
        }
    }

    /// Whether somebody has the token and the newest registration of it is older than the answer.
    private func isOutdated(_ prune: Settlement.Prune) throws(StoreError) -> Bool {
        let newest = try with(.newestRegistration) { (statement) throws(StoreError) -> Int64? in
            bind(prune.token, prune.app, to: statement)
            return try statement.step() ? statement.integerOrNil(at: 0) : nil
        }
        guard let newest else { return false }
        guard let goneAt = prune.goneAt else { return true }
        return newest < goneAt.milliseconds
    }

    private func bind(_ token: DeviceToken, _ app: AppKey, to statement: Statement) {
        statement.bind(token.hex, at: 1)
        statement.bind(app.app.text, at: 2)
        statement.bind(app.environment.rawValue, at: 3)
    }

    private func change(
        _ query: Query, _ token: DeviceToken, _ app: AppKey, _ user: String, _ now: UnixTime? = nil
    ) throws(StoreError) {
        try with(query) { (statement) throws(StoreError) in
            bind(token, app, to: statement)
            statement.bind(user, at: 4)
            if let now { statement.bind(now.milliseconds, at: 5) }
            try statement.run()
        }
    }
}
