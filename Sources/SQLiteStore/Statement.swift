internal import AegisPorts
internal import CSQLite

/// Owns one prepared `sqlite3_stmt *`: prepared by `init`, finalized exactly once by `deinit`.
///
/// Not `Sendable`: it stays with its connection. A failure to bind is kept and thrown by the next ``step()``, so that
/// binding reads as a list.
///
/// - Source: SQLite, "Prepared Statement Object".
@safe final class Statement {
    private let handle: OpaquePointer
    private let name: String
    private var bindFailure: Int32 = SQLITE_OK

    /// - Parameter name: what an error says it happened during.
    init(preparing sql: String, in database: OpaquePointer, name: String) throws(StoreError) {
        var prepared: OpaquePointer?
        let status = unsafe sqlite3_prepare_v3(
            database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard status == SQLITE_OK, let prepared = unsafe prepared else {
            throw unsafe StoreError(sqlite: status, of: database, during: name)
        }
        unsafe handle = prepared
        self.name = name
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Makes the statement ready for its next use and forgets what was bound.
    func reset() {
        // The status repeats what the last step has already thrown.
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
        bindFailure = SQLITE_OK
    }

    /// - Returns: Whether there is a row to read; false when the statement is done.
    func step() throws(StoreError) -> Bool {
        let status = bindFailure == SQLITE_OK ? unsafe sqlite3_step(handle) : bindFailure
        switch status {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw unsafe StoreError(sqlite: status, of: sqlite3_db_handle(handle), during: name)
        }
    }

    /// Runs to the end and drops the rows, if there are any.
    func run() throws(StoreError) {
        while try step() {}
    }
}

// MARK: - Binding, by parameter number from 1

extension Statement {
    func bind(_ value: Int64?, at index: Int32) {
        if let value {
            keep(unsafe sqlite3_bind_int64(handle, index, value))
        } else {
            keep(unsafe sqlite3_bind_null(handle, index))
        }
    }

    /// The length is given, so that a NUL within the text survives.
    func bind(_ value: String?, at index: Int32) {
        guard var value else { return keep(unsafe sqlite3_bind_null(handle, index)) }
        let status = value.withUTF8 { text in
            // A nil pointer would bind NULL instead of the empty text.
            guard let start = text.baseAddress, !text.isEmpty else {
                return unsafe sqlite3_bind_text(handle, index, "", 0, aegis_sqlite_transient())
            }
            return unsafe start.withMemoryRebound(to: CChar.self, capacity: text.count) { characters in
                unsafe sqlite3_bind_text64(
                    handle, index, characters, UInt64(text.count), aegis_sqlite_transient(), UInt8(SQLITE_UTF8))
            }
        }
        keep(status)
    }

    func bind(_ value: [UInt8], at index: Int32) {
        let status = unsafe value.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else {
                return unsafe sqlite3_bind_zeroblob(handle, index, 0)
            }
            return unsafe sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), aegis_sqlite_transient())
        }
        keep(status)
    }

    private func keep(_ status: Int32) {
        if bindFailure == SQLITE_OK { bindFailure = status }
    }
}

// MARK: - Reading the current row, by column number from 0

extension Statement {
    func isNull(at column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    func integer(at column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    func integerOrNil(at column: Int32) -> Int64? {
        isNull(at: column) ? nil : integer(at: column)
    }

    /// Empty for NULL.
    func text(at column: Int32) -> String {
        // The text first: SQLite, "Result Values From A Query", on the order of these two calls.
        guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func textOrNil(at column: Int32) -> String? {
        isNull(at: column) ? nil : text(at: column)
    }

    func bytes(at column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
