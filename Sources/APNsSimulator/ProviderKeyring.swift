internal import COpenSSL

/// The keys whose tokens are valid, ready to verify with.
final class ProviderKeyring: Sendable {
    /// What a token with a good signature says.
    struct Claims {
        let key: ProviderKey
        /// Seconds since 1970.
        let issuedAt: Int64
    }

    private let keys: [String: (key: ProviderKey, verifier: SignatureVerifier)]

    init(_ keys: [ProviderKey]) throws(APNsSimulatorError) {
        var known: [String: (key: ProviderKey, verifier: SignatureVerifier)] = [:]
        for key in keys {
            known[key.keyID] = (key, try SignatureVerifier(publicKeyPEM: key.publicKeyPEM))
        }
        self.keys = known
    }

    /// `nil` for whatever APNs calls an invalid provider token; its age is the caller's to judge.
    ///
    /// Source: RFC 7515 (three base64url segments without padding), RFC 7518 section 3.4 (ES256 is raw `r‖s`).
    func verify(_ token: ArraySlice<UInt8>, acceptingDER: Bool) -> Claims? {
        let segments = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard segments.count == 3,
            let header = Base64URL.decode(segments[0]).flatMap(FlatJSONObject.init),
            let claims = Base64URL.decode(segments[1]).flatMap(FlatJSONObject.init),
            let signature = Base64URL.decode(segments[2]),
            header.members["alg"] == .string("ES256"),
            case .string(let keyID) = header.members["kid"],
            let (key, verifier) = keys[keyID],
            claims.members["iss"] == .string(key.teamID),
            case .integer(let issuedAt) = claims.members["iat"], issuedAt >= 0, issuedAt < 1 << 40,
            verifier.verifies(
                signature, over: token[segments[0].startIndex..<segments[1].endIndex], acceptingDER: acceptingDER)
        else { return nil }
        return Claims(key: key, issuedAt: issuedAt)
    }
}

/// Verifies ES256 signatures against one public key.
///
/// `@unchecked Sendable`: the key is never changed after `init`, and OpenSSL lets threads share a key they only read.
@safe final class SignatureVerifier: @unchecked Sendable {
    private let key: OpaquePointer

    /// - Throws: ``APNsSimulatorError`` of kind `options` unless the text is a public key on P-256.
    init(publicKeyPEM: String) throws(APNsSimulatorError) {
        let bytes = Array(publicKeyPEM.utf8)
        let parsed: OpaquePointer? = unsafe bytes.withUnsafeBytes { buffer in
            guard let source = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(source) }
            return unsafe PEM_read_bio_PUBKEY(source, nil, nil, nil)
        }
        guard let parsed = unsafe parsed else {
            ERR_clear_error()
            throw APNsSimulatorError(
                kind: .options, operation: "reading a provider key", detail: "no public key in PEM")
        }
        unsafe key = parsed
        var group = [CChar](repeating: 0, count: 32)
        var length = 0
        // EVP_PKEY_get_group_name(3): writes a terminated name, which other kinds of key do not have.
        guard unsafe EVP_PKEY_get_group_name(parsed, &group, group.count, &length) == 1,
            group.prefix(length).elementsEqual("prime256v1".utf8.map { CChar(bitPattern: $0) })
        else {
            ERR_clear_error()
            throw APNsSimulatorError(kind: .options, operation: "reading a provider key", detail: "not a key on P-256")
        }
    }

    deinit { unsafe EVP_PKEY_free(key) }

    func verifies(_ signature: [UInt8], over message: ArraySlice<UInt8>, acceptingDER: Bool) -> Bool {
        let encoded: [UInt8]
        if signature.count == 64 {
            guard let converted = Self.der(fromRaw: signature) else { return false }
            encoded = converted
        } else if acceptingDER {
            encoded = signature
        } else {
            return false
        }
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        let text = Array(message)
        return unsafe EVP_DigestVerify(context, encoded, encoded.count, text, text.count) == 1
    }

    private static func der(fromRaw signature: [UInt8]) -> [UInt8]? {
        guard let pair = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(pair) }
        let first = unsafe BN_bin2bn(Array(signature.prefix(32)), 32, nil)
        let second = unsafe BN_bin2bn(Array(signature.suffix(32)), 32, nil)
        // ECDSA_SIG_set0(3) takes over both numbers.
        guard unsafe ECDSA_SIG_set0(pair, first, second) == 1 else { return nil }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_ECDSA_SIG(pair, &encoded)
        guard length > 0, let start = unsafe encoded else { return nil }
        defer { unsafe CRYPTO_free(start, #file, #line) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }
}
