/// `apns-push-type`.
///
/// - Source: Apple, "Sending notification requests to APNs".
package enum PushType: String, Hashable, Sendable, CaseIterable {
    case alert
    case background
    case voip
    case liveactivity

    /// What the topic has after the bundle id.
    package var topicSuffix: String {
        switch self {
        case .alert, .background: ""
        case .voip: ".voip"
        case .liveactivity: ".push-type.liveactivity"
        }
    }

    /// The largest body APNs takes, in bytes, inclusive.
    package var payloadLimit: Int {
        switch self {
        case .alert, .background, .liveactivity: 4_096
        case .voip: 5_120
        }
    }
}

/// `apns-priority`.
package enum PushPriority: Int, Hashable, Sendable, CaseIterable {
    case immediate = 10
    case powerAware = 5
    case neverWake = 1
}

/// `apns-expiration`: absent and zero are different things.
package enum PushExpiration: Hashable, Sendable {
    /// APNs keeps it as long as it likes, up to 30 days.
    case absent
    /// One attempt, never stored.
    case immediate
    case at(UnixTime)

    /// In whole UNIX seconds, never the past as a date: what has expired is sent to no one.
    package var headerValue: Int64? {
        switch self {
        case .absent: nil
        case .immediate: 0
        case .at(let time): max(1, time.milliseconds / 1_000)
        }
    }
}

/// The body of a push, complete but for the badge, which is stamped when the push is handed to the transport.
package struct PushPayload: Hashable, Sendable {
    /// The JSON without the badge's digits.
    package var bytes: [UInt8]
    /// Where in `bytes` the digits go; nil where the payload has no badge.
    package var badgeOffset: Int?

    package init(bytes: [UInt8], badgeOffset: Int? = nil) {
        self.bytes = bytes
        self.badgeOffset = badgeOffset
    }

    /// The bytes that the digits of the largest badge (``maximumBadge``) need beside `bytes`.
    package static let badgeReserve = 7
    package static let maximumBadge = 9_999_999

    /// The JSON as sent.
    package func bytes(badge: Int) -> [UInt8] {
        guard let badgeOffset, badgeOffset <= bytes.count else { return bytes }
        var stamped: [UInt8] = []
        stamped.reserveCapacity(bytes.count + Self.badgeReserve)
        stamped.append(contentsOf: bytes[..<badgeOffset])
        stamped.append(contentsOf: String(min(max(0, badge), Self.maximumBadge)).utf8)
        stamped.append(contentsOf: bytes[badgeOffset...])
        return stamped
    }
}

/// One request to APNs, without the headers that all requests of an app share.
package struct Push: Hashable, Sendable {
    /// The sender's handle: comes back with the answer.
    package var ticket: UInt64
    package var app: AppKey
    package var token: DeviceToken
    package var id: PushID
    /// Bundle id and the push type's suffix.
    package var topic: String
    package var type: PushType
    package var priority: PushPriority
    package var expiration: PushExpiration
    /// 1 to 64 bytes.
    package var collapseID: String?
    /// As sent, the badge stamped.
    package var payload: [UInt8]

    package init(
        ticket: UInt64, app: AppKey, token: DeviceToken, id: PushID, topic: String, type: PushType,
        priority: PushPriority, expiration: PushExpiration, collapseID: String?, payload: [UInt8]
    ) {
        self.ticket = ticket
        self.app = app
        self.token = token
        self.id = id
        self.topic = topic
        self.type = type
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// What became of one request.
package enum PushAnswer: Hashable, Sendable {
    case response(APNsResponse)
    /// APNs certainly did not process it: above a GOAWAY's last stream id, refused, or never written.
    case notProcessed
    /// It may have been processed: the connection or the stream ended, or the deadline passed, before an answer.
    case unknown(UnknownFate)
    /// The request cannot be made as it is (over the header limit, an empty body): ours to mend.
    case unsendable(reason: String)
}

package enum UnknownFate: String, Hashable, Sendable, CaseIterable {
    case connectionLost = "connection_lost"
    case streamReset = "stream_reset"
    case deadline
}

/// An answer of APNs.
package struct APNsResponse: Hashable, Sendable {
    package var status: Int
    package var reason: APNsReason?
    /// Of a 410: when APNs last found the token invalid.
    package var timestamp: UnixTime?
    /// Not documented by Apple; honoured where it appears.
    package var retryAfter: Duration?

    package init(status: Int, reason: APNsReason? = nil, timestamp: UnixTime? = nil, retryAfter: Duration? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}

/// The `reason` of an APNs error, as sent.
///
/// The set grows: an unknown one is kept, never refused.
package struct APNsReason: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { text }
}
