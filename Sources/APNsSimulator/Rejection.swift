/// Why a request gets something else than 200.
///
/// Source: Apple, "Handling error responses from APNs"; reason strings are open-ended there and so are they here.
struct Rejection: Hashable, Sendable {
    let status: Int
    /// `nil` sends an empty body.
    let reason: String?
    /// Milliseconds since 1970, at which APNs last found the token invalid; with 410 only.
    var timestamp: Int64?

    init(_ status: Int, _ reason: String?, timestamp: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }

    static let badCollapseID = Rejection(400, "BadCollapseId")
    static let badDeviceToken = Rejection(400, "BadDeviceToken")
    static let badExpirationDate = Rejection(400, "BadExpirationDate")
    static let badMessageID = Rejection(400, "BadMessageId")
    static let badPriority = Rejection(400, "BadPriority")
    static let badTopic = Rejection(400, "BadTopic")
    static let deviceTokenNotForTopic = Rejection(400, "DeviceTokenNotForTopic")
    static let duplicateHeaders = Rejection(400, "DuplicateHeaders")
    static let invalidPushType = Rejection(400, "InvalidPushType")
    static let missingDeviceToken = Rejection(400, "MissingDeviceToken")
    static let missingTopic = Rejection(400, "MissingTopic")
    static let payloadEmpty = Rejection(400, "PayloadEmpty")
    static let topicDisallowed = Rejection(400, "TopicDisallowed")
    static let badCertificateEnvironment = Rejection(403, "BadCertificateEnvironment")
    static let expiredProviderToken = Rejection(403, "ExpiredProviderToken")
    static let invalidProviderToken = Rejection(403, "InvalidProviderToken")
    static let missingProviderToken = Rejection(403, "MissingProviderToken")
    static let unrelatedKeyID = Rejection(403, "UnrelatedKeyIdInToken")
    static let badPath = Rejection(404, "BadPath")
    static let methodNotAllowed = Rejection(405, "MethodNotAllowed")
    static let payloadTooLarge = Rejection(413, "PayloadTooLarge")
    static let tooManyProviderTokenUpdates = Rejection(429, "TooManyProviderTokenUpdates")
    static let tooManyRequests = Rejection(429, "TooManyRequests")
    /// RFC 9113, section 10.5.1: what a server may answer to a field block larger than it wants; not an APNs reason.
    static let headersTooLarge = Rejection(431, nil)
}
