/// The table: what every answer means for notification, device, connection and app.
///
/// By `reason` first, whatever the status; by status class where the reason is unknown or missing. The set of reasons
/// grows, so an unknown one is an ordinary input.
///
/// - Source: Apple, "Handling notification responses from APNs" and "Handling error responses from APNs".
extension APNsDisposition {
    /// Of one attempt, answered or not.
    package static func of(_ answer: PushAnswer) -> APNsDisposition {
        switch answer {
        case .response(let response):
            of(response)
        case .notProcessed:
            APNsDisposition(notification: .retryNow, countsAsAttempt: false)
        case .unknown(.connectionLost):
            APNsDisposition(notification: .retryNow, connection: .retire, countsAsAttempt: true)
        case .unknown(.streamReset), .unknown(.deadline):
            APNsDisposition(notification: .retryNow, countsAsAttempt: true)
        case .unsendable:
            mend
        }
    }

    /// Of an answer of APNs.
    package static func of(_ response: APNsResponse) -> APNsDisposition {
        // Accepted is accepted, whatever else the answer carries: sending again could only show it twice.
        if (200..<300).contains(response.status) {
            return APNsDisposition(notification: .accepted, countsAsAttempt: true)
        }
        if let reason = response.reason, let known = of(reason, timestamp: response.timestamp) {
            return known
        }
        return of(status: response.status, timestamp: response.timestamp)
    }

    /// Of a reason alone, as it also stands in the debug data of a GOAWAY; nil for one that the table does not have.
    package static func of(_ reason: APNsReason, timestamp: UnixTime? = nil) -> APNsDisposition? {
        switch reason.text {
        case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "DuplicateHeaders", "InvalidPushType",
            "MissingDeviceToken", "PayloadEmpty", "BadPath", "MethodNotAllowed", "PayloadTooLarge":
            mend
        case "BadDeviceToken", "DeviceTokenNotForTopic":
            // Whether the app is at fault is seen from the share of such answers: ``MassFailureGuard``.
            APNsDisposition(notification: .endWithDevice, device: .quarantine, countsAsAttempt: true)
        case "Unregistered", "ExpiredToken":
            gone(timestamp)
        case "TopicDisallowed":
            suspicious
        case "BadTopic", "MissingTopic", "BadCertificate", "BadCertificateEnvironment", "Forbidden",
            "InvalidProviderToken", "MissingProviderToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
            pausing
        case "ExpiredProviderToken":
            // With a wrong clock the renewed token is expired as well: the circuit then ends what would be a loop.
            APNsDisposition(
                notification: .retryNow, connection: .renewCredential, app: .suspect, countsAsAttempt: false,
                alerts: true)
        case "TooManyProviderTokenUpdates":
            APNsDisposition(notification: .retryLater, connection: .retire, countsAsAttempt: false, alerts: true)
        case "IdleTimeout", "UnrelatedKeyIdInToken", "Shutdown":
            APNsDisposition(notification: .retryNow, connection: .retire, countsAsAttempt: false)
        case "TooManyRequests":
            APNsDisposition(notification: .retryLater, device: .delay, countsAsAttempt: true)
        case "InternalServerError":
            faulty
        case "ServiceUnavailable", "Service Unavailable":
            overloaded
        default:
            nil
        }
    }

    private static func of(status: Int, timestamp: UnixTime?) -> APNsDisposition {
        switch status {
        case 403: pausing
        case 408: faulty
        case 410: gone(timestamp)
        case 429:
            // Too many of something, and nothing says of what: this device waits and the app slows down.
            APNsDisposition(notification: .retryLater, device: .delay, app: .slow, countsAsAttempt: true)
        case 400..<500: suspicious
        case 503: overloaded
        default: faulty
        }
    }

    /// Ours to mend: the same request would fail again.
    private static let mend = APNsDisposition(notification: .deadLetter, countsAsAttempt: true, alerts: true)

    /// This one ends; several devices in a row make it the app's fault.
    private static let suspicious = APNsDisposition(
        notification: .deadLetter, app: .suspect, countsAsAttempt: true, alerts: true)

    /// Credential, topic or certificate: no push of this app can succeed.
    private static let pausing = APNsDisposition(
        notification: .hold, app: .pause, countsAsAttempt: false, alerts: true)

    /// A fault of APNs, or of something in front of it, at this request.
    private static let faulty = APNsDisposition(notification: .retryLater, countsAsAttempt: true)

    /// APNs as a whole has too much to do.
    private static let overloaded = APNsDisposition(notification: .retryLater, app: .slow, countsAsAttempt: false)

    private static func gone(_ timestamp: UnixTime?) -> APNsDisposition {
        APNsDisposition(notification: .endWithDevice, device: .prune(goneAt: timestamp), countsAsAttempt: true)
    }
}
