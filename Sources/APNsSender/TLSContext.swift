import AegisPorts
internal import COpenSSL

/// What all connections of one attempt share: versions, trust, ALPN.
///
/// `@unchecked Sendable`: made by one thread and only used to make streams afterwards; OpenSSL counts its references
/// atomically (openssl-threads(7)).
@safe final class TLSContext: @unchecked Sendable {
    private let context: OpaquePointer

    /// Reads the trusted certificates: `caFile`, or the system's.
    init(caFile: String?) throws(GatewayError) {
        guard let made = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw GatewayError(kind: .tls, detail: "OpenSSL made no TLS context: \(Self.lastError())")
        }
        unsafe context = made
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // The output buffer may move and grow between two tries of a write.
        let mode = Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, mode, nil)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        let protocols: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
        // Alone among OpenSSL's calls this one returns 0 for success.
        unsafe SSL_CTX_set_alpn_protos(context, protocols, 3)
        let isTrustLoaded =
            if let caFile {
                unsafe SSL_CTX_load_verify_locations(context, caFile, nil) == 1
            } else {
                unsafe SSL_CTX_set_default_verify_paths(context) == 1
            }
        guard isTrustLoaded else {
            throw GatewayError(
                kind: .configuration,
                detail: "\(caFile ?? "the system's certificates"): cannot be read as PEM certificates: "
                    + Self.lastError())
        }
    }

    deinit { unsafe SSL_CTX_free(context) }

    /// Lends the handle for making a stream of it.
    func withHandle<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(context)
    }

    /// The oldest error that OpenSSL has noted for this thread; forgets them all.
    static func lastError() -> String {
        defer { ERR_clear_error() }
        let code = ERR_get_error()
        guard code != 0 else { return "no detail" }
        guard let text = unsafe ERR_reason_error_string(code) else { return "code \(code)" }
        return unsafe String(cString: text)
    }
}
