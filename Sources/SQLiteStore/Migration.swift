internal import AegisPorts

/// One numbered step of the schema.
///
/// Steps only add, and what they add has a default: a program one step older goes on working on the newer schema, so
/// that a release can be taken back. A released step is never edited.
struct Migration {
    let number: Int
    let sql: String

    static let all = [
        Migration(number: 1, sql: firstSchema),
        // So that deleted devices age out without a look at those that are registered.
        Migration(
            number: 2, sql: "CREATE INDEX devices_by_deletion ON devices (deleted_at) WHERE deleted_at IS NOT NULL;"),
        Migration(number: 3, sql: frequencyAndDigests),
        Migration(
            number: 4,
            sql: """
                ALTER TABLE notifications ADD COLUMN trace TEXT;
                CREATE INDEX notifications_of_user ON notifications (user_id, created_at, event_id, event_source);
                CREATE INDEX devices_by_authorization ON devices (app, authorization) WHERE deleted_at IS NULL;
                """),
    ]

    /// The number of the newest step this program knows.
    static var latest: Int { all.last?.number ?? 0 }

    /// Whether this program works on a schema at step `current`: its own, or one newer.
    static func accepts(_ current: Int) -> Bool {
        current == latest || current == latest + 1
    }

    // Identifiers of devices and deferred rows are never used twice (AUTOINCREMENT): deliveries and leases remember them.
    // The ledger's key begins with the day, so that days age out in one range, then with the event's id, so that
    // `explain` finds an event by its id alone with one probe a day and no second index.
    private static let firstSchema = """
        CREATE TABLE devices (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            user_id TEXT NOT NULL,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            installation_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            token TEXT NOT NULL,
            platform TEXT NOT NULL DEFAULT 'ios',
            authorization TEXT NOT NULL,
            locale TEXT,
            time_zone TEXT,
            app_version TEXT,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            registered_at INTEGER NOT NULL,
            quarantined_at INTEGER,
            deleted_at INTEGER,
            deleted_reason TEXT,
            UNIQUE (user_id, app, environment, token)
        ) STRICT;

        CREATE TABLE token_owners (
            token TEXT NOT NULL,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            user_id TEXT NOT NULL,
            PRIMARY KEY (token, app, environment, user_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE preferences (
            user_id TEXT NOT NULL PRIMARY KEY,
            document TEXT NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE badges (
            user_id TEXT NOT NULL,
            app TEXT NOT NULL,
            unread INTEGER NOT NULL,
            reset_at INTEGER,
            PRIMARY KEY (user_id, app)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE notifications (
            day INTEGER NOT NULL,
            event_id TEXT NOT NULL,
            event_source TEXT NOT NULL,
            user_id TEXT NOT NULL,
            type TEXT NOT NULL,
            state TEXT NOT NULL,
            reason TEXT,
            badge_counted TEXT NOT NULL DEFAULT '',
            repeats INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            read_at INTEGER,
            PRIMARY KEY (day, event_id, event_source, user_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE deliveries (
            day INTEGER NOT NULL,
            event_id TEXT NOT NULL,
            event_source TEXT NOT NULL,
            user_id TEXT NOT NULL,
            device_id INTEGER NOT NULL,
            state TEXT NOT NULL,
            apns_id TEXT NOT NULL,
            status INTEGER,
            reason TEXT,
            attempts INTEGER NOT NULL,
            settled_at INTEGER NOT NULL,
            PRIMARY KEY (day, event_id, event_source, user_id, device_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE deferred (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            due_at INTEGER NOT NULL,
            lease_until INTEGER,
            lane TEXT NOT NULL,
            attempt INTEGER NOT NULL DEFAULT 0,
            day INTEGER NOT NULL,
            event_id TEXT NOT NULL,
            event_source TEXT NOT NULL,
            user_id TEXT NOT NULL,
            type TEXT NOT NULL,
            event BLOB NOT NULL,
            UNIQUE (day, event_id, event_source, user_id)
        ) STRICT;

        CREATE INDEX deferred_by_readiness ON deferred (coalesce(lease_until, due_at));
        """

    private static let frequencyAndDigests = """
        CREATE TABLE sends (
            user_id TEXT NOT NULL,
            type TEXT NOT NULL,
            sent_at INTEGER NOT NULL,
            event_source TEXT NOT NULL,
            event_id TEXT NOT NULL,
            PRIMARY KEY (user_id, type, sent_at, event_source, event_id)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE notifications ADD COLUMN digest TEXT;

        ALTER TABLE deferred ADD COLUMN items INTEGER NOT NULL DEFAULT 0;
        """
}

// MARK: - Applying

extension SQLiteConnection {
    /// The number of the newest step applied to this file; 0 for an empty one.
    func schemaVersion() throws(StoreError) -> Int {
        let tables = try integer("SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'")
        guard tables > 0 else { return 0 }
        return Int(try integer("SELECT max(number) FROM schema_migrations"))
    }

    /// Applies what is missing, all or nothing; two processes that start at once apply each step once.
    ///
    /// - Returns: The numbers applied.
    func migrate() throws(StoreError) -> [Int] {
        try write { (connection) throws(StoreError) in
            let current = try connection.schemaVersion()
            if current == 0 {
                try connection.executeScript(
                    """
                    CREATE TABLE IF NOT EXISTS schema_migrations (
                        number INTEGER PRIMARY KEY,
                        applied_at INTEGER NOT NULL
                    ) STRICT;
                    """)
            }
            var applied: [Int] = []
            for migration in Migration.all where migration.number > current {
                try connection.executeScript(migration.sql)
                try connection.execute(
                    "INSERT INTO schema_migrations VALUES (\(migration.number), unixepoch() * 1000)")
                applied.append(migration.number)
            }
            return applied
        }
    }
}
