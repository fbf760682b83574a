import APNsSender
import AegisContent
import AegisCore
import AegisEvents
import AegisPipeline
import AegisPorts
import Configuration
import Foundation
import IdentityDigests
import KafkaEventLog
import Runtime
import SQLiteStore

/// The measured parts, all on the same events: order confirmations of about 330 bytes for people with one device each.
final class Bench {
    private let count: Int
    private let folder: String
    private let broker: ChildProcess
    private let sink: ChildProcess
    private let service: LoadedService
    private let parts: ServiceParts
    private let events: [KafkaRecord]
    private let sqlite: SQLiteStore

    init(count: Int, examples: String) async throws {
        self.count = count
        folder = NSTemporaryDirectory() + "aegis-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        broker = try ChildProcess(["bench", "broker"])
        sink = try ChildProcess([
            "apns-simulator", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--keys", folder, "--sink",
        ])
        guard let brokers = broker.line(), let plane = sink.line(), sink.line() != nil, sink.line() != nil,
            let endpoint = plane.split(separator: " ").last
        else { throw DemoError("the broker or the sink did not start") }
        let path = folder + "/aegis.yaml"
        try writeFile(
            path,
            Array(
                Self.configuration(brokers: brokers, endpoint: String(endpoint), folder: folder, examples: examples)
                    .utf8))
        guard let service = LoadedService.load(path) else {
            throw DemoError("the measurement's configuration is wrong")
        }
        self.service = service
        parts = ServiceParts(
            service: service, clock: SystemClock(), log: SilentLog(), meter: SilentMeter(), brokers: brokers)
        let now = SystemClock().now()
        events = (0..<count).map { Self.event($0, at: now) }
        sqlite = try await SQLiteStore.open(path: folder + "/aegis.db")
        for index in 0..<min(count, 10_000) {
            _ = try await sqlite.register(Self.device(index), sharesToken: false, at: now)
        }
    }

