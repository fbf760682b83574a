internal import COpenSSL
internal import Glibc

/// A certificate authority made for one simulator, and the server certificate it signed.
///
/// The directory with the authority's PEM file belongs to this object and goes with it.
final class ServerCertificate: Sendable {
    /// What a client must trust.
    let authorityPEMPath: String
    private let directory: String
    /// Key and chain for the TLS context.
    let key: CertificateKey
    let leaf: Certificate

    /// - Throws: kind `tls` or `file`.
    init(names: [String]) throws(APNsSimulatorError) {
        let authorityKey = try CertificateKey()
        let authority = try Certificate(
            subject: "Aegis APNs Simulator CA", key: authorityKey, serial: 1,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ])
        key = try CertificateKey()
        let alternatives = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"] + names.map { "DNS:" + $0 }
        leaf = try Certificate(
            subject: "Aegis APNs Simulator", key: key, serial: 2, issuer: (authority, authorityKey),
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, alternatives.joined(separator: ",")),
                (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
            ])
        directory = try Self.makeDirectory()
        authorityPEMPath = directory + "/ca.pem"
        try authority.writePEM(to: authorityPEMPath)
    }

    deinit { removeFiles() }

    func removeFiles() {
        unsafe unlink(authorityPEMPath)
        unsafe rmdir(directory)
    }

    private static func makeDirectory() throws(APNsSimulatorError) -> String {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array((parent + "/apns-simulator-XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw unsafe APNsSimulatorError(
                kind: .file, operation: "making a temporary directory", detail: String(cString: strerror(errno)))
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Owns one `EVP_PKEY *` on P-256, made by `init`, freed by `deinit`.
///
/// `@unchecked Sendable`: never changed after `init`.
@safe final class CertificateKey: @unchecked Sendable {
    let handle: OpaquePointer

    init() throws(APNsSimulatorError) {
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw .openSSL(during: "making a key") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_keygen(context, &made) == 1, let made = unsafe made
        else { throw .openSSL(during: "making a key") }
        unsafe handle = made
    }

    deinit { unsafe EVP_PKEY_free(handle) }
}

/// Owns one `X509 *`, made by `init`, freed by `deinit`.
///
/// `@unchecked Sendable`: never changed after `init`.
@safe final class Certificate: @unchecked Sendable {
    let handle: OpaquePointer

    /// X.509 version 3 is written as 2.
    private static let version3 = 2
    private static let day = 86_400
    /// `MBSTRING_ASC` of `openssl/asn1.h`, an expression that is not imported.
    private static let asciiText: Int32 = 0x1001

    /// - Parameter issuer: `nil` signs with the key itself.
    init(
        subject: String, key: CertificateKey, serial: Int,
        issuer: (certificate: Certificate, key: CertificateKey)? = nil,
        extensions: [(kind: Int32, value: String)]
    ) throws(APNsSimulatorError) {
        guard let made = unsafe X509_new() else { throw .openSSL(during: "making a certificate") }
        unsafe handle = made
        let name = unsafe X509_get_subject_name(made)
        guard unsafe X509_set_version(made, Self.version3) == 1,
            unsafe ASN1_INTEGER_set(X509_get_serialNumber(made), serial) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(made), -Self.day) != nil,
            unsafe X509_gmtime_adj(X509_getm_notAfter(made), 365 * Self.day) != nil,
            unsafe X509_NAME_add_entry_by_txt(name, "CN", Self.asciiText, Array(subject.utf8), -1, -1, 0) == 1,
            unsafe X509_set_issuer_name(made, X509_get_subject_name(issuer?.certificate.handle ?? made)) == 1,
            unsafe X509_set_pubkey(made, key.handle) == 1
        else { throw .openSSL(during: "filling in a certificate") }
        for (kind, value) in extensions {
            var context = unsafe v3_ext_ctx()
            unsafe X509V3_set_ctx(&context, issuer?.certificate.handle ?? made, made, nil, nil, 0)
            guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, kind, value) else {
                throw .openSSL(during: "making a certificate extension")
            }
            defer { unsafe X509_EXTENSION_free(made) }
            guard unsafe X509_add_ext(handle, made, -1) == 1 else {
                throw .openSSL(during: "adding a certificate extension")
            }
        }
        guard unsafe X509_sign(made, (issuer?.key ?? key).handle, EVP_sha256()) > 0 else {
            throw .openSSL(during: "signing a certificate")
        }
    }

    deinit { unsafe X509_free(handle) }

    func writePEM(to path: String) throws(APNsSimulatorError) {
        guard let file = unsafe BIO_new_file(path, "w") else { throw .openSSL(during: "writing the CA", kind: .file) }
        defer { unsafe BIO_free(file) }
        guard unsafe PEM_write_bio_X509(file, handle) == 1 else {
            throw .openSSL(during: "writing the CA", kind: .file)
        }
    }
}

extension APNsSimulatorError {
    /// The newest entry of OpenSSL's error queue, which is emptied.
    static func openSSL(during operation: String, kind: Kind = .tls) -> APNsSimulatorError {
        var text = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(ERR_peek_last_error(), &text, text.count)
        ERR_clear_error()
        let detail = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return APNsSimulatorError(kind: kind, operation: operation, detail: detail)
    }
}
