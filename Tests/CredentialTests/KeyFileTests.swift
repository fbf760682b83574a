import AegisCore
import AegisPorts
import Glibc
import ProviderToken
import Testing

/// A directory that is gone after the test.
private struct ScratchDirectory: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/aegis-key-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw ScratchError() }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { unsafe rmdir(path) }

    func withFile<Result>(_ content: [UInt8], mode: mode_t = 0o600, _ body: (String) throws -> Result) throws -> Result
    {
        let file = path + "/AuthKey.p8"
        let descriptor = unsafe open(file, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw ScratchError() }
        _ = unsafe write(descriptor, content, content.count)
        fchmod(descriptor, mode)
        close(descriptor)
        defer { unsafe unlink(file) }
        return try body(file)
    }

    struct ScratchError: Error {}
}

@Suite struct KeyFileTests {
    private static func error(reading content: [UInt8]) throws -> CredentialError {
        let directory = try ScratchDirectory()
        return try directory.withFile(content) { file in
            let error = #expect(throws: CredentialError.self) {
                _ = try ES256Signer(keyFile: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
            }
            let found = try #require(error)
            #expect(found.detail.contains(file))
            return found
        }
    }

    @Test func `a key file as Apple issues it is read`() throws {
        let directory = try ScratchDirectory()
        let pem = try P256PrivateKey.generate().privatePEM()
        #expect(pem.starts(with: "-----BEGIN PRIVATE KEY-----\n".utf8))
        try directory.withFile(pem) { file in
            let signer = try ES256Signer(keyFile: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
            #expect(signer.warnings.isEmpty)
            _ = try signer.token(at: UnixTime(milliseconds: 1_764_504_000_000))
        }
        let windows = Array(String(decoding: pem, as: UTF8.self).replacing("\n", with: "\r\n").utf8)
        try directory.withFile(windows) { file in
            _ = try ES256Signer(keyFile: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
    }

    @Test func `a key that everybody can read is used with a warning`() throws {
        let directory = try ScratchDirectory()
        try directory.withFile(P256PrivateKey.generate().privatePEM(), mode: 0o644) { file in
            let signer = try ES256Signer(keyFile: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
            #expect(signer.warnings == ["\(file) can be read by every user of this system; run: chmod o-rwx \(file)"])
        }
    }

    @Test func `a missing file is named`() {
        let error = #expect(throws: CredentialError.self) {
            _ = try ES256Signer(keyFile: "/nowhere/AuthKey.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error?.kind == .unreadable)
        #expect(error?.detail.contains("/nowhere/AuthKey.p8") == true)
        #expect(error?.detail.contains("No such file") == true)
    }

    @Test func `what is no PEM is told from what is the wrong PEM`() throws {
        #expect(try Self.error(reading: Array("hello".utf8)).kind == .notPEM)
        #expect(try Self.error(reading: []).kind == .notPEM)
        let broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        #expect(try Self.error(reading: Array(broken.utf8)).kind == .notPKCS8)
        let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        #expect(try Self.error(reading: Array(certificate.utf8)).kind == .notPKCS8)
    }

    @Test func `an old EC key gets the command that converts it`() throws {
        let error = try Self.error(reading: Samples.sec1)
        #expect(error.kind == .notPKCS8)
        #expect(error.detail.contains("openssl pkcs8 -topk8 -nocrypt"))
    }

    @Test func `an encrypted key gets the command that decrypts it`() throws {
        let error = try Self.error(reading: Samples.encrypted)
        #expect(error.kind == .notPKCS8)
        #expect(error.detail.contains("openssl pkcs8 -in"))
    }

    @Test func `another curve and RSA are refused by name`() throws {
        let curve = try Self.error(reading: Samples.secp384r1)
        #expect(curve.kind == .wrongCurve)
        #expect(curve.detail.contains("secp384r1"))
        let rsa = try Self.error(reading: Samples.rsa)
        #expect(rsa.kind == .wrongCurve)
        #expect(rsa.detail.contains("RSA"))
    }

    @Test func `no error quotes what the file holds`() throws {
        for content in [Samples.sec1, Samples.encrypted, Samples.secp384r1, Samples.rsa] {
            let detail = try Self.error(reading: content).detail
            let lines = String(decoding: content, as: UTF8.self).split(separator: "\n").filter { !$0.contains("-----") }
            #expect(lines.allSatisfy { !detail.contains($0) })
        }
    }
}
