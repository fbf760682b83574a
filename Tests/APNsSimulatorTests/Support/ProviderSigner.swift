import APNsSimulator
import COpenSSL

/// A provider key of the tests: signs tokens, and gives the public half to the simulator.
///
/// `@unchecked Sendable`: the key is never changed after `init`.
@safe final class ProviderSigner: @unchecked Sendable {
    let keyID: String
    let teamID: String
    private let key: OpaquePointer

    init(keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ") throws {
        self.keyID = keyID
        self.teamID = teamID
        unsafe key = try TestKey.make()
    }

    deinit { unsafe EVP_PKEY_free(key) }

    var providerKey: ProviderKey {
        get throws { ProviderKey(keyID: keyID, teamID: teamID, publicKeyPEM: try publicKeyPEM) }
    }

    var publicKeyPEM: String {
        get throws {
            guard let memory = unsafe BIO_new(BIO_s_mem()) else { throw TestFailure("no BIO") }
            defer { unsafe BIO_free(memory) }
            var bytes = [UInt8](repeating: 0, count: 1024)
            unsafe PEM_write_bio_PUBKEY(memory, key)
            let count = unsafe BIO_read(memory, &bytes, Int32(bytes.count))
            return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
        }
    }

    /// An authorization header.
    func bearer(
        issuedAt: Int64, header: String? = nil, claims: String? = nil, inDER: Bool = false
    ) throws -> String {
        let header = header ?? #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = claims ?? #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#
        let message = Self.base64URL(Array(header.utf8)) + "." + Self.base64URL(Array(claims.utf8))
        let der = try sign(Array(message.utf8))
        return "bearer " + message + "." + Self.base64URL(inDER ? der : try Self.raw(der))
    }

    private func sign(_ message: [UInt8]) throws -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw TestFailure("no digest context") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 128)
        var length = signature.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw TestFailure("cannot sign") }
        return Array(signature.prefix(length))
    }

    /// SEQUENCE of two INTEGERs to two numbers of 32 bytes.
    private static func raw(_ der: [UInt8]) throws -> [UInt8] {
        var raw: [UInt8] = []
        var rest = der.dropFirst(2)
        while rest.count > 2 {
            let length = Int(rest[rest.startIndex + 1])
            let number = rest.dropFirst(2).prefix(length).drop { $0 == 0 }
            raw += [UInt8](repeating: 0, count: 32 - number.count) + number
            rest = rest.dropFirst(2 + length)
        }
        guard raw.count == 64 else { throw TestFailure("no signature") }
        return raw
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var text = ""
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            let number = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0...group.count { text.append(alphabet[number >> (18 - 6 * position) & 63]) }
            index += 3
        }
        return text
    }
}

struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

enum TestKey {
    /// An EC key on P-256, the caller's to free.
    static func make() throws -> OpaquePointer {
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw TestFailure("no key context") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_keygen(context, &made) == 1, let made = unsafe made
        else { throw TestFailure("no key") }
        return unsafe made
    }
}

/// A push certificate of the tests, self-signed.
@safe final class PushCertificate {
    let key: OpaquePointer
    let certificate: OpaquePointer

    /// - Parameter topics: what the extension 1.2.840.113635.100.6.3.6 lists, or `nil` for none.
    init(uid: String, topics: [String]? = nil, environment: SimulatedEnvironment? = nil) throws {
        unsafe key = try TestKey.make()
        guard let made = unsafe X509_new() else { throw TestFailure("no certificate") }
        unsafe certificate = made
        unsafe X509_set_version(made, 2)
        unsafe ASN1_INTEGER_set(X509_get_serialNumber(made), 7)
        unsafe X509_gmtime_adj(X509_getm_notBefore(made), -60)
        unsafe X509_gmtime_adj(X509_getm_notAfter(made), 3600)
        unsafe X509_set_pubkey(made, key)
        let name = unsafe X509_get_subject_name(made)
        unsafe X509_NAME_add_entry_by_txt(name, "UID", 0x1001, Array(uid.utf8), -1, -1, 0)
        unsafe X509_set_issuer_name(made, name)
        if let topics {
            let kinds: [UInt8] = [0x30, 5, 0x0C, 3] + Array("app".utf8)
            var list: [UInt8] = []
            for topic in topics { list += [0x0C, UInt8(topic.utf8.count)] + Array(topic.utf8) + kinds }
            try add("1.2.840.113635.100.6.3.6", [0x30, UInt8(list.count)] + list)
        }
        switch environment {
        case .sandbox: try add("1.2.840.113635.100.6.3.1", [5, 0])
        case .production: try add("1.2.840.113635.100.6.3.2", [5, 0])
        case nil: break
        }
        guard unsafe X509_sign(made, key, EVP_sha256()) > 0 else { throw TestFailure("cannot sign a certificate") }
    }

    deinit {
        unsafe X509_free(certificate)
        unsafe EVP_PKEY_free(key)
    }

    private func add(_ identifier: String, _ value: [UInt8]) throws {
        guard let object = unsafe OBJ_txt2obj(identifier, 1), let data = unsafe ASN1_OCTET_STRING_new() else {
            throw TestFailure("no extension")
        }
        unsafe ASN1_OCTET_STRING_set(data, value, Int32(value.count))
        let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, 0, data)
        unsafe X509_add_ext(certificate, made, -1)
        unsafe X509_EXTENSION_free(made)
        unsafe ASN1_OCTET_STRING_free(data)
        unsafe ASN1_OBJECT_free(object)
    }
}
