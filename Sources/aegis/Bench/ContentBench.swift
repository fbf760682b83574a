import AegisContent
import AegisCore
import AegisEvents
import Runtime

/// What the pure steps cost: whether a notification is sent, and its payload for one device.
///
/// Neither broker nor store takes part. The events differ from one another, so that nothing is answered from the event before.
struct ContentBench {
    private let count: Int
    private let now = UnixTime(milliseconds: 1_796_040_000_000)
    private let app = AppRules(id: AppID("com.example.app"), hasTimeSensitive: true)
    /// How many distinct events there are; a power of two keeps the choice of one cheap.
    private static let distinct = 1_024

    init(count: Int) {
        self.count = count
    }

    func render() throws -> [BenchResult] {
        try [
            renderCase(
                "fields", title: "Order {{order_number}}", subtitle: "{{shop}}",
                body: "{{note}} is on its way to you."),
            renderCase(
                "number_truncate", title: "Order {{order_number}}", subtitle: "{{points | number}} points",
                body: "{{note | truncate(24)}} is on its way to you."),
            renderCase(
                "money_date", title: "Order {{order_number}}", subtitle: "{{total | money(EUR)}}",
                body: "Arrives {{due | date(medium)}} at your door."),
            renderCase(
                "plural", title: "Order {{order_number}}", subtitle: "{{shop}}",
                body: "{{items | plural(one: \"# item is\", other: \"# items are\")}} on the way."),
        ]
    }

    func decide() throws -> [BenchResult] {
        let quiet = QuietHours(
            isEnabled: true, timeZone: "Europe/Berlin",
            windows: [.init(days: Set(Weekday.allCases), start: 22 * 60, end: 7 * 60)])
        let silent = QuietHours(
            isEnabled: true, timeZone: "Europe/Berlin",
            windows: [.init(days: Set(Weekday.allCases), start: 9 * 60, end: 17 * 60)])
        let chosen = Preferences(
            types: ["order": true, "news": false], categories: ["DELIVERY_UPDATE": true],
            mutedThreads: ["order-1": now.advanced(by: .seconds(60))], mutedUntil: now.advanced(by: .seconds(-60)),
            quietHours: quiet)
        return try [
            decideCase("send", Preferences()) { if case .send = $0 { true } else { false } },
            decideCase("preferences", chosen) { if case .send = $0 { true } else { false } },
            decideCase("quiet", Preferences(quietHours: silent)) { if case .postpone = $0 { true } else { false } },
            decideCase("suppressed", Preferences(types: ["order": false])) {
                if case .suppress = $0 { true } else { false }
            },
        ]
    }

    private func decideCase(
        _ name: String, _ preferences: Preferences, isExpected: (Decision) -> Bool
    ) throws -> BenchResult {
        let rules = try type(title: "t", subtitle: nil, body: nil).rules
        let zones = ZoneRules()
        let questions = try (0..<Self.distinct).map { index in
            let event = try event(index)
            return DecisionQuestion(
                event: event, rules: rules, user: try user(index),
                snapshot: RecipientSnapshot(
                    devices: [try device(index, 1), try device(index, 2)], preferences: preferences),
                apps: [app.id: app], threadID: "order-o-\(index)", now: now, retention: .seconds(30 * 86_400))
        }
        var expected = 0
        let result = ProcessCost.measure("decide", name, count: count) {
            for index in 0..<count {
                let decision = AegisCore.decide(questions[index % Self.distinct], localTime: zones)
                if isExpected(decision) { expected += 1 }
            }
        }
        guard expected == count else { throw DemoError("\(count - expected) decisions of \(name) went another way") }
        return result
    }

    private func renderCase(
        _ name: String, title: String, subtitle: String?, body: String?
    ) throws -> BenchResult {
        let type = try type(title: title, subtitle: subtitle, body: body)
        guard let locale = LocaleTag("en") else { throw DemoError("\"en\" is a language") }
        let renderer = Renderer(catalog: Catalog(defaultLocale: locale, categories: [:], types: ["order": type]))
        let requests = try (0..<Self.distinct).map { index in
            renderer.request(type, for: try event(index), to: try user(index), timeZone: "Europe/Berlin")
        }
        let targets = try (0..<Self.distinct).map { index in
            SendTarget(device: try device(index, 1), level: .active, sound: .named("default"), badge: .increment)
        }
        var bytes = 0
        let result = try ProcessCost.measure("render", name, count: count) {
            for index in 0..<count {
                let number = index % Self.distinct
                bytes += try renderer.render(
                    requests[number], threadID: "order-o-7", for: targets[number], of: app
                ).payload.bytes.count
            }
        }
        guard bytes > count * 100 else { throw DemoError("the payloads of \(name) are too short to be any") }
        return result
    }

    private func type(title: String, subtitle: String?, body: String?) throws -> CatalogType {
        guard let english = LocaleTag("en"), let german = LocaleTag("de") else {
            throw DemoError("\"en\" and \"de\" are languages")
        }
        let text = MessageTemplates(
            title: try Template(parsing: title), subtitle: try subtitle.map { try Template(parsing: $0) },
            body: try body.map { try Template(parsing: $0) })
        return CatalogType(
            rules: NotificationRules(
                name: "order", priority: .high, category: "DELIVERY_UPDATE", reason: "order",
                interruptionLevel: .active, relevance: 700),
            deepLink: try Template(parsing: "/orders/{{order_id}}"),
            threadID: try Template(parsing: "order-{{order_id}}"),
            custom: [CustomField(key: "order_id", value: try Template(parsing: "{{order_id}}"))],
            content: [english: text, german: text], privacy: .amountsAllowed)
    }

    private func event(_ index: Int) throws -> DomainEvent {
        let due = now.advanced(by: .seconds(Int64(index) * 7_919))
        let data = """
            {"order_id":"o-\(index)","order_number":"\(100_000 + index)","shop":"Bücher & mehr","items":\(index % 5),\
            "points":\(index * 977),"total":\(index * 1_237 + 99),"due":"\(Timestamp.rfc3339(due))",\
            "note":"The parcel number \(index) with your order","status":"paid","channel":"app"}
            """
        return DomainEvent(
            identity: EventIdentity(source: "shop.orders", id: "evt-\(index)"), type: "OrderConfirmed", occurredAt: now,
            recipients: .users([try user(index)]), data: try JSONScanner.scan(Array(data.utf8)))
    }

    private func user(_ index: Int) throws -> UserID { try UserID("user-\(index)") }

    private func device(_ index: Int, _ number: Int) throws -> Device {
        let hex = String(index * 4 + number, radix: 16)
        return Device(
            id: DeviceID(Int64(index * 4 + number)),
            registration: DeviceRegistration(
                user: try user(index), app: app.id, environment: .production, installation: "phone-\(index)-\(number)",
                token: try DeviceToken(hex: String(repeating: "0", count: 64 - hex.count) + hex),
                authorization: .authorized, locale: LocaleTag(index % 3 == 0 ? "de-AT" : "en-US"),
                timeZone: "Europe/Berlin"),
            registeredAt: now)
    }
}
