import AegisCore
import AegisEvents
import AegisPorts

/// Registration of devices, the way an app's backend does it.
enum DeviceRoutes {
    private static let path = "/v1/users/{user}/devices/{installation}"

    static let all = [
        Route(.put, path, scope: .devices, handle: register),
        Route(.delete, path, scope: .devices, handle: unregister),
        Route(.get, "/v1/users/{user}/devices", scope: .devices, handle: list),
    ]

    @Sendable private static func register(_ call: Call) async throws(Problem) -> Response {
        let registration = try registration(of: call)
        let sharesToken = call.service.appsThatShareTokens.contains(registration.app)
        let now = call.service.clock.now()
        let isNew = try await call.store { store async throws(StoreError) in
            try await store.register(registration, sharesToken: sharesToken, at: now)
        }
        return .json(isNew ? 201 : 200) { write(registration, digests: call.service.digests, to: &$0) }
    }

    @Sendable private static func unregister(_ call: Call) async throws(Problem) -> Response {
        let user = try call.user()
        let installation = try installation(of: call)
        if let token = call.token, !token.apps.isEmpty {
            let devices = try await call.store { store async throws(StoreError) in
                try await store.devices(of: user)
            }
            for device in devices where device.registration.installation == installation {
                try call.permit(device.registration.app)
            }
        }
        let now = call.service.clock.now()
        _ = try await call.store { store async throws(StoreError) in
            try await store.unregister(user: user, installation: installation, at: now)
        }
        return .noContent
    }

    @Sendable private static func list(_ call: Call) async throws(Problem) -> Response {
        let user = try call.user()
        let devices = try await call.store { store async throws(StoreError) in
            try await store.devices(of: user)
        }
        let digests = call.service.digests
        return .json(200) { writer in
            writer.key("devices")
            writer.array { writer in
                for device in devices where call.token?.mayUse(device.registration.app) != false {
                    writer.element()
                    writer.object { writer in
                        write(device.registration, digests: digests, to: &writer)
                        writer.member("registered_at", Timestamp.rfc3339(device.registeredAt))
                        if let since = device.quarantinedAt {
                            writer.member("quarantined_at", Timestamp.rfc3339(since))
                        }
                    }
                }
            }
        }
    }

    private static func installation(of call: Call) throws(Problem) -> String {
        let installation = call.parameters["installation"] ?? ""
        guard (1...128).contains(installation.utf8.count) else {
            throw .badRequest("An installation id has 1 to 128 bytes.")
        }
        return installation
    }

    /// Reads the body; `authorization` defaults to `authorized`, as apps ask for a token once they may show something.
    private static func registration(of call: Call) throws(Problem) -> DeviceRegistration {
        let user = try call.user()
        let installation = try installation(of: call)
        var body = try RequestBody(call.body)
        let app = body.requiredText("app", length: 1...256).map { AppID($0) }
        let hex = body.requiredText("token", length: 2...512)
        var token: DeviceToken?
        if let hex {
            do throws(InvalidDeviceToken) {
                token = try DeviceToken(hex: hex)
            } catch {
                body.report("token", error.description)
            }
        }
        let environment = environment(in: &body, of: app, call)
        let kind = body.choice("kind", of: DeviceKind.self) ?? .device
        _ = body.text("activity_id", length: 1...256)
        _ = body.choice("platform", of: Platform.self)
        let authorization = body.choice("authorization", of: Authorization.self) ?? .authorized
        let localeText = body.text("locale", length: 1...35)
        let locale = localeText.flatMap { LocaleTag($0) }
        if localeText != nil, locale == nil { body.report("locale", "must be a language tag such as de-AT") }
        let zone = body.text("time_zone", length: 1...64)
        if let zone, !zone.utf8.allSatisfy(isZoneByte) {
            body.report("time_zone", "must be the name of an IANA time zone such as Europe/Berlin")
        }
        let version = body.text("app_version", length: 1...64)
        try body.finish()
        guard let app, let token, let environment else { throw .internalError }
        try call.permit(app)
        return DeviceRegistration(
            user: user, app: app, environment: environment, installation: installation, kind: kind, token: token,
            authorization: authorization, locale: locale, timeZone: zone, appVersion: version)
    }

    /// The environment, if the app is configured for it; faults of either are reported.
    private static func environment(
        in body: inout RequestBody, of app: AppID?, _ call: Call
    ) -> PushEnvironment? {
        let isPresent = body.requiredText("environment", length: 1...64) != nil
        let environment = isPresent ? body.choice("environment", of: PushEnvironment.self) : nil
        guard let app else { return environment }
        if let unknown = call.unknownApp(app) {
            body.report(unknown)
        } else if let environment, let known = call.service.apps[app]?.environments, !known.contains(environment) {
            let names = known.map(\.rawValue).sorted().joined(separator: ", ")
            body.report("environment", "is not configured for this app; known are \(names)")
        }
        return environment
    }

    private enum Platform: String, CaseIterable {
        case ios
    }

    private static func isZoneByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "+"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func write(
        _ registration: DeviceRegistration, digests: any IdentityDigests, to writer: inout JSONWriter
    ) {
        writer.member("installation_id", registration.installation)
        writer.member("app", registration.app.text)
        writer.member("environment", registration.environment.rawValue)
        writer.member("kind", registration.kind.rawValue)
        writer.member("token", digests.hash(of: registration.token).text)
        writer.member("platform", "ios")
        writer.member("authorization", registration.authorization.rawValue)
        if let locale = registration.locale { writer.member("locale", locale.text) }
        if let zone = registration.timeZone { writer.member("time_zone", zone) }
        if let version = registration.appVersion { writer.member("app_version", version) }
    }
}
