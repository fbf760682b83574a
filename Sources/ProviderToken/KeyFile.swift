import AegisPorts
import Glibc

/// The bytes of a small secret file, and what is questionable about how it is kept.
struct KeyFile {
    let bytes: [UInt8]
    /// For the operator; names the file.
    let warnings: [String]

    /// A `.p8` file has about 260 bytes; anything much larger is something else.
    private static let limit = 65_536

    init(path: String) throws(CredentialError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.unreadable(path, code: errno) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw Self.unreadable(path, code: errno)
            }
            content.append(contentsOf: chunk.prefix(count))
            guard content.count <= Self.limit else {
                throw CredentialError(
                    kind: .notPEM, detail: "\(path): too large for a key; use the .p8 file from Apple")
            }
        }
        bytes = content
        let isOpenToAll = status.st_mode & (S_IROTH | S_IWOTH) != 0
        warnings = isOpenToAll ? ["\(path) can be read by every user of this system; run: chmod o-rwx \(path)"] : []
    }

    private static func unreadable(_ path: String, code: Int32) -> CredentialError {
        let text = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return CredentialError(
            kind: .unreadable,
            detail: "\(path): cannot be read (\(text)); check the path and the rights of the user Aegis runs as")
    }
}
