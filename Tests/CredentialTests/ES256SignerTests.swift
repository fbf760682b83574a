import AegisCore
import AegisPorts
import COpenSSL
import ProviderToken
import Testing

@Suite struct ES256SignerTests {
    private static let start = UnixTime(milliseconds: 1_764_504_000_000 + 25 * 60_000)  // 25 minutes into a window

    private static func signer(_ key: P256PrivateKey? = nil) throws -> ES256Signer {
        try ES256Signer(key: key ?? P256PrivateKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    }

    @Test func `a token is a JWT whose raw signature the public key confirms`() throws {
        let key = try P256PrivateKey.generate()
        let token = try Self.signer(key).token(at: Self.start)
        let parts = token.text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        #expect(String(decoding: JWT.decode(parts[0]), as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: JWT.decode(parts[1]), as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1764504000}"#)
        #expect(parts[2].utf8.count == 86)
        #expect(!token.text.contains("="))
        let message = Array((parts[0] + "." + parts[1]).utf8)
        #expect(try JWT.verify(JWT.decode(parts[2]), of: message, publicPEM: key.publicPEM()))
        #expect(try !JWT.verify(JWT.decode(parts[2]), of: message + [0], publicPEM: key.publicPEM()))
        #expect(token.issuedAt == UnixTime(milliseconds: 1_764_504_000_000))
    }

    @Test func `many signatures are all 64 bytes, short numbers padded`() throws {
        let key = try P256PrivateKey.generate()
        for minute in 0..<600 {
            let signer = try Self.signer(key)
            let token = try signer.token(at: Self.start.advanced(by: .seconds(minute * 60)))
            let signature = try #require(token.text.split(separator: ".").last)
            #expect(signature.utf8.count == 86)
        }
    }

    @Test func `three hours at a push a minute mint a handful, never within twenty minutes, none an hour old`() throws {
        let signer = try Self.signer()
        var mints: [UnixTime] = []
        var last: ProviderTokenValue?
        for minute in 0...180 {
            let now = Self.start.advanced(by: .seconds(minute * 60))
            let token = try signer.token(at: now)
            #expect(now.since(token.issuedAt) < .seconds(3_600 - 60))
            if token != last { mints.append(now) }
            last = token
        }
        #expect(signer.mintCount == mints.count)
        #expect(mints.count <= 7)
        for (earlier, later) in zip(mints, mints.dropFirst()) {
            #expect(later.since(earlier) >= .seconds(20 * 60))
        }
    }

    @Test func `two instances claim the same`() throws {
        let key = try P256PrivateKey.generate()
        let first = try Self.signer(key).token(at: Self.start)
        let second = try Self.signer(key).token(at: Self.start.advanced(by: .seconds(240)))
        #expect(first.issuedAt == second.issuedAt)
        #expect(first.text.split(separator: ".").prefix(2) == second.text.split(separator: ".").prefix(2))
    }

    @Test func `a hundred threads at once get one token`() async throws {
        let signer = try Self.signer()
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try signer.token(at: Self.start).text } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(signer.mintCount == 1)
    }

    @Test func `a rejected token is replaced only when twenty minutes old`() throws {
        let signer = try Self.signer()
        let token = try signer.token(at: Self.start)
        let early = Self.start.advanced(by: .seconds(19 * 60))
        signer.rejected(token, at: early)
        #expect(try signer.token(at: early) == token)
        let later = Self.start.advanced(by: .seconds(20 * 60))
        signer.rejected(token, at: later)
        let next = try signer.token(at: later)
        #expect(next.issuedAt > token.issuedAt)
        // The late rejection of a token that is gone already changes nothing.
        signer.rejected(token, at: later.advanced(by: .seconds(25 * 60)))
        #expect(try signer.token(at: later) == next)
        #expect(signer.mintCount == 2)
    }

    @Test func `a clock that was set back does not send tokens from the future`() throws {
        let signer = try Self.signer()
        _ = try signer.token(at: Self.start)
        let back = Self.start.advanced(by: .seconds(-7_200))
        #expect(try signer.token(at: back).issuedAt <= back)
    }

    @Test func `ids that could break the JSON are refused`() {
        for id in ["", "ABC\"", "ABC DEF", "ÄBC"] {
            #expect(throws: CredentialError.self) {
                _ = try ES256Signer(key: P256PrivateKey.generate(), keyID: id, teamID: "DEF123GHIJ")
            }
        }
    }

    @Test func `a token does not print itself`() throws {
        let token = try Self.signer().token(at: Self.start)
        #expect("\(token)" == "<provider token>")
        #expect("\(try P256PrivateKey.generate())" == "<private key>")
    }
}
