import AegisCore

extension UnixTime {
    /// Sunday, 2025-11-30T12:00:00Z.
    static let noon = UnixTime(milliseconds: 1_764_504_000_000)
}

extension AppID {
    static let shop = AppID("com.example.shop")
    static let chat = AppID("com.example.chat")
}

extension NotificationRules {
    static func sample(
        priority: Priority = .high, category: String? = "ORDERS", pushType: PushType = .alert
    ) -> NotificationRules {
        NotificationRules(
            name: "order_confirmed", priority: priority, category: category, reason: "order_confirmed",
            interruptionLevel: .active, pushType: pushType)
    }
}

extension Device {
    static func sample(
        _ number: Int64 = 1, app: AppID = .shop, environment: PushEnvironment = .production, kind: DeviceKind = .device,
        authorization: Authorization = .authorized, timeZone: String? = nil
    ) throws -> Device {
        let token = try DeviceToken(hex: "ab" + String(repeating: "0", count: 60) + String(10 + number % 90))
        let registration = try DeviceRegistration(
            user: UserID("user-42"), app: app, environment: environment, installation: "i-\(number)", kind: kind,
            token: token, authorization: authorization, timeZone: timeZone)
        return Device(id: DeviceID(number), registration: registration, registeredAt: .noon - .hours(100))
    }
}

extension DecisionQuestion {
    /// An order confirmed at noon for somebody with one device and no wishes.
    static func sample() throws -> DecisionQuestion {
        let user = try UserID("user-42")
        let event = DomainEvent(
            identity: EventIdentity(source: "orders", id: "evt-1"), type: "OrderConfirmed", occurredAt: .noon,
            recipients: .users([user]))
        return try DecisionQuestion(
            event: event, rules: .sample(), user: user, snapshot: RecipientSnapshot(devices: [.sample()]),
            apps: [.shop: AppRules(id: .shop)], now: .noon, retention: .hours(30 * 24))
    }

    /// The answer in UTC; its steps only where they were asked for.
    var decision: Decision { isTraced ? effects : effects.untraced }

    /// The answer in UTC, with what changed it.
    var effects: Decision { decide(self, localTime: JumpingZones()) }
}

extension Decision {
    var plan: SendPlan? {
        if case .send(let plan) = self { plan } else { nil }
    }

    var suppression: SuppressionReason? {
        if case .suppress(let reason, _) = self { reason } else { nil }
    }

    var postponement: UnixTime? {
        if case .postpone(let until, _, _) = self { until } else { nil }
    }

    var trace: [DecisionStep] {
        switch self {
        case .send(let plan): plan.trace
        case .suppress(_, let trace), .postpone(_, _, let trace), .join(_, _, let trace): trace
        case .duplicate: []
        }
    }

    var untraced: Decision {
        switch self {
        case .send(var plan):
            plan.trace = []
            return .send(plan)
        case .suppress(let reason, _): return .suppress(reason, trace: [])
        case .postpone(let until, let rule, _): return .postpone(until: until, rule: rule, trace: [])
        case .join(let digest, let reason, _): return .join(digest, reason, trace: [])
        case .duplicate: return .duplicate
        }
    }
}
