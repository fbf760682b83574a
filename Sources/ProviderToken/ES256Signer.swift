package import AegisCore
package import AegisPorts
import Runtime

/// Mints the provider tokens of one (team, key): one JWT at a time, shared by all connections of the process.
///
/// `iat` is the start of the 30-minute window a token is minted in, so that instances agree on it, and a token is
/// renewed when `iat` is 50 minutes old: two are never minted within 20 minutes, none is sent when an hour old.
///
/// - Source: Apple, "Establishing a token-based connection to APNs"; RFC 7515, RFC 7518.
package final class ES256Signer: TokenSigner {
    private struct Minted {
        let token: ProviderTokenValue
        let mintedAt: UnixTime
        /// APNs called it expired, and the floor has passed.
        var isRejected = false
    }

    private struct State {
        var current: Minted?
        var mintCount = 0
    }

    private static let window: Int64 = 30 * 60 * 1_000
    private static let renewalAge = Duration.seconds(50 * 60)
    private static let floor = Duration.seconds(20 * 60)

    private let key: P256PrivateKey
    private let keyID: String
    private let teamID: String
    private let state = Lock(State())
    /// What an operator should know about how the key is kept; names the file.
    package let warnings: [String]

    /// Reads the `.p8` file of a key.
    ///
    /// - Throws: ``CredentialError`` that names the file and the remedy.
    package convenience init(keyFile path: String, keyID: String, teamID: String) throws(CredentialError) {
        let file = try KeyFile(path: path)
        try self.init(
            key: P256PrivateKey(pem: file.bytes, file: path), keyID: keyID, teamID: teamID, warnings: file.warnings)
    }

    /// - Throws: ``CredentialError`` when an id is not made of letters and digits, as Apple's ten characters are.
    package init(
        key: P256PrivateKey, keyID: String, teamID: String, warnings: [String] = []
    ) throws(CredentialError) {
        for (name, id) in [("key", keyID), ("team", teamID)] {
            let isPlain = id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
            guard isPlain, !id.isEmpty else {
                throw CredentialError(
                    kind: .signing, detail: "the \(name) id must be the ten letters and digits that Apple shows for it")
            }
        }
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.warnings = warnings
    }

    /// How many tokens were minted so far: `aegis_provider_token_refreshes_total`.
    package var mintCount: Int { state.withLock { $0.mintCount } }

    package func token(at now: UnixTime) throws(CredentialError) -> ProviderTokenValue {
        // Signing takes some 30 µs twice an hour: whoever asks meanwhile waits for the one token instead of minting.
        try state.withLock { state throws(CredentialError) in
            if let current = state.current, !Self.isDue(current, at: now) { return current.token }
            let minted = Minted(token: try mint(at: now, replacing: state.current), mintedAt: now)
            state.current = minted
            state.mintCount += 1
            return minted.token
        }
    }

    package func rejected(_ token: ProviderTokenValue, at now: UnixTime) {
        state.withLock { state in
            // The answer may be late: what it rejects may have been replaced already.
            guard let current = state.current, current.token == token, now.since(current.mintedAt) >= Self.floor else {
                return
            }
            state.current?.isRejected = true
        }
    }

    private static func isDue(_ minted: Minted, at now: UnixTime) -> Bool {
        let age = now.since(minted.token.issuedAt)
        // A token from the future means the clock was set back; APNs would refuse it until then.
        return minted.isRejected || age >= renewalAge || age < .zero
    }

    private func mint(at now: UnixTime, replacing old: Minted?) throws(CredentialError) -> ProviderTokenValue {
        var issuedAt = UnixTime(milliseconds: now.milliseconds - now.milliseconds % Self.window)
        if let old, old.isRejected, issuedAt <= old.token.issuedAt {
            // The clock is so slow that the window's start counts as expired: only the present can help.
            issuedAt = UnixTime(milliseconds: now.milliseconds - now.milliseconds % 1_000)
        }
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt.milliseconds / 1_000)}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let signature = try key.signature(over: Array(signed.utf8))
        return ProviderTokenValue(text: signed + "." + Base64URL.encode(signature), issuedAt: issuedAt)
    }
}
