internal import AegisPorts
internal import Glibc

/// The place of a database file, looked at before SQLite is: its own answers do not tell a wrong path from an outage.
enum StorePath {
    /// What a database file begins with, unless it is empty.
    ///
    /// - Source: SQLite, "Database File Format", the magic header string.
    private static let header = Array("SQLite format 3\0".utf8)

    /// - Throws: ``StoreError`` of kind `configuration` that names the path, where only another path, other rights or
    ///   another file can help.
    static func check(_ path: String) throws(StoreError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw mistake(path, "cannot be reached (\(systemText(errno)))") }
            return try checkFolder(of: path)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw mistake(path, "is a folder; name a file in it")
        default: throw mistake(path, "is no file")
        }
        guard unsafe access(path, R_OK | W_OK) == 0 else {
            throw mistake(path, "cannot be read and written by this user (\(systemText(errno)))")
        }
        try checkFolder(of: path)
        try checkHeader(of: path)
    }

    /// The file's companions, `-wal` and `-shm`, are made beside it.
    private static func checkFolder(of path: String) throws(StoreError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        var folder = parts.joined(separator: "/")
        if folder.isEmpty { folder = path.hasPrefix("/") ? "/" : "." }
        guard unsafe access(folder, W_OK | X_OK) != 0 else { return }
        switch errno {
        case ENOENT: throw mistake(path, "the folder \(folder) does not exist")
        case let code: throw mistake(path, "nothing can be written to the folder \(folder) (\(systemText(code)))")
        }
    }

    private static func checkHeader(of path: String) throws(StoreError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: header.count)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count <= 0 || bytes == header else { throw mistake(path, "is not a database file of SQLite") }
    }

    private static func mistake(_ path: String, _ what: String) -> StoreError {
        StoreError(kind: .configuration, operation: "open", detail: "\(path): \(what)")
    }

    private static func systemText(_ code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
