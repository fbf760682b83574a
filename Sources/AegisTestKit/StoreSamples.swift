package import AegisCore
package import AegisPorts

// Values of the store's ports, alike but for what a test names.

extension UserID {
    /// - Parameter text: cut to the 256 bytes that a user id has.
    package static func sample(_ text: String = "user-42") -> UserID {
        guard let user = try? UserID(text) else { preconditionFailure("a sample user has 1 to 256 bytes") }
        return user
    }
}

extension DeviceToken {
    /// A token of 64 digits that differs by `number`.
    package static func sample(_ number: Int = 1) -> DeviceToken {
        let digits = String(number, radix: 16)
        let padding = String(repeating: "0", count: max(0, 64 - digits.utf8.count))
        guard let token = try? DeviceToken(hex: padding + digits) else {
            preconditionFailure("a sample token has a number from 0")
        }
        return token
    }
}

extension AppID {
    package static let sample = AppID("com.example.app")
}

extension AppKey {
    package static let sample = AppKey(app: .sample, environment: .production)
}

extension DeviceRegistration {
    package static func sample(
        user: UserID = .sample(), app: AppID = .sample, environment: PushEnvironment = .production,
        installation: String = "installation-1", kind: DeviceKind = .device, token: DeviceToken = .sample(),
        authorization: Authorization = .authorized
    ) -> DeviceRegistration {
        DeviceRegistration(
            user: user, app: app, environment: environment, installation: installation, kind: kind, token: token,
            authorization: authorization, locale: LocaleTag("de-AT"), timeZone: "Europe/Vienna", appVersion: "1.2.3")
    }
}

extension Device {
    package static func sample(
        id: Int64 = 1, _ registration: DeviceRegistration = .sample(),
        registeredAt: UnixTime = UnixTime(milliseconds: 1_764_504_000_000), quarantinedAt: UnixTime? = nil
    ) -> Device {
        Device(
            id: DeviceID(id), registration: registration, registeredAt: registeredAt, quarantinedAt: quarantinedAt)
    }
}

extension NotificationKey {
    package static func sample(
        event: String = "evt-1", source: String = "domain.events", user: UserID = .sample(),
        day: UTCDay = UnixTime(milliseconds: 1_764_504_000_000).day
    ) -> NotificationKey {
        NotificationKey(event: EventIdentity(source: source, id: event), user: user, day: day)
    }
}

extension Claim {
    /// A claim to send that raises the badge of ``AppID/sample``.
    package static func sample(
        _ key: NotificationKey = .sample(), _ action: Action = .send(badgeApps: [.sample]),
        deferral: DeferralID? = nil
    ) -> Claim {
        Claim(key: key, type: "order_confirmed", action: action, deferral: deferral)
    }
}

extension Settlement.Delivery {
    package static func sample(
        _ key: NotificationKey = .sample(), device: DeviceID = DeviceID(1), outcome: DeliveryOutcome = .accepted,
        status: Int? = 200, reason: String? = nil, attempts: Int = 1
    ) -> Settlement.Delivery {
        Settlement.Delivery(
            key: key, device: device, pushID: PushID(high: 1, low: UInt64(bitPattern: device.number)),
            outcome: outcome, status: status, reason: reason, attempts: attempts)
    }
}

extension Settlement.Closure {
    package static func sample(
        _ key: NotificationKey = .sample(), state: LedgerState = .sent, reason: String? = nil,
        wasAccepted: Bool = true
    ) -> Settlement.Closure {
        Settlement.Closure(key: key, state: state, reason: reason, wasAccepted: wasAccepted)
    }
}

extension Settlement.Prune {
    package static func sample(
        token: DeviceToken = .sample(), app: AppKey = .sample, goneAt: UnixTime? = nil,
        reason: String = "Unregistered"
    ) -> Settlement.Prune {
        Settlement.Prune(token: token, app: app, goneAt: goneAt, reason: reason)
    }
}
