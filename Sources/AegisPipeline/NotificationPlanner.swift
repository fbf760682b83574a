package import AegisContent
package import AegisCore
package import AegisPorts

/// Turns one event for one person into what shall happen: the decision and, where it is sent, each device's request.
///
/// Pure but for the digests; the service, `preview` and the tests all ask this one type.
package struct NotificationPlanner: Sendable {
    package let catalog: Catalog
    package let apps: [AppID: AppRules]
    package let retention: Duration
    private let renderer: Renderer
    private let zones = ZoneRules()
    private let digests: any IdentityDigests

    package init(
        catalog: Catalog, apps: [AppID: AppRules], retention: Duration, digests: any IdentityDigests
    ) {
        self.catalog = catalog
        self.apps = apps
        self.retention = retention
        self.digests = digests
        renderer = Renderer(catalog: catalog)
    }

    package func plan(
        _ event: DomainEvent, as type: CatalogType, for user: UserID, snapshot: RecipientSnapshot, isDue: Bool,
        at now: UnixTime, isTraced: Bool = false
    ) -> NotificationPlan {
        do throws(Rejection) {
            let threadID = try renderer.threadID(of: type, event: event, user: user)
            let decision = decide(
                DecisionQuestion(
                    event: event, rules: type.rules, user: user, snapshot: snapshot, apps: apps, threadID: threadID,
                    isDue: isDue, now: now, retention: retention, isTraced: isTraced),
                localTime: zones)
            switch decision {
            case .duplicate:
                return .duplicate
            case .suppress(let reason, let trace):
                return .suppress(reason, trace: trace)
            case .join(let digest, let reason, let trace):
                return .join(digest, reason, trace: trace)
            case .postpone(let until, let rule, let trace):
                return .postpone(until: until, rule: rule, trace: trace)
            case .send(let plan):
                return .send(plan, try requests(for: plan, event: event, type: type, user: user, snapshot: snapshot))
            }
        } catch {
            return .reject(error)
        }
    }

    private func requests(
        for plan: SendPlan, event: DomainEvent, type: CatalogType, user: UserID, snapshot: RecipientSnapshot
    ) throws(Rejection) -> [PlannedDelivery] {
        let collapseID: String
        if let own = event.collapseID {
            collapseID = digests.collapseID(fitting: own)
        } else if let templated = try renderer.collapseID(of: type, event: event, user: user) {
            collapseID = digests.collapseID(fitting: templated)
        } else {
            collapseID = digests.collapseID(for: event.identity, user: user)
        }
        let zone = snapshot.preferences.quietHours?.timeZone ?? snapshot.devices.first?.registration.timeZone
        var deliveries: [PlannedDelivery] = []
        deliveries.reserveCapacity(plan.targets.count)
        for target in plan.targets {
            guard let app = apps[target.device.registration.app] else { continue }
            let rendered = try renderer.render(
                RenderRequest(type: type, event: event, user: user, target: target, app: app, timeZone: zone))
            deliveries.append(
                PlannedDelivery(
                    device: target.device, level: target.level,
                    pushID: digests.pushID(for: event.identity, user: user, device: target.device.id),
                    topic: app.id.text + type.rules.pushType.topicSuffix, type: type.rules.pushType,
                    priority: type.rules.pushPriority, expiresAt: plan.expiresAt, collapseID: collapseID,
                    rendered: rendered))
        }
        return deliveries
    }
}

/// What shall happen with one event for one person.
package enum NotificationPlan: Sendable {
    case send(SendPlan, [PlannedDelivery])
    case suppress(SuppressionReason, trace: [DecisionStep])
    case join(Digest, SuppressionReason, trace: [DecisionStep])
    case postpone(until: UnixTime, rule: DecisionStep.Rule, trace: [DecisionStep])
    case duplicate
    /// Nothing can be sent: a dead letter.
    case reject(Rejection)
}

/// One request to APNs, complete but for the badge.
package struct PlannedDelivery: Sendable {
    package var device: Device
    package var level: InterruptionLevel
    package var pushID: PushID
    package var topic: String
    package var type: PushType
    package var priority: PushPriority
    package var expiresAt: UnixTime
    package var collapseID: String
    package var rendered: RenderedPush
}
