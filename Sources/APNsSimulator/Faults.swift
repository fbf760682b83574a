/// What the simulator is told to do wrong; the default does nothing wrong.
///
/// ``status``, ``stall`` and ``streamReset`` strike every ``every``-th valid request, ``count`` times at most and for
/// ``durationMs`` at most; the rest holds for as long as the faults are set. Numbers of requests count from the moment
/// the connection was opened.
package struct Faults: Sendable, Equatable {
    /// How the body of an error answer looks.
    package enum Body: String, Sendable {
        case normal
        /// The JSON in several DATA frames of a few bytes.
        case split
        case empty
        case notJSON = "not_json"
        /// Well-formed, with a reason nobody has heard of.
        case unknownReason = "unknown_reason"
        /// The right reason among keys of other types.
        case extraKeys = "extra_keys"
    }

    /// How ``goAwayAfter`` ends a connection.
    package enum GoAwayMode: String, Sendable {
        /// Last stream 2^31-1 first, the real one after ``goAwayGraceMs``; everything up to it is answered.
        case graceful
        /// Last stream is the highest answered (0 if none), a second GOAWAY without data, end of file.
        case abrupt
    }

    package var delayMs = 0
    /// A random 0…n on top of ``delayMs``: answers come out of order.
    package var jitterMs = 0
    package var status: Int?
    /// The reason of ``status``; `nil` sends an empty body.
    package var reason: String?
    /// The `timestamp` of ``status``.
    package var timestamp: Int64?
    package var every = 1
    package var count: Int?
    package var durationMs: Int?
    /// Never answers.
    package var stall = false
    /// RST_STREAM with this error code instead of an answer; 7 is REFUSED_STREAM.
    package var streamReset: UInt32?
    package var goAwayAfter: Int?
    package var goAwayMode = GoAwayMode.graceful
    /// The debug data of GOAWAY become `{"reason":…}`.
    package var goAwayReason: String?
    package var goAwayGraceMs = 50
    /// A TCP reset at this request of a connection.
    package var resetAfter: Int?
    /// How many of a hundred requests in flight at a reset were delivered although nobody will hear of it.
    package var resetDeliveredPercent = 50
    /// Announced to all connections at once, where it is below what they have.
    package var maxConcurrentStreams: UInt32?
    /// Streams open beyond a lowered limit are refused, newest first.
    package var refusesExcessStreams = false
    /// A `retry-after` header in seconds, on 429 and 5xx.
    package var retryAfter: Int?
    package var body = Body.normal
    /// Sends `apns-id` in upper case, as it has been seen for generated ones.
    package var upperCaseAPNsID = false
    /// Pushes to one token in ``tokenRateWindowMs``; more answer 429 `TooManyRequests`.
    package var tokenRateLimit: Int?
    package var tokenRateWindowMs = 1000
    package var ignoresPings = false
    /// Closes a connection on which nothing came for so long.
    package var idleCloseMs: Int?
    /// Says GOAWAY before an idle close.
    package var idleGoAway = false

    package init() {}
}

/// What one device answers instead of 200.
package struct DeviceScript: Sendable, Equatable {
    package var status: Int
    package var reason: String?
    /// Milliseconds since 1970; with 410.
    package var timestamp: Int64?
    /// How often, until the device is normal again; `nil` for ever.
    package var remaining: Int?

    package init(status: Int, reason: String? = nil, timestamp: Int64? = nil, remaining: Int? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.remaining = remaining
    }
}
