internal import COpenSSL

/// Owns the `SSL_CTX *` of the data plane: TLS 1.2 or later, `h2` and nothing else, a client certificate if there is one.
@safe final class TLSContext {
    private let handle: OpaquePointer

    /// One system call may bring in this much.
    private static let readAhead = 65_536

    init(_ certificate: ServerCertificate) throws(APNsSimulatorError) {
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else { throw .openSSL(during: "making a TLS context") }
        unsafe handle = made
        guard unsafe SSL_CTX_ctrl(made, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1,
            unsafe SSL_CTX_use_certificate(made, certificate.leaf.handle) == 1,
            unsafe SSL_CTX_use_PrivateKey(made, certificate.key.handle) == 1
        else { throw .openSSL(during: "filling in a TLS context") }
        // Whatever certificate comes is looked at later: the answer to a bad one is an APNs reason, not an alert.
        unsafe SSL_CTX_set_verify(made, SSL_VERIFY_PEER) { _, _ in 1 }
        unsafe SSL_CTX_ctrl(made, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_set_num_tickets(made, 0)
        unsafe SSL_CTX_ctrl(made, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        unsafe SSL_CTX_set_default_read_buffer_len(made, Self.readAhead)
        unsafe SSL_CTX_ctrl(
            made, SSL_CTRL_MODE, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER), nil)
        unsafe SSL_CTX_set_alpn_select_cb(made, selectH2, nil)
    }

    deinit { unsafe SSL_CTX_free(handle) }

    /// The server's end of a new connection on the socket, which stays the caller's.
    func accept(on socket: Int32) -> TLSStream? {
        guard let stream = unsafe SSL_new(handle) else { return nil }
        guard unsafe SSL_set_fd(stream, socket) == 1 else {
            unsafe SSL_free(stream)
            return nil
        }
        unsafe SSL_set_accept_state(stream)
        return unsafe TLSStream(owning: stream)
    }
}

/// Picks `h2` from the client's list, or refuses the handshake (SSL_CTX_set_alpn_select_cb(3)).
private func selectH2(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    chosenLength: UnsafeMutablePointer<UInt8>?, offered: UnsafePointer<UInt8>?, offeredLength: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let offered = unsafe offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredLength))
    var position = 0
    while position < list.count {
        let length = unsafe Int(list[position])
        guard position + length < list.count else { break }
        if length == 2, unsafe list[position + 1] == UInt8(ascii: "h"), unsafe list[position + 2] == UInt8(ascii: "2") {
            unsafe chosen?.pointee = unsafe offered + position + 1
            unsafe chosenLength?.pointee = 2
            return SSL_TLSEXT_ERR_OK
        }
        position += 1 + length
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
