import COpenSSL
import Glibc

/// A blocking TLS client with a deadline on every read.
@safe final class TLSConnection {
    enum Received: Equatable {
        case bytes([UInt8])
        case endOfFile
        case reset
        case timeout
    }

    private let socket: Int32
    private let context: OpaquePointer
    private let stream: OpaquePointer

    /// - Throws: ``TestFailure`` if the handshake fails.
    init(
        port: Int, authority: String, protocols: [String] = ["h2"], highestVersion: Int32 = TLS1_3_VERSION,
        certificate: PushCertificate? = nil
    ) throws {
        socket = try Self.connect(port: port)
        unsafe context = SSL_CTX_new(TLS_client_method())
        unsafe stream = SSL_new(context)
        unsafe SSL_CTX_load_verify_locations(context, authority, nil)
        unsafe SSL_set_verify(stream, SSL_VERIFY_PEER, nil)
        unsafe SSL_set1_host(stream, "localhost")
        if highestVersion < TLS1_2_VERSION { unsafe SSL_set_cipher_list(stream, "ALL:@SECLEVEL=0") }
        unsafe SSL_ctrl(stream, SSL_CTRL_SET_MIN_PROTO_VERSION, min(Int(highestVersion), Int(TLS1_2_VERSION)), nil)
        unsafe SSL_ctrl(stream, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(highestVersion), nil)
        let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !list.isEmpty { unsafe SSL_set_alpn_protos(stream, list, UInt32(list.count)) }
        if let certificate {
            unsafe SSL_use_certificate(stream, certificate.certificate)
            unsafe SSL_use_PrivateKey(stream, certificate.key)
        }
        unsafe SSL_set_fd(stream, socket)
        guard unsafe SSL_connect(stream) == 1 else { throw TestFailure("handshake failed") }
    }

    deinit {
        unsafe SSL_free(stream)
        unsafe SSL_CTX_free(context)
        close(socket)
    }

    static func connect(port: Int, deadline: Int = 10) throws -> Int32 {
        // Writing to a closed connection is to fail, not to end the process.
        signal(SIGPIPE, SIG_IGN)
        let made = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: deadline, tv_usec: 0)
        unsafe setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe Glibc.connect(
                made, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard status == 0 else {
            close(made)
            throw TestFailure("cannot connect")
        }
        return made
    }

    func setReadDeadline(milliseconds: Int) {
        var limit = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    func send(_ bytes: [UInt8]) throws {
        guard unsafe SSL_write(stream, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
            throw TestFailure("cannot write")
        }
    }

    func receive() -> Received {
        var buffer = [UInt8](repeating: 0, count: 32_768)
        ERR_clear_error()
        errno = 0
        let count = unsafe SSL_read(stream, &buffer, Int32(buffer.count))
        if count > 0 { return .bytes(Array(buffer.prefix(Int(count)))) }
        let code = errno
        switch unsafe SSL_get_error(stream, count) {
        case SSL_ERROR_WANT_READ: return .timeout
        case SSL_ERROR_SYSCALL where code == ECONNRESET: return .reset
        default: return .endOfFile
        }
    }
}
