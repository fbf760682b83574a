/// How a delivery, one notification to one device, ended.
package enum DeliveryOutcome: Hashable, Sendable {
    case accepted
    /// Dead-lettered.
    case failed
    /// The device is gone or its token is bad.
    case pruned
    case expired
    /// A newer one for the same collapse id took its place before sending.
    case superseded
    case cancelled
    case skipped(SkipReason)

    package enum SkipReason: String, Hashable, Sendable, CaseIterable {
        case notAuthorized = "not_authorized"
        case silentThrottle = "silent_throttle"
    }

    /// The word the store, metrics and people use.
    package var name: String {
        switch self {
        case .accepted: "accepted"
        case .failed: "failed"
        case .pruned: "pruned"
        case .expired: "expired"
        case .superseded: "superseded"
        case .cancelled: "cancelled"
        case .skipped: "skipped"
        }
    }
}

/// Why a notification, one event for one user, was not sent.
package enum SuppressionReason: String, Hashable, Sendable, CaseIterable {
    case noDevice = "no_device"
    case notAuthorized = "not_authorized"
    case typeOff = "type_off"
    case categoryOff = "category_off"
    case muted
    case noMarketingConsent = "no_marketing_consent"
    case quietHours = "quiet_hours"
    case frequencyCap = "frequency_cap"
    case silentThrottle = "silent_throttle"
    case expired
    case selfAction = "self_action"
    case digested
    case cancelled
    case held
}

/// Why a record or a part of it needs no notification; a skip is never a dead letter.
package enum IgnoreReason: String, Hashable, Sendable, CaseIterable {
    case tombstone
    case unmatched
    case noRecipient = "no_recipient"
    case filtered
    case snapshot
}
