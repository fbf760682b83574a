internal import COpenSSL

/// One hash function of OpenSSL, looked up once.
///
/// `@unchecked Sendable`: an `EVP_MD` is never changed after it was fetched, and each call has a context of its own
/// (OpenSSL, EVP_DigestInit(3): fetched algorithms may be shared between threads).
@safe final class DigestAlgorithm: @unchecked Sendable {
    static let sha1 = unsafe DigestAlgorithm(fetched: EVP_MD_fetch(nil, "SHA1", nil))
    static let sha256 = unsafe DigestAlgorithm(fetched: EVP_MD_fetch(nil, "SHA256", nil))

    private let algorithm: OpaquePointer

    private init(fetched: OpaquePointer?) {
        guard let fetched = unsafe fetched else {
            preconditionFailure("OpenSSL's default provider has no SHA-1 and SHA-256: the installation is broken")
        }
        unsafe algorithm = fetched
    }

    deinit { unsafe EVP_MD_free(algorithm) }

    func digest(of bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length: UInt32 = 0
            let status = unsafe EVP_Digest(bytes, bytes.count, buffer.baseAddress, &length, algorithm, nil)
            precondition(status == 1, "OpenSSL could not hash: out of memory")
            count = Int(length)
        }
    }

    /// HMAC (RFC 2104) with this hash.
    func authenticate(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length: UInt32 = 0
            // An empty array's pointer is not nil, which HMAC would take for "the key of last time".
            let result = unsafe HMAC(
                algorithm, key, Int32(key.count), bytes, bytes.count, buffer.baseAddress, &length)
            precondition(unsafe result != nil, "OpenSSL could not hash: out of memory")
            count = Int(length)
        }
    }
}
