/// What one connection knows about its provider's tokens.
///
/// The first valid token binds the connection to its team, its key and the topics of that moment. A token is verified
/// once and then recognised by its exact bytes; only its age is looked at again.
///
/// Source: Apple, "Establishing a token-based connection to APNs".
struct ProviderAuthentication {
    private struct Binding {
        let key: ProviderKey
        let topics: Set<String>?
    }

    /// Older than this, a token is expired; seconds.
    private static let lifetime: Int64 = 3600

    private var cached: [UInt8] = []
    private var cachedIssuedAt: Int64 = 0
    private var binding: Binding?
    /// When each key's current token was first used here; milliseconds.
    private var firstUsed: [String: Int64] = [:]
    /// A connection that showed an expired token answers so for ever.
    private var isWedged = false

    mutating func check(
        _ header: ArraySlice<UInt8>?, environment: SimulatedEnvironment, keys: ProviderKeyring,
        options: SimulatorOptions, at now: Int64
    ) -> Rejection? {
        if isWedged { return .expiredProviderToken }
        guard let header, let token = Self.bearerToken(header) else { return .missingProviderToken }
        guard options.verifyJWT else { return nil }
        if !token.equals(cached) {
            if let fault = adopt(token, environment: environment, keys: keys, options: options, at: now) {
                return fault
            }
        }
        if now / 1000 - cachedIssuedAt > Self.lifetime {
            isWedged = true
            return .expiredProviderToken
        }
        return nil
    }

    /// Whether the bound key may push to the topic; what the key gained since then does not count.
    func permits(_ topic: Topic) -> Bool {
        binding?.topics?.contains(topic.bundleID) ?? true
    }

    private mutating func adopt(
        _ token: ArraySlice<UInt8>, environment: SimulatedEnvironment, keys: ProviderKeyring,
        options: SimulatorOptions, at now: Int64
    ) -> Rejection? {
        guard let claims = keys.verify(token, acceptingDER: options.acceptDERSignatures) else {
            return .invalidProviderToken
        }
        guard claims.issuedAt - now / 1000 <= options.futureTokenTolerance else { return .invalidProviderToken }
        if now / 1000 - claims.issuedAt > Self.lifetime {
            isWedged = true
            return .expiredProviderToken
        }
        let key = claims.key
        if let allowed = key.environment, allowed != environment {
            return Rejection(
                403, options.alternateKeyEnvironmentSpelling ? "BadEnvironmentKeyInToken" : "BadEnvironmentKeyIdInToken"
            )
        }
        if let binding {
            guard key.teamID == binding.key.teamID else { return .invalidProviderToken }
            guard key.keyID == binding.key.keyID || key.keyID == binding.key.relatedKeyID else {
                return .unrelatedKeyID
            }
        }
        if let since = firstUsed[key.keyID], now - since < options.providerTokenUpdateInterval * 1000 {
            return .tooManyProviderTokenUpdates
        }
        firstUsed[key.keyID] = now
        if binding == nil { binding = Binding(key: key, topics: key.topics) }
        cached = Array(token)
        cachedIssuedAt = claims.issuedAt
        return nil
    }

    /// What follows `bearer`, in any case of letters; `nil` where there is nothing.
    private static func bearerToken(_ header: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme: StaticString = "bearer "
        guard header.count > scheme.utf8CodeUnitCount else { return nil }
        let lowered = header.prefix(scheme.utf8CodeUnitCount).map { $0 | 0x20 }
        guard lowered[...].equals(scheme) else { return nil }
        let token = header.dropFirst(scheme.utf8CodeUnitCount).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : token
    }
}