    func stop() {
        broker.stop()
        sink.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    func decode() throws -> [BenchResult] {
        let decoder = parts.decoder()
        let partition = TopicPartition(topic: DemoStage.topic, partition: 0)
        var found = 0
        let result = ProcessCost.measure("decode", "aegis", count: count) {
            for record in events {
                if case .event = decoder.decode(record, from: partition).first { found += 1 }
            }
        }
        guard found == count else { throw DemoError("only \(found) of \(count) events were read") }
        return [result]
    }

    func plan() throws -> [BenchResult] {
        let planner = parts.planner()
        let decoded = try decodedEvents()
        let now = SystemClock().now()
        var sent = 0
        let result = ProcessCost.measure("plan", "decide and render", count: count) {
            for (event, type, user, snapshot) in decoded {
                let plan = planner.plan(event, as: type, for: user, snapshot: snapshot, isDue: false, at: now)
                if case .send = plan { sent += 1 }
            }
        }
        guard sent == count else { throw DemoError("only \(sent) of \(count) events would be sent") }
        return [result]
    }

    func store() async throws -> [BenchResult] {
        let keys = try decodedEvents().map { event, _, user, _ in
            NotificationKey(
                event: EventIdentity(source: "bench", id: event.identity.id), user: user, day: event.occurredAt.day)
        }
        let now = SystemClock().now()
        let digests = service.digests
        var batches: [[NotificationKey]] = []
        for start in stride(from: 0, to: keys.count, by: 500) {
            batches.append(Array(keys[start..<min(keys.count, start + 500)]))
        }
        let sqlite = sqlite
        let recall = try await ProcessCost.measure("store", "recall", count: count) {
            for batch in batches { _ = try await sqlite.recall(batch) }
        }
        let claim = try await ProcessCost.measure("store", "claim", count: count) {
            for batch in batches {
                _ = try await sqlite.claim(
                    batch.map { Claim(key: $0, type: "order_confirmed", action: .send(badgeApps: [Self.app])) }, at: now
                )
            }
        }
        let settle = try await ProcessCost.measure("store", "settle", count: count) {
            for batch in batches {
                let settlement = Settlement(
                    deliveries: batch.map { key in
                        Settlement.Delivery(
                            key: key, device: DeviceID(1),
                            pushID: digests.pushID(for: key.event, user: key.user, device: DeviceID(1)),
                            outcome: .accepted, status: 200, reason: nil, attempts: 1)
                    },
                    closures: batch.map { Settlement.Closure(key: $0, state: .sent, reason: nil, wasAccepted: true) })
                _ = try await sqlite.settle(settlement, at: now)
            }
        }
        return [recall, claim, settle]
    }

    func send() async throws -> [BenchResult] {
        let planner = parts.planner()
        let now = SystemClock().now()
        var pushes: [Push] = []
        for (index, entry) in try decodedEvents().enumerated() {
            let plan = planner.plan(entry.0, as: entry.1, for: entry.2, snapshot: entry.3, isDue: false, at: now)
            guard case .send(_, let deliveries) = plan, let delivery = deliveries.first else { continue }
            pushes.append(
                Push(
                    ticket: UInt64(index), app: delivery.device.registration.key,
                    token: delivery.device.registration.token, id: delivery.pushID, topic: delivery.topic,
                    type: delivery.type, priority: delivery.priority, expiration: .at(delivery.expiresAt),
                    collapseID: delivery.collapseID, payload: delivery.rendered.payload.bytes(badge: 1)))
        }
        let gateway = try parts.gateway(signers: SignerBox(service.signers))
        var window = 0
        while window == 0, let signals = await gateway.signals() {
            for case .window(_, let size) in signals { window = size }
        }
        let all = pushes
        let result = try await ProcessCost.measure("send", "http/2", count: all.count) {
            var next = 0
            var answered = 0
            var outstanding = 0
            while answered < all.count {
                let room = min(max(0, window - outstanding), all.count - next)
                if room > 0 {
                    gateway.send(Array(all[next..<(next + room)]))
                    next += room
                    outstanding += room
                }
                guard let signals = await gateway.signals() else { throw DemoError("the gateway closed") }
                for signal in signals {
                    switch signal {
                    case .answered(let reports):
                        answered += reports.count
                        outstanding -= reports.count
                    case .window(_, let size): window = size
                    case .unreachable, .refused: break
                    }
                }
            }
        }
        await gateway.close()
        return [result]
    }

    /// From records in Kafka to settled and committed, everything in this process but broker and sink.
    func pipeline() async throws -> [BenchResult] {
        let producer = try parts.producer()
        for start in stride(from: 0, to: count, by: 2_000) {
            let records = events[start..<min(count, start + 2_000)].map {
                OutgoingRecord(key: $0.key, value: $0.value)
            }
            try await producer.publish(records, to: DemoStage.topic)
        }
        let counter = DeliveryCounter(goal: count)
        let pipeline = parts.pipeline(
            consumer: try parts.consumer(), producer: producer, store: sqlite,
            gateway: try parts.gateway(signers: SignerBox(service.signers)), badges: BadgeBoard(), observer: counter)
        let result = await ProcessCost.measure("pipeline", "sqlite", count: count) {
            let running = Task { await pipeline.run() }
            await counter.reached()
            await pipeline.drain(within: .seconds(10))
            await running.value
        }
        await producer.close()
        return [result]
    }

    private func decodedEvents() throws -> [(DomainEvent, CatalogType, UserID, RecipientSnapshot)] {
        let decoder = parts.decoder()
        let partition = TopicPartition(topic: DemoStage.topic, partition: 0)
        let now = SystemClock().now()
        return try events.enumerated().map { index, record in
            guard case .event(let event) = decoder.decode(record, from: partition).first,
                let type = service.loaded.catalog.type(matching: event.type),
                case .users(let users) = event.recipients, let user = users.first
            else { throw DemoError("event \(index) was not read") }
            let device = Device(
                id: DeviceID(Int64(index % 10_000) + 1), registration: try Self.device(index % 10_000),
                registeredAt: now)
            return (event, type, user, RecipientSnapshot(devices: [device]))
        }
    }

    private static let app = AppID("com.example.app")

    private static func device(_ index: Int) throws -> DeviceRegistration {
        let hex = String(index, radix: 16)
        return DeviceRegistration(
            user: try UserID("user-\(index)"), app: app, environment: .production, installation: "phone-\(index)",
            token: try DeviceToken(hex: String(repeating: "0", count: 64 - hex.count) + hex),
            authorization: .authorized,
            locale: LocaleTag("en-US"), timeZone: "Europe/Berlin")
    }

    private static func event(_ index: Int, at now: UnixTime) -> KafkaRecord {
        let user = "user-\(index % 10_000)"
        let text = """
            {"id":"evt-\(index)","type":"order_confirmed","occurred_at":"\(Timestamp.rfc3339(now))","recipient":"\(user)",\
            "data":{"order_id":"o-\(index)","order_number":"\(index)","shop":"example","items":3,"status":"paid",\
            "customer":{"id":\(index),"since":"2024-05-01"},"channel":"app","note":"left at the door if nobody is at home"}}
            """
        return KafkaRecord(
            offset: Int64(index), timestamp: now, key: Array(user.utf8), value: Array(text.utf8))
    }

    private static func configuration(
        brokers: String, endpoint: String, folder: String, examples: String
    ) -> String {
        """
        kafka:
          brokers: \(brokers)
          group: aegis-bench
          topics:
            - {name: \(DemoStage.topic), lane: standard}
          dead_letter_topic: \(DemoStage.deadLetterTopic)
        store: {url: "sqlite://\(folder)/aegis.db"}
        catalog: "\(absolutePath(examples + "/../catalog.yaml"))"
        apps:
          - id: com.example.app
            environments:
              production: {endpoint: "\(endpoint)", ca_file: ca.pem}
            auth:
              token: {key_file: AuthKey_SIMULATOR1.p8, key_id: SIMULATOR1, team_id: SIMULATEAM}
        delivery: {rate_limit: 1000000, burst: 1000000}
        """
    }
}

/// Counts settled deliveries and says when they are all there.
private final class DeliveryCounter: PipelineObserver {
    private let goal: Int
    private let count = Lock(0)
    private let termination = Termination()

    init(goal: Int) {
        self.goal = goal
    }

    func saw(_ reports: [PipelineReport]) {
        let delivered = reports.count { if case .delivered = $0 { true } else { false } }
        let total = count.withLock { count in
            count += delivered
            return count
        }
        if total >= goal { _ = termination.request() }
    }

    func reached() async { await termination.wait() }
}
