package import AegisCore
package import AegisPorts
internal import Runtime

/// The store in one SQLite file: the embedded default, complete for one machine.
///
/// The actor runs on a thread of its own, which is the one writer of this process; other processes may use the same file.
/// An actor that is let go closes the file and ends its thread.
package actor SQLiteStore: Store {
    private let executor: ThreadExecutor
    private let path: String
    private let options: SQLiteOptions
    /// Nil before ``open(path:migrates:options:)`` is done and after ``close()``.
    private var connection: SQLiteConnection?
    private var isSchemaAccepted = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    private init(path: String, options: SQLiteOptions) throws(StoreError) {
        do throws(ThreadError) {
            executor = try ThreadExecutor(name: "sqlite")
        } catch {
            throw StoreError(kind: .unavailable, operation: "open", detail: error.description)
        }
        self.path = path
        self.options = options
    }

    isolated deinit {
        connection = nil
        executor.shutDown()
    }

    /// Opens or makes the file at `path`.
    ///
    /// - Parameter migrates: whether the schema is brought up to date; without it, an old schema is met by the operations.
    package static func open(
        path: String, migrates: Bool = true, options: SQLiteOptions = SQLiteOptions()
    ) async throws(StoreError) -> SQLiteStore {
        let store = try SQLiteStore(path: path, options: options)
        try await store.connect(migrates: migrates)
        return store
    }

    /// Looks whether a database file is or could be made at `path`, and writes nothing.
    ///
    /// - Throws: ``StoreError`` of kind `configuration` that names the path.
    package static func check(path: String) throws(StoreError) {
        try StorePath.check(path)
    }

    private func connect(migrates: Bool) throws(StoreError) {
        try StorePath.check(path)
        let opened = try SQLiteConnection(path: path)
        try opened.configure(options)
        connection = consume opened
        guard migrates else { return }
        _ = try bringUpToDate()
    }

    private func bringUpToDate() throws(StoreError) -> [Int] {
        let applied = try use("migrate") { (connection) throws(StoreError) in try connection.migrate() }
        try requireSchema(during: "migrate")
        return applied
    }

    // MARK: Running an operation

    /// Lends the connection and puts the operation's name to what goes wrong.
    private func use<Result>(
        _ operation: String, _ body: (borrowing SQLiteConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        do throws(StoreError) {
            guard let result = try connection?.lend(body) else {
                throw StoreError(kind: .unavailable, operation: operation, detail: "the store is closed")
            }
            return result
        } catch {
            guard error.operation != operation else { throw error }
            throw StoreError(kind: error.kind, operation: operation, detail: "\(error.detail), at \(error.operation)")
        }
    }

    private func write<Result>(
        _ operation: String, _ body: (borrowing SQLiteConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try requireSchema(during: operation)
        return try use(operation) { (connection) throws(StoreError) in try connection.write(body) }
    }

    private func read<Result>(
        _ operation: String, _ body: (borrowing SQLiteConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try requireSchema(during: operation)
        return try use(operation) { (connection) throws(StoreError) in try connection.read(body) }
    }

    /// Asked until the answer is yes, since another process may be migrating.
    private func requireSchema(during operation: String) throws(StoreError) {
        guard !isSchemaAccepted else { return }
        let current = try use(operation) { (connection) throws(StoreError) in try connection.schemaVersion() }
        guard Migration.accepts(current) else {
            throw StoreError(
                kind: .schema, operation: operation,
                detail: current < Migration.latest
                    ? "the schema is at \(current), this program needs \(Migration.latest): run migrate"
                    : "the schema is at \(current), this program knows \(Migration.latest): run a newer release")
        }
        isSchemaAccepted = true
    }

    // MARK: Schema and health

    package func ping() throws(StoreError) {
        try read("ping") { (connection) throws(StoreError) in
            try connection.with(.ping) { (statement) throws(StoreError) in try statement.run() }
        }
    }

    package func schemaVersion() throws(StoreError) -> SchemaVersion {
        let current = try use("schemaVersion") { (connection) throws(StoreError) in try connection.schemaVersion() }
        return SchemaVersion(current: current, latest: Migration.latest)
    }

    package func migrate() throws(StoreError) -> [Int] {
        try bringUpToDate()
    }

    /// Works in pieces, between which other operations have their turn.
    package func dropLedger(before day: UTCDay) async throws(StoreError) {
        while try write(
            "dropLedger", { (connection) throws(StoreError) in try connection.dropPiece(before: day, limit: 2_000) })
        {
            await Task.yield()
        }
        // Those of people who got something since are forgotten at each send; these are of the others.
        let limit = UTCDay(number: day.number - Int32(FrequencyLimit.longestWindow / .seconds(86_400)))
        try write("dropLedger") { (connection) throws(StoreError) in try connection.dropSends(before: limit) }
    }

    /// Works in pieces, between which other operations have their turn.
    package func dropDevices(deletedBefore moment: UnixTime) async throws(StoreError) -> Int {
        let limit = 2_000
        var count = 0
        while true {
            let dropped = try write("dropDevices") { (connection) throws(StoreError) in
                try connection.dropDevices(deletedBefore: moment, limit: limit)
            }
            count += dropped
            guard dropped >= limit else { return count }
            await Task.yield()
        }
    }

    package func close() {
        connection = nil
    }

    // MARK: Devices, preferences, badges

    package func register(
        _ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime
    ) throws(StoreError) -> Bool {
        try write("register") { (connection) throws(StoreError) in
            try connection.register(registration, sharesToken: sharesToken, at: now)
        }
    }

    package func unregister(user: UserID, installation: String, at now: UnixTime) throws(StoreError) -> Int {
        try write("unregister") { (connection) throws(StoreError) in
            try connection.unregister(user: user, installation: installation, at: now)
        }
    }

    package func devices(of user: UserID) throws(StoreError) -> [Device] {
        try read("devices") { (connection) throws(StoreError) in try connection.devices(of: user) }
    }

    package func preferences(of user: UserID) throws(StoreError) -> Preferences {
        try read("preferences") { (connection) throws(StoreError) in try connection.preferences(of: user) }
    }

    package func setPreferences(_ preferences: Preferences, of user: UserID, at now: UnixTime) throws(StoreError) {
        try write("setPreferences") { (connection) throws(StoreError) in
            try connection.setPreferences(preferences, of: user, at: now)
        }
    }

    package func opened(user: UserID, app: AppID, at now: UnixTime) throws(StoreError) {
        try write("opened") { (connection) throws(StoreError) in
            try connection.setBadge(0, of: user, app: app, at: now)
        }
    }

    package func badge(of user: UserID, app: AppID) throws(StoreError) -> Int {
        try read("badge") { (connection) throws(StoreError) in try connection.badge(of: user, app: app) }
    }

    package func setBadge(_ count: Int, of user: UserID, app: AppID, at now: UnixTime) throws(StoreError) {
        try write("setBadge") { (connection) throws(StoreError) in
            try connection.setBadge(count, of: user, app: app, at: now)
        }
    }

    // MARK: Ledger

    package func recall(_ questions: [RecallQuestion]) throws(StoreError) -> [RecipientSnapshot] {
        try read("recall") { (connection) throws(StoreError) in try connection.recall(questions) }
    }

    package func claim(_ claims: [Claim], at now: UnixTime) throws(StoreError) -> [ClaimResult] {
        try write("claim") { (connection) throws(StoreError) in try connection.claim(claims, at: now) }
    }

    package func settle(_ settlement: Settlement, at now: UnixTime) throws(StoreError) -> [PruneResult] {
        try write("settle") { (connection) throws(StoreError) in try connection.settle(settlement, at: now) }
    }

    package func takeDue(
        at now: UnixTime, limit: Int, lease: Duration
    ) throws(StoreError) -> [DeferredNotification] {
        try write("takeDue") { (connection) throws(StoreError) in
            try connection.takeDue(at: now, limit: limit, lease: lease)
        }
    }

    package func nextDue() throws(StoreError) -> UnixTime? {
        try read("nextDue") { (connection) throws(StoreError) in try connection.nextDue() }
    }

    package func deferredCount() throws(StoreError) -> Int {
        try read("deferredCount") { (connection) throws(StoreError) in try connection.deferredCount() }
    }

    package func history(ofEvent id: String, user: UserID?) throws(StoreError) -> [NotificationRecord] {
        try read("history") { (connection) throws(StoreError) in try connection.history(ofEvent: id, user: user) }
    }

    package func history(
        of user: UserID, after cursor: HistoryCursor?, limit: Int
    ) throws(StoreError) -> [NotificationRecord] {
        try read("history") { (connection) throws(StoreError) in
            try connection.history(of: user, after: cursor, limit: limit)
        }
    }

    package func markRead(
        _ eventID: String, of user: UserID, at now: UnixTime
    ) throws(StoreError) -> [AppID: Int]? {
        try write("markRead") { (connection) throws(StoreError) in
            try connection.markRead(eventID, of: user, at: now)
        }
    }

    package func deviceCounts() throws(StoreError) -> [DeviceCount] {
        try read("deviceCounts") { (connection) throws(StoreError) in try connection.deviceCounts() }
    }
}
