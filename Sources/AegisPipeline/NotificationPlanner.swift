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
    private let zones: ZoneRules
    private let digests: any IdentityDigests

    package init(
        catalog: Catalog, apps: [AppID: AppRules], retention: Duration, digests: any IdentityDigests
    ) {
        self.catalog = catalog
        self.apps = apps
        self.retention = retention
        self.digests = digests
        zones = ZoneRules()
        renderer = Renderer(catalog: catalog, apps: Array(apps.values), zones: zones)
    }

    package func plan(
        _ event: DomainEvent, as type: CatalogType, for user: UserID, snapshot: RecipientSnapshot, isDue: Bool,
        at now: UnixTime, isTraced: Bool = false
    ) -> NotificationPlan {
        do throws(Rejection) {
            let zone = snapshot.preferences.quietHours?.timeZone ?? snapshot.devices.first?.registration.timeZone
            let request = renderer.request(
                type, for: event, to: user, timeZone: zone, items: snapshot.entry?.items ?? 0)
            let threadID = try renderer.threadID(of: request)
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
                return .send(plan, try deliveries(of: request, threadID: threadID, by: plan, event, type.rules, user))
            }
        } catch {
            return .reject(error)
        }
    }

    private func deliveries(
        of request: RenderRequest, threadID: String?, by plan: SendPlan, _ event: DomainEvent,
        _ rules: NotificationRules, _ user: UserID
    ) throws(Rejection) -> [PlannedDelivery] {
        let collapseID =
            if let own = try renderer.collapseID(of: request) {
                digests.collapseID(fitting: own)
            } else {
                digests.collapseID(for: event.identity, user: user)
            }
        var deliveries: [PlannedDelivery] = []
        deliveries.reserveCapacity(plan.targets.count)
        for target in plan.targets {
            guard let app = apps[target.device.registration.app] else { continue }
            let rendered = try renderer.render(request, threadID: threadID, for: target, of: app)
            deliveries.append(
                PlannedDelivery(
                    device: target.device, level: target.level,
                    pushID: digests.pushID(for: event.identity, user: user, device: target.device.id),
                    topic: app.id.text + rules.pushType.topicSuffix, type: rules.pushType,
                    priority: rules.pushPriority, expiresAt: plan.expiresAt, collapseID: collapseID,
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

extension NotificationPlan {
    /// What changed the outcome, as the ledger keeps it.
    var effects: String? {
        switch self {
        case .send(let plan, let deliveries):
            guard let finding = deliveries.lazy.compactMap(\.rendered.refused).first else {
                return DecisionStep.text(of: plan.trace)
            }
            let step = DecisionStep(.privacy, "the text would show \(finding.words); the neutral one was sent")
            return DecisionStep.text(of: plan.trace + [step])
        case .suppress(_, let trace), .join(_, _, let trace), .postpone(_, _, let trace):
            return DecisionStep.text(of: trace)
        case .duplicate, .reject:
            return nil
        }
    }
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
