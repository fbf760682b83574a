import COpenSSL

/// The reading side of provider tokens, as APNs has it, written apart from the signing side.
enum JWT {
    static func decode(_ text: String) -> [UInt8] {
        var padded = Array(
            text.utf8.map { byte -> UInt8 in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            })
        let padding = (4 - padded.count % 4) % 4
        padded += [UInt8](repeating: UInt8(ascii: "="), count: padding)
        var bytes = [UInt8](repeating: 0, count: padded.count)
        let count = unsafe EVP_DecodeBlock(&bytes, padded, Int32(padded.count))
        return Array(bytes.prefix(max(0, Int(count) - padding)))
    }

    /// Whether r and s (32 bytes each) are the key's ECDSA signature of the message's SHA-256.
    static func verify(_ raw: [UInt8], of message: [UInt8], publicPEM: [UInt8]) throws -> Bool {
        guard raw.count == 64 else { return false }
        let source = unsafe BIO_new_mem_buf(publicPEM, Int32(publicPEM.count))
        defer { unsafe BIO_free(source) }
        let key = unsafe PEM_read_bio_PUBKEY(source, nil, nil, nil)
        defer { unsafe EVP_PKEY_free(key) }
        let signature = unsafe ECDSA_SIG_new()
        defer { unsafe ECDSA_SIG_free(signature) }
        let r = unsafe BN_bin2bn(Array(raw[..<32]), 32, nil)
        let s = unsafe BN_bin2bn(Array(raw[32...]), 32, nil)
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else { return false }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_ECDSA_SIG(signature, &encoded)
        defer { unsafe CRYPTO_free(encoded, #file, #line) }
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, encoded, Int(length), message, message.count) == 1
    }
}
