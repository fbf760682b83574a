internal import Glibc

/// Owns one file descriptor, closed exactly once by `deinit`.
struct Descriptor: ~Copyable {
    let raw: Int32

    init(raw: Int32) {
        self.raw = raw
    }

    deinit { close(raw) }

    /// - Throws: kind `socket`, with the text of `errno`, if the number is no descriptor.
    init(checking raw: Int32, during operation: String) throws(APNsSimulatorError) {
        guard raw >= 0 else { throw .lastSocketError(during: operation) }
        self.init(raw: raw)
    }
}

extension APNsSimulatorError {
    static func lastSocketError(during operation: String) -> APNsSimulatorError {
        unsafe APNsSimulatorError(kind: .socket, operation: operation, detail: String(cString: strerror(errno)))
    }
}
