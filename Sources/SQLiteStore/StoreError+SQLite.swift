internal import AegisPorts
internal import CSQLite
internal import Glibc

extension StoreError {
    /// Reads the newest failure of `database`.
    ///
    /// SQLite's texts name tables and columns, never bound values.
    ///
    /// - Source: SQLite, "Result and Error Codes".
    init(sqlite status: Int32, of database: OpaquePointer?, during operation: String) {
        let systemError = unsafe database == nil ? 0 : sqlite3_system_errno(database)
        let text = unsafe database == nil ? sqlite3_errstr(status) : sqlite3_errmsg(database)
        let message = unsafe text.map { unsafe String(cString: $0) } ?? "unknown error"
        self.init(
            kind: Self.kind(of: status, systemError: systemError), operation: operation,
            detail: "SQLite \(status): \(message)")
    }

    /// What the caller can do about a primary or extended result code.
    static func kind(of status: Int32, systemError: Int32) -> Kind {
        // The low byte is the primary code.
        switch status & 0xFF {
        case SQLITE_FULL:
            .full
        case SQLITE_IOERR:
            // Growing the shared-memory file meets a full disk as an input/output error.
            systemError == ENOSPC || systemError == EDQUOT ? .full : .unavailable
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH, SQLITE_NOMEM,
            SQLITE_INTERRUPT, SQLITE_PROTOCOL, SQLITE_ABORT:
            .unavailable
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
            .corrupt
        case SQLITE_SCHEMA:
            .schema
        default:
            .invalid
        }
    }
}
