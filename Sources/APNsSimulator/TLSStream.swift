internal import COpenSSL

/// Owns one server-side `SSL *` on a non-blocking socket.
///
/// Not `Sendable`: it stays on the event loop's thread.
@safe final class TLSStream {
    enum Progress: Equatable {
        /// So many bytes, or a finished handshake.
        case done(Int)
        case wantsRead
        case wantsWrite
        /// The peer is gone or talks something else; nothing more can be done with the stream.
        case closed
    }

    private let handle: OpaquePointer

    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit { unsafe SSL_free(handle) }

    func handshake() -> Progress {
        ERR_clear_error()
        return progress(unsafe SSL_do_handshake(handle))
    }

    /// At most one TLS record.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
        ERR_clear_error()
        return progress(unsafe SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count)))
    }

    /// At most one TLS record of the bytes from `start` on.
    func write(_ bytes: [UInt8], from start: Int) -> Progress {
        ERR_clear_error()
        return unsafe bytes.withUnsafeBytes { buffer in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...])
            return progress(unsafe SSL_write(handle, rest.baseAddress, Int32(clamping: rest.count)))
        }
    }

    /// Bytes were taken from the socket that nobody has read yet, so that epoll will not speak of them.
    var hasPending: Bool { unsafe SSL_has_pending(handle) == 1 }

    /// Says close_notify; the answer to it is not waited for.
    func shutDown() {
        ERR_clear_error()
        unsafe SSL_shutdown(handle)
    }

    var choseH2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(handle, &name, &length)
        // The selection callback knows no other name.
        return length == 2
    }

    var clientCertificate: ClientCertificate? {
        guard let certificate = unsafe SSL_get1_peer_certificate(handle) else { return nil }
        defer { unsafe X509_free(certificate) }
        return unsafe ClientCertificate(certificate)
    }

    private func progress(_ result: Int32) -> Progress {
        if result > 0 { return .done(Int(result)) }
        switch unsafe SSL_get_error(handle, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        default:
            ERR_clear_error()
            return .closed
        }
    }
}
