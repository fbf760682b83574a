package import AegisPorts
internal import COpenSSL

/// A private key on the curve P-256 (`prime256v1`), as Apple issues them in `.p8` files.
///
/// `@unchecked Sendable`: an `EVP_PKEY` is not changed after it was loaded, and every signature has a context of its own
/// (OpenSSL, openssl-threads(7): concurrent use of an unmodified key is safe).
@safe package final class P256PrivateKey: @unchecked Sendable, CustomStringConvertible {
    private let key: OpaquePointer

    package var description: String { "<private key>" }

    /// Reads PEM with the label `PRIVATE KEY`: PKCS#8, not encrypted (RFC 5958).
    ///
    /// - Parameter file: how errors name it.
    /// - Throws: ``CredentialError`` that says what the text is instead, and the remedy; it never quotes the text.
    package init(pem: [UInt8], file: String) throws(CredentialError) {
        try Self.checkLabel(pem, file: file)
        guard let source = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
            throw CredentialError(kind: .unreadable, detail: "\(file): no memory to read the key")
        }
        defer { unsafe BIO_free(source) }
        // A callback that has no password: OpenSSL's own would ask at the terminal.
        let loaded = unsafe PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in 0 }, nil)
        guard let loaded = unsafe loaded else {
            ERR_clear_error()
            throw CredentialError(
                kind: .notPKCS8,
                detail: "\(file): the text between the PEM lines is not a PKCS#8 key; download the .p8 file again")
        }
        unsafe key = loaded
        try checkCurve(file: file)
    }

    private init(owning key: OpaquePointer) {
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// A new random key: for demonstrations and tests.
    package static func generate() throws(CredentialError) -> P256PrivateKey {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw signingError("no context") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { throw signingError("no key generated") }
        return unsafe P256PrivateKey(owning: key)
    }

    /// ECDSA over SHA-256 as JWS wants it: r and s as 32 bytes each, big-endian (RFC 7518 section 3.4).
    func signature(over message: [UInt8]) throws(CredentialError) -> [UInt8] {
        let encoded = try derSignature(over: message)
        let decoded = unsafe encoded.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &start, buffer.count)
        }
        guard let decoded = unsafe decoded else { throw Self.signingError("signature not understood") }
        defer { unsafe ECDSA_SIG_free(decoded) }
        let r = unsafe ECDSA_SIG_get0_r(decoded)
        let s = unsafe ECDSA_SIG_get0_s(decoded)
        var raw = [UInt8](repeating: 0, count: 64)
        let isComplete = unsafe raw.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe BN_bn2binpad(r, start, 32) == 32 && BN_bn2binpad(s, start + 32, 32) == 32
        }
        guard isComplete else { throw Self.signingError("signature too long") }
        return raw
    }

    private func derSignature(over message: [UInt8]) throws(CredentialError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw Self.signingError("no memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var length = 0
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw Self.signingError("signing failed") }
        var signature = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw Self.signingError("signing failed")
        }
        return Array(signature.prefix(length))
    }

    /// The key as PKCS#8 PEM: secret.
    package func privatePEM() throws(CredentialError) -> [UInt8] {
        try unsafe pem { output in unsafe PEM_write_bio_PKCS8PrivateKey(output, key, nil, nil, 0, nil, nil) }
    }

    /// The public half as PEM with the label `PUBLIC KEY`: for whoever verifies tokens.
    package func publicPEM() throws(CredentialError) -> [UInt8] {
        try unsafe pem { output in unsafe PEM_write_bio_PUBKEY(output, key) }
    }

    private func pem(_ write: (OpaquePointer) -> Int32) throws(CredentialError) -> [UInt8] {
        guard let output = unsafe BIO_new(BIO_s_mem()) else { throw Self.signingError("no memory") }
        defer { unsafe BIO_free(output) }
        guard unsafe write(output) == 1 else { throw Self.signingError("the key cannot be written") }
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(output))
        let read = unsafe BIO_read(output, &bytes, Int32(clamping: bytes.count))
        return Array(bytes.prefix(max(0, Int(read))))
    }

    private static func signingError(_ what: String) -> CredentialError {
        ERR_clear_error()
        return CredentialError(kind: .signing, detail: "OpenSSL: \(what)")
    }
}

extension P256PrivateKey {
    /// Tells the well-known mistakes apart by their PEM label, before OpenSSL reads what it is too lenient about.
    private static func checkLabel(_ pem: [UInt8], file: String) throws(CredentialError) {
        guard let label = label(of: pem) else {
            throw CredentialError(
                kind: .notPEM,
                detail: "\(file): not a PEM file (no BEGIN line); use the .p8 file as downloaded from Apple")
        }
        switch label {
        case "PRIVATE KEY":
            return
        case "EC PRIVATE KEY", "EC PARAMETERS":
            throw CredentialError(
                kind: .notPKCS8,
                detail: "\(file): a key in the old SEC1 form (BEGIN \(label)); "
                    + "convert it with: openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW")
        case "ENCRYPTED PRIVATE KEY":
            throw CredentialError(
                kind: .notPKCS8,
                detail: "\(file): the key is encrypted; decrypt it with: openssl pkcs8 -in OLD -out NEW")
        case "RSA PRIVATE KEY":
            throw wrongAlgorithm("an RSA key", file: file)
        default:
            throw CredentialError(
                kind: .notPKCS8,
                detail: "\(file): the PEM holds something other than a private key; use the .p8 file from Apple")
        }
    }

    /// What stands between `-----BEGIN ` and `-----` of the first such line.
    private static func label(of pem: [UInt8]) -> String? {
        let begin = Array("-----BEGIN ".utf8)
        for line in pem.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        where line.starts(with: begin) {
            let rest = line.dropFirst(begin.count)
            guard let end = rest.firstIndex(of: UInt8(ascii: "-")) else { continue }
            return String(decoding: rest[..<end], as: UTF8.self)
        }
        return nil
    }

    private func checkCurve(file: String) throws(CredentialError) {
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            let isNamed = unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
            let curve = String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard isNamed, curve == "prime256v1" else {
                throw CredentialError(
                    kind: .wrongCurve,
                    detail: "\(file): a key on the curve \(isNamed ? curve : "of its own"), but APNs takes only "
                        + "prime256v1 (P-256); use the .p8 file from Apple")
            }
        case EVP_PKEY_RSA:
            throw Self.wrongAlgorithm("an RSA key", file: file)
        default:
            throw Self.wrongAlgorithm("a key of another algorithm", file: file)
        }
    }

    private static func wrongAlgorithm(_ what: String, file: String) -> CredentialError {
        CredentialError(
            kind: .wrongCurve,
            detail: "\(file): \(what), but provider tokens are signed with an EC key on prime256v1 (P-256); "
                + "use the .p8 file from Apple")
    }
}
