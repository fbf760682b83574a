/// Which of the two disjoint APNs worlds a port stands for; a device token belongs to exactly one.
package enum SimulatedEnvironment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox
}

/// The public half of a provider key, as Apple knows it.
package struct ProviderKey: Sendable, Hashable {
    /// The `kid` of the token header, ten characters at Apple's; any text here.
    package var keyID: String
    /// The `iss` of the claims.
    package var teamID: String
    /// `BEGIN PUBLIC KEY`, an EC key on P-256.
    package var publicKeyPEM: String
    /// Bundle ids (without suffix) the key may push to; `nil` is a team-scoped key that may push to all.
    package var topics: Set<String>?
    /// The only environment of an environment-scoped key; `nil` works in both.
    package var environment: SimulatedEnvironment?
    /// The key that may follow this one on an open connection (rotation of a topic-specific key).
    package var relatedKeyID: String?

    package init(
        keyID: String, teamID: String, publicKeyPEM: String, topics: Set<String>? = nil,
        environment: SimulatedEnvironment? = nil, relatedKeyID: String? = nil
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKeyPEM = publicKeyPEM
        self.topics = topics
        self.environment = environment
        self.relatedKeyID = relatedKeyID
    }
}

/// How a token-authenticated connection learns how many streams it may open; a certificate gets all of them at once.
package enum StreamLimitPolicy: String, Sendable {
    /// The first SETTINGS say 1; after the first 200 a second SETTINGS raises it.
    case raiseAfterFirstSuccess
    /// The first SETTINGS say the full number, a second says 1 at once, a third raises it after the first 200.
    case dropThenRaise
    /// The full number from the start.
    case full
}

/// What a connection suffers for rejected pushes; each is off by default, for Apple publishes no number.
package struct RejectionPenalties: Sendable {
    /// A 4xx other than 410 lowers the stream limit to 1 until the next 200.
    package var dropsStreamLimit = false
    /// A connection that collected so many 4xx (410 never counts) gets a GOAWAY.
    package var goAwayAfterRejections: Int?
    /// The same for `BadDeviceToken`, which APNs tolerates less.
    package var goAwayAfterBadDeviceTokens: Int?

    package init() {}
}

/// What a simulator is started with; every default is the behaviour of the real service where that is known.
package struct SimulatorOptions: Sendable {
    /// The IPv4 or IPv6 address the data plane listens on.
    package var host = "127.0.0.1"
    /// The port of the production environment; 0 takes a free one.
    package var port: UInt16 = 0
    /// The port of a second, sandbox environment; `nil` has none, 0 takes a free one.
    package var sandboxPort: UInt16?
    /// The port of the control plane, always on 127.0.0.1 unless ``controlHost`` says otherwise; `nil` has none.
    package var controlPort: UInt16?
    /// The address the control plane listens on.
    package var controlHost = "127.0.0.1"
    /// Further DNS names of the server certificate, beside localhost and the loopback addresses.
    package var serverNames: [String] = []
    /// Seeds everything left to chance: generated ids, jitter, which deliveries a reset loses.
    package var seed: UInt64 = 0
    /// The keys whose provider tokens are valid.
    package var providerKeys: [ProviderKey] = []
    /// `false`: only tokens registered by ``APNsSimulator/registerDevice(token:topic:environment:)`` exist.
    package var acceptAnyToken = true
    /// `false`: any non-empty bearer token passes.
    package var verifyJWT = true
    /// Also accepts DER signatures, which the real service is known to do; off, an emitter is held to raw `r‖s`.
    package var acceptDERSignatures = false
    /// How far ahead of the clock `iat` may be, in seconds.
    package var futureTokenTolerance: Int64 = 60
    /// Shortest time between two distinct provider tokens of one key on one connection, in seconds.
    package var providerTokenUpdateInterval: Int64 = 1200
    /// Sends `BadEnvironmentKeyInToken`, the other spelling seen in the field, for `BadEnvironmentKeyIdInToken`.
    package var alternateKeyEnvironmentSpelling = false
    /// The reason of a `background` push with priority 10, or `nil` to let it pass; Apple documents an error, not its name.
    package var backgroundPriorityReason: String? = "BadPriority"
    /// Whether an empty `apns-collapse-id` passes.
    package var acceptEmptyCollapseID = false
    /// Wall clock in milliseconds since 1970: token age, timestamps, rate windows.
    package var clock: @Sendable () -> Int64 = SystemTime.wallClockMilliseconds
    package var maxConcurrentStreams: UInt32 = 1000
    package var streamLimitPolicy = StreamLimitPolicy.raiseAfterFirstSuccess
    /// Answers a stream beyond the limit by GOAWAY with a plain text instead of `REFUSED_STREAM`.
    package var punishesExcessStreams = false
    /// Leaves INITIAL_WINDOW_SIZE out of the first SETTINGS.
    package var omitsInitialWindowSize = false
    package var penalties = RejectionPenalties()
    /// Keeps every request verbatim; off, only figures are kept.
    package var recordNotifications = true
    /// Oldest requests are forgotten beyond this number.
    package var recordLimit = 1_000_000
    /// Answers 200 to everything, checks and keeps nothing: the cheapest possible peer, to measure a sender against.
    package var sink = false

    package init() {}
}
