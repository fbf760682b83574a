import AegisPorts
import CLinux
internal import COpenSSL
import Glibc

/// One TLS connection on a non-blocking socket: owns the `SSL *` and the descriptor.
///
/// Not `Sendable`: it stays in its event loop's thread.
@safe final class TLSStream {
    enum Progress {
        case done(Int)
        /// The socket is not ready; its next event says when to try again.
        case wait
        case closed(GatewayError)
    }

    private let stream: OpaquePointer
    let descriptor: Int32
    private let host: String

    /// Takes over the descriptor, whatever happens.
    init(descriptor: Int32, context: TLSContext, host: String) throws(GatewayError) {
        guard let made = unsafe context.withHandle({ unsafe SSL_new($0) }) else {
            close(descriptor)
            throw GatewayError(kind: .tls, detail: "OpenSSL made no TLS stream: \(TLSContext.lastError())")
        }
        unsafe stream = made
        self.descriptor = descriptor
        self.host = host
        unsafe SSL_set_fd(stream, descriptor)
        unsafe SSL_set_connect_state(stream)
        unsafe SSL_set_read_ahead(stream, 1)
        let parameters = unsafe SSL_get0_param(stream)
        // An address is checked as one, and is not sent as a server name (RFC 6066 section 3).
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) != 1 {
            ERR_clear_error()
            var name = Array(host.utf8CString)
            unsafe SSL_ctrl(stream, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
            guard unsafe SSL_set1_host(stream, host) == 1 else {
                throw GatewayError(kind: .configuration, detail: "\(host) is no host name")
            }
        }
    }

    deinit {
        unsafe SSL_free(stream)
        close(descriptor)
    }

    func handshake() -> Progress {
        ERR_clear_error()
        let status = unsafe SSL_do_handshake(stream)
        guard status != 1 else { return checkProtocol() }
        let verification = unsafe SSL_get_verify_result(stream)
        if verification != Int(X509_V_OK) {
            let text = unsafe String(cString: X509_verify_cert_error_string(verification))
            return .closed(GatewayError(kind: .tls, detail: "the certificate of \(host) is not trusted: \(text)"))
        }
        return failure(of: status, during: "handshake with \(host)")
    }

    private func checkProtocol() -> Progress {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(stream, &name, &length)
        let chosen = unsafe UnsafeBufferPointer(start: name, count: Int(length))
        guard unsafe chosen.elementsEqual("h2".utf8) else {
            return .closed(GatewayError(kind: .protocolViolation, detail: "\(host) does not speak HTTP/2"))
        }
        return .done(0)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
        ERR_clear_error()
        let count = unsafe SSL_read(stream, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .done(Int(count)) : failure(of: count, during: "read")
    }

    func write(_ buffer: UnsafeRawBufferPointer) -> Progress {
        ERR_clear_error()
        let count = unsafe SSL_write(stream, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .done(Int(count)) : failure(of: count, during: "write")
    }

    /// Says goodbye without waiting for the peer's.
    func sayGoodbye() {
        ERR_clear_error()
        unsafe SSL_shutdown(stream)
        ERR_clear_error()
    }

    private func failure(of status: Int32, during operation: String) -> Progress {
        let systemError = errno
        let kind: GatewayError.Kind = operation.hasPrefix("handshake") ? .tls : .connect
        switch unsafe SSL_get_error(stream, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
            return .wait
        case SSL_ERROR_ZERO_RETURN:
            return .closed(GatewayError(kind: kind, detail: "the peer closed the connection"))
        case SSL_ERROR_SYSCALL where systemError != 0:
            let text = unsafe strerror(systemError).map { unsafe String(cString: $0) } ?? "error \(systemError)"
            return .closed(GatewayError(kind: kind, detail: "\(operation): \(text)"))
        case SSL_ERROR_SYSCALL:
            return .closed(GatewayError(kind: kind, detail: "\(operation): the connection ended"))
        default:
            return .closed(GatewayError(kind: kind, detail: "\(operation): \(TLSContext.lastError())"))
        }
    }
}
