internal import AegisCore
internal import AegisPorts
internal import CSQLite
internal import Glibc

/// Owns one `sqlite3 *`: opened by `init`, closed exactly once by `deinit`.
///
/// Not `Sendable`: it stays in its actor.
///
/// - Source: SQLite, "Opening A New Database Connection" and "Write-Ahead Logging".
@safe struct SQLiteConnection: ~Copyable {
    private let handle: OpaquePointer
    private let cache: StatementCache

    /// Opens or makes the file.
    init(path: String) throws(StoreError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard status == SQLITE_OK, let opened = unsafe opened else {
            // SQLite hands out a handle even when opening fails.
            defer { unsafe sqlite3_close_v2(opened) }
            throw unsafe StoreError(sqlite: status, of: opened, during: "open")
        }
        unsafe handle = opened
        cache = StatementCache()
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    /// Sets the connection up: WAL, a durable commit, waiting for another process's write.
    func configure(_ options: SQLiteOptions) throws(StoreError) {
        unsafe sqlite3_busy_timeout(handle, Int32(clamping: options.busyTimeout.wholeMilliseconds))
        try enterWAL(options)
        try execute("PRAGMA synchronous = FULL")
        try execute("PRAGMA temp_store = MEMORY")
        try execute("PRAGMA cache_size = -\(max(0, options.cacheBytes) / 1_024)")
        try execute("PRAGMA mmap_size = \(max(0, options.mappedBytes))")
        try execute("PRAGMA wal_autocheckpoint = 4000")
        try execute("PRAGMA journal_size_limit = 67108864")
        if let bytes = options.maximumBytes {
            let pageSize = try integer("PRAGMA page_size")
            try execute("PRAGMA max_page_count = \(max(1, bytes / max(1, pageSize)))")
        }
    }

    /// The first change to WAL needs the file alone and does not wait for it by itself.
    private func enterWAL(_ options: SQLiteOptions) throws(StoreError) {
        let pause: useconds_t = 5_000
        var remaining = options.busyTimeout.wholeMilliseconds / 5
        while true {
            do throws(StoreError) {
                let mode = try text("PRAGMA journal_mode = WAL")
                guard mode == "wal" else {
                    throw StoreError(
                        kind: .invalid, operation: "open",
                        detail: "no write-ahead log here: the journal mode stays \(mode)")
                }
                return
            } catch {
                guard error.kind == .unavailable, remaining > 0 else { throw error }
                remaining -= 1
                usleep(pause)
            }
        }
    }

    /// Rows changed by the newest INSERT, UPDATE or DELETE.
    var changes: Int { Int(unsafe sqlite3_changes64(handle)) }
}

// MARK: - Statements

/// The prepared statements of one connection, by query.
private final class StatementCache {
    var statements = [Statement?](repeating: nil, count: Query.allCases.count)
}

extension SQLiteConnection {
    /// Lends a cached statement, reset on every way out.
    func with<Result>(
        _ query: Query, _ body: (Statement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let statement = try statement(for: query)
        defer { statement.reset() }
        return try body(statement)
    }

    private func statement(for query: Query) throws(StoreError) -> Statement {
        if let cached = cache.statements[query.rawValue] { return cached }
        let statement = try unsafe Statement(preparing: query.sql, in: handle, name: "\(query)")
        cache.statements[query.rawValue] = statement
        return statement
    }

    /// Runs a statement once, without keeping it; for what has no parameters.
    func execute(_ sql: String) throws(StoreError) {
        try unsafe Statement(preparing: sql, in: handle, name: "statement").run()
    }

    /// Runs several statements, separated by semicolons.
    func executeScript(_ sql: String) throws(StoreError) {
        let status = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw unsafe StoreError(sqlite: status, of: handle, during: "script") }
    }

    /// The first column of the first row; 0 without a row.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try unsafe Statement(preparing: sql, in: handle, name: "statement")
        return try statement.step() ? statement.integer(at: 0) : 0
    }

    /// The first column of the first row; empty without a row.
    func text(_ sql: String) throws(StoreError) -> String {
        let statement = try unsafe Statement(preparing: sql, in: handle, name: "statement")
        return try statement.step() ? statement.text(at: 0) : ""
    }
}

// MARK: - Transactions

extension SQLiteConnection {
    /// Lends the connection itself, for an owner that holds it in an optional.
    func lend<Result>(
        _ body: (borrowing SQLiteConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try body(self)
    }

    /// Takes the write lock first, so that what is read inside cannot be changed by another process before it is used.
    func write<Result>(
        _ body: (borrowing SQLiteConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try transaction(beginning: .beginImmediate, body)
    }

    /// Reads one state of the file, whatever another process writes meanwhile.
    func read<Result>(
        _ body: (borrowing SQLiteConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try transaction(beginning: .begin, body)
    }

    private func transaction<Result>(
        beginning begin: Query, _ body: (borrowing SQLiteConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try with(begin) { (statement) throws(StoreError) in try statement.run() }
        do throws(StoreError) {
            let result = try body(self)
            try with(.commit) { (statement) throws(StoreError) in try statement.run() }
            return result
        } catch {
            // A full disk and some other errors have rolled back already; the first error is the one to tell.
            if unsafe sqlite3_get_autocommit(handle) == 0 {
                unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            }
            throw error
        }
    }
}
