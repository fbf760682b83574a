/// The row of a device in the store.
///
/// It survives a change of token, so a notification's identity does too.
package struct DeviceID: Hashable, Sendable, Comparable {
    package let number: Int64

    package init(_ number: Int64) {
        self.number = number
    }

    package static func < (left: DeviceID, right: DeviceID) -> Bool {
        left.number < right.number
    }
}

/// What a token addresses: the app itself, or one of its other push channels.
package enum DeviceKind: String, Hashable, Sendable, CaseIterable {
    case device
    case voip
    case liveactivity
}

/// What the person allowed the app to show.
///
/// - Source: Apple, `UNAuthorizationStatus`.
package enum Authorization: String, Hashable, Sendable, CaseIterable {
    case notDetermined
    case denied
    case authorized
    case provisional
    case ephemeral

    /// Whether an alert would be shown at all; the others receive background pushes only.
    package var showsAlerts: Bool {
        switch self {
        case .authorized, .provisional, .ephemeral: true
        case .notDetermined, .denied: false
        }
    }
}

/// What an app tells about itself when it registers.
package struct DeviceRegistration: Hashable, Sendable {
    package var user: UserID
    package var app: AppID
    package var environment: PushEnvironment
    /// The app's own stable id of this installation, 1 to 128 bytes; a new token under it replaces the old.
    package var installation: String
    package var kind: DeviceKind
    package var token: DeviceToken
    package var authorization: Authorization
    package var locale: LocaleTag?
    /// An IANA zone such as `Europe/Berlin`.
    package var timeZone: String?
    package var appVersion: String?

    package init(
        user: UserID, app: AppID, environment: PushEnvironment, installation: String, kind: DeviceKind = .device,
        token: DeviceToken, authorization: Authorization, locale: LocaleTag? = nil, timeZone: String? = nil,
        appVersion: String? = nil
    ) {
        self.user = user
        self.app = app
        self.environment = environment
        self.installation = installation
        self.kind = kind
        self.token = token
        self.authorization = authorization
        self.locale = locale
        self.timeZone = timeZone
        self.appVersion = appVersion
    }

    package var key: AppKey { AppKey(app: app, environment: environment) }
}

/// One registered device of one user.
package struct Device: Hashable, Sendable {
    package let id: DeviceID
    package var registration: DeviceRegistration
    /// Our clock at the newest registration call; a 410 prunes only what is older than its timestamp.
    package var registeredAt: UnixTime
    /// Set when APNs called the token bad; any registration lifts it.
    package var quarantinedAt: UnixTime?

    /// How long an App Clip may show notifications after its launch, at which it registers.
    ///
    /// - Source: Apple, "Enabling notifications in App Clips".
    package static let ephemeralLifetime = Duration.seconds(8 * 3_600)

    /// Whether an alert would be shown at `now`; an App Clip's permission ends by itself.
    package func showsAlerts(at now: UnixTime) -> Bool {
        guard registration.authorization == .ephemeral else { return registration.authorization.showsAlerts }
        return now.since(registeredAt) <= Self.ephemeralLifetime
    }

    package init(
        id: DeviceID, registration: DeviceRegistration, registeredAt: UnixTime, quarantinedAt: UnixTime? = nil
    ) {
        self.id = id
        self.registration = registration
        self.registeredAt = registeredAt
        self.quarantinedAt = quarantinedAt
    }
}
