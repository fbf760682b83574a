package import AegisCore

/// The connections to APNs: requests in, answers out, both in batches.
///
/// It makes one attempt for each push and knows nothing of retries, devices or circuits; what ends a connection it
/// decides itself, by the disposition table.
package protocol PushGateway: Sendable {
    /// Hands over requests; never blocks.
    ///
    /// Each ticket comes back exactly once in ``signals()``, after its deadline at the latest. No more should be
    /// outstanding for an app than its last ``GatewaySignal/window(_:_:)`` said; what exceeds it waits in the gateway's
    /// queue.
    func send(_ pushes: [Push])

    /// What has happened since the last call, in order, at least one; waits for it. Nil after ``close()``.
    func signals() async -> [GatewaySignal]?

    /// Takes up changed credentials: connections are drained and opened anew.
    func reloadCredentials(of apps: Set<AppKey>)

    /// Ends connections; whatever is outstanding is answered `notProcessed` or `unknown` first.
    func close() async
}

package enum GatewaySignal: Sendable {
    case answered([PushReport])
    /// How many requests may be outstanding for an app now: 0 without a connection, 1 until the provider token has been
    /// accepted, then the sum of what its connections allow.
    case window(AppKey, Int)
    /// Connecting failed; it is tried again with back-off. Told once per change of reason.
    case unreachable(AppKey, GatewayError)
    /// APNs ended the connection for a reason that every push will meet (a certificate, a credential).
    case refused(AppKey, APNsReason)
}

package struct PushReport: Hashable, Sendable {
    package let ticket: UInt64
    package let answer: PushAnswer
    /// From the hand-over to the transport to the answer.
    package let duration: Duration

    package init(ticket: UInt64, answer: PushAnswer, duration: Duration) {
        self.ticket = ticket
        self.answer = answer
        self.duration = duration
    }
}

package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case resolve, connect, tls, protocolViolation, credential, configuration
    }

    package let kind: Kind
    package let detail: String

    package init(kind: Kind, detail: String) {
        self.kind = kind
        self.detail = detail
    }

    package var description: String { "APNs: \(detail)" }
}

/// Mints provider tokens: one for each (team, key) in the process.
package protocol TokenSigner: Sendable {
    /// The token to send now, and since when it has been current. The same text until it is renewed: by age, or by
    /// ``rejected(_:at:)`` when it is old enough.
    func token(at now: UnixTime) throws(CredentialError) -> ProviderTokenValue

    /// APNs called this token expired: the next may be minted if the floor of 20 minutes allows it.
    func rejected(_ token: ProviderTokenValue, at now: UnixTime)
}

package struct ProviderTokenValue: Hashable, Sendable, CustomStringConvertible {
    /// The JWT: secret.
    package let text: String
    package let issuedAt: UnixTime

    package init(text: String, issuedAt: UnixTime) {
        self.text = text
        self.issuedAt = issuedAt
    }

    package var description: String { "<provider token>" }
}

package struct CredentialError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case unreadable
        case notPEM
        case notPKCS8
        case wrongCurve
        case signing
    }

    package let kind: Kind
    /// Names the file and the remedy; never its content.
    package let detail: String

    package init(kind: Kind, detail: String) {
        self.kind = kind
        self.detail = detail
    }

    package var description: String { detail }
}

/// Names that follow from identities: the same on every instance.
package protocol IdentityDigests: Sendable {
    /// UUIDv5 of event identity, user and device row.
    func pushID(for event: EventIdentity, user: UserID, device: DeviceID) -> PushID
    /// 64 hex digits of event identity and user, so that a redelivery replaces itself on the phone.
    func collapseID(for event: EventIdentity, user: UserID) -> String
    /// A publisher's own collapse id as APNs takes it: as it is up to 64 bytes, else hashed to 64.
    func collapseID(fitting text: String) -> String
    func hash(of user: UserID) -> UserHash
    func hash(of token: DeviceToken) -> DeviceHash
}
