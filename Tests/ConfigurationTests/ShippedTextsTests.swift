import AegisContent
import AegisCore
import AegisEvents
import Configuration
import Foundation
import Testing

/// What the shipped catalog says of the shipped events.
@Suite struct ShippedTextsTests {
    /// Every event of `examples/`, as far as it can be read.
    private func events() throws -> [DomainEvent] {
        var bodies: [Data] = []
        for file in try FileManager.default.contentsOfDirectory(atPath: Samples.repository + "/examples/events") {
            bodies.append(try Data(contentsOf: URL(filePath: Samples.repository + "/examples/events/" + file)))
        }
        let demo = try JSONSerialization.jsonObject(
            with: try Data(contentsOf: URL(filePath: Samples.repository + "/examples/demo/events.json")))
        let entries = (demo as? [String: Any])?["events"] as? [[String: Any]] ?? []
        for case let value as [String: Any] in entries.map({ $0["value"] ?? NSNull() }) {
            bodies.append(try JSONSerialization.data(withJSONObject: value))
        }
        let decoder = EventDecoder(topics: [TopicFormat(topic: "domain.events")])
        return bodies.flatMap { body in
            decoder.decode(
                KafkaRecord(offset: 0, timestamp: UnixTime(milliseconds: 0), key: nil, value: Array(body)),
                from: TopicPartition(topic: "domain.events", partition: 0)
            ).compactMap { if case .event(let event) = $0 { event } else { nil } }
        }
    }

    private func target(_ rules: NotificationRules, locale: String) throws -> SendTarget {
        let device = Device(
            id: DeviceID(1),
            registration: DeviceRegistration(
                user: try UserID("user-42"), app: AppID("com.example.app"), environment: .production,
                installation: "i", token: try DeviceToken(hex: "ab"), authorization: .authorized,
                locale: LocaleTag(locale)),
            registeredAt: UnixTime(milliseconds: 0))
        return SendTarget(device: device, level: rules.interruptionLevel, sound: rules.sound, badge: rules.badge)
    }

    /// Title, subtitle and body of a payload, a line each.
    private func text(_ push: RenderedPush) throws -> String {
        let payload = try JSONSerialization.jsonObject(with: Data(push.payload.bytes(badge: 1))) as? [String: Any]
        let aps = payload?["aps"] as? [String: Any]
        let alert = try #require(aps?["alert"] as? [String: String])
        return ["title", "subtitle", "body"].compactMap { alert[$0] }.joined(separator: "\n")
    }

    @Test(arguments: ["en-GB", "de-DE"], [0, 1, 4, 1_000])
    func `no text of a sample shows what its type must not, one by one and in a digest`(
        locale: String, items: Int
    ) throws {
        let app = AppRules(id: AppID("com.example.app"), hasTimeSensitive: true)
        let (catalog, _) = try CatalogLoader.load(
            path: Samples.repository + "/catalog.yaml", apps: [app], retention: .seconds(30 * 86_400))
        let renderer = Renderer(catalog: catalog)
        let privacyGuard = PrivacyGuard()
        var shown: Set<String> = []
        for event in try events() {
            guard let type = catalog.type(matching: event.type), type.rules.pushType == .alert else { continue }
            let request = renderer.request(
                type, for: event, to: try UserID("user-42"), timeZone: nil, items: items)
            let push: RenderedPush
            do {
                push = try renderer.render(
                    request, threadID: renderer.threadID(of: request),
                    for: target(type.rules, locale: locale), of: app)
            } catch let rejection as Rejection {
                // One sample of the demo has no order number, to show such a dead letter.
                #expect(rejection.kind == .content && rejection.reason.contains("order_"), "\(rejection)")
                continue
            }
            let text = try text(push)
            #expect(push.refused == nil, "\(type.rules.name): \(text)")
            #expect(privacyGuard.finding(in: text, rule: type.privacy) == nil, "\(type.rules.name): \(text)")
            #expect(push.locale.text == locale.prefix(2))
            shown.insert(type.rules.name)
            if type.rules.name == "price_alert", items > 1 {
                #expect(text.hasPrefix(items == 4 ? "4 " : locale == "de-DE" ? "1.000 " : "1,000 "), "\(text)")
            }
        }
        #expect(shown == Set(catalog.types.filter { $0.value.rules.pushType == .alert }.keys))
    }

    @Test func `critical types have a neutral text, and price alerts a limit with a digest`() throws {
        let catalog = try CatalogLoader.load(path: Samples.repository + "/catalog.yaml").catalog
        for type in catalog.types.values where type.rules.priority == .critical {
            #expect(Set(type.fallback.keys.map(\.text)) == ["en", "de"])
            #expect(
                type.fallback.values.allSatisfy { ($0.title?.paths ?? []).isEmpty && ($0.body?.paths ?? []).isEmpty })
        }
        let alert = try #require(catalog.types["price_alert"])
        #expect(
            alert.rules.frequency
                == FrequencyRule(limit: FrequencyLimit(max: 3, per: .seconds(3_600)), over: .digest))
        #expect(Set(alert.digest.keys.map(\.text)) == ["en", "de"])
    }
}
