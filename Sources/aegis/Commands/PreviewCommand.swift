import AegisContent
import AegisCore
import AegisEvents
import AegisPipeline
import AegisPorts
import Configuration
import Runtime
import SQLiteStore

/// `aegis preview`: what an event would lead to, without sending or writing anything.
enum PreviewCommand: Command {
    static let name = "preview"
    static let summary = "Shows what each recipient's devices would get of an event, and why."
    static let usage = "--config F [--topic T] [--at TIME] FILE"
    static let options = [
        Option(name: "config", value: "F", help: "The configuration, aegis.yaml."),
        Option(name: "topic", value: "T", help: "The topic whose format reads the file; default: the first."),
        Option(name: "at", value: "TIME", help: "Decides as of this moment, RFC 3339; default: now."),
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let path = arguments.last("config"), let file = arguments.positional.first,
            arguments.positional.count == 1
        else {
            writeError("aegis preview: usage: aegis preview \(usage)\n")
            return ExitCode.usage
        }
        let clock = SystemClock()
        var now = clock.now()
        if let text = arguments.last("at") {
            guard let time = Timestamp.parseRFC3339(text) else {
                writeError("aegis preview: --at \(text): write it as 2026-11-30T12:00:00Z\n")
                return ExitCode.usage
            }
            now = time
        }
        guard let service = LoadedService.load(path, printingWarnings: false) else { return ExitCode.usage }
        guard let bytes = readFile(file == "-" ? "/dev/stdin" : file) else {
            writeError("aegis preview: \(file) cannot be read\n")
            return ExitCode.usage
        }
        let topics = service.loaded.configuration.kafka.topics.map(\.name)
        let topic = arguments.last("topic") ?? topics.first ?? ""
        guard topics.contains(topic) else {
            writeError("aegis preview: topic \"\(topic)\" is not in \(path)\n")
            return ExitCode.usage
        }
        do throws(StoreError) {
            return try await preview(bytes, of: topic, service: service, clock: clock, now: now)
        } catch {
            writeError("aegis preview: \(error)\n")
            return ExitCode.failure
        }
    }

    private static func preview(
        _ bytes: [UInt8], of topic: String, service: LoadedService, clock: SystemClock, now: UnixTime
    ) async throws(StoreError) -> Int32 {
        guard case .sqlite(let file) = service.loaded.configuration.store.engine else { return ExitCode.usage }
        let store = try await SQLiteStore.open(path: file, migrates: false)
        let parts = ServiceParts(
            service: service, clock: clock, log: SilentLog(), meter: SilentMeter(), brokers: "")
        let planner = parts.planner()
        let record = KafkaRecord(offset: 0, timestamp: now, key: nil, value: bytes)
        var isReadable = true
        for item in parts.decoder().decode(record, from: TopicPartition(topic: topic, partition: 0)) {
            switch item {
            case .ignored(let reason):
                print("ignored: \(reason.rawValue)")
            case .rejected(let rejection):
                isReadable = false
                print("dead letter: \(rejection.kind.rawValue): \(rejection.reason)")
            case .event(let event):
                isReadable = try await show(event, planner: planner, store: store, now: now) && isReadable
            }
        }
        await store.close()
        return isReadable ? ExitCode.success : ExitCode.failure
    }

    private static func show(
        _ event: DomainEvent, planner: NotificationPlanner, store: SQLiteStore, now: UnixTime
    ) async throws(StoreError) -> Bool {
        print("event \(event.identity.id) of \(event.identity.source), type \(event.type)")
        guard let type = planner.catalog.type(matching: event.type) else {
            print("  ignored: unmatched, no catalog type has this name")
            return true
        }
        guard case .users(let users) = event.recipients else {
            print("  dead letter: recipient: audiences are not available in this version")
            return false
        }
        var isSendable = true
        for user in users {
            let key = NotificationKey(event: event.identity, user: user, day: event.occurredAt.day)
            guard
                let snapshot = try await store.recall([RecallQuestion(key: key, frequencyKey: type.rules.frequencyKey)])
                    .first
            else { continue }
            print("  user \(user.text), \(snapshot.devices.count) devices")
            let plan = planner.plan(
                event, as: type, for: user, snapshot: snapshot, isDue: false, at: now, isTraced: true)
            isSendable = show(plan, badges: snapshot.badges) && isSendable
        }
        return isSendable
    }

    private static func show(_ plan: NotificationPlan, badges: [AppID: Int]) -> Bool {
        switch plan {
        case .duplicate:
            print("    duplicate: the ledger has closed it")
        case .suppress(let reason, let trace):
            show(trace)
            print("    suppressed: \(reason.rawValue)")
        case .join(let digest, let reason, let trace):
            show(trace)
            print("    \(reason.rawValue): stands in one notification, due \(Timestamp.rfc3339(digest.dueAt))")
        case .postpone(let until, let rule, let trace):
            show(trace)
            print("    deferred until \(Timestamp.rfc3339(until)): \(rule.rawValue)")
        case .reject(let rejection):
            print("    dead letter: \(rejection.kind.rawValue): \(rejection.reason)")
            return false
        case .send(let plan, let deliveries):
            show(plan.trace)
            for delivery in deliveries { show(delivery, plan: plan, badges: badges) }
        }
        return true
    }

    private static func show(_ trace: [DecisionStep]) {
        for step in trace { print("    \(step.rule.rawValue.padded(to: 14)) \(step.finding)") }
    }

    private static func show(_ delivery: PlannedDelivery, plan: SendPlan, badges: [AppID: Int]) {
        let registration = delivery.device.registration
        let counted = plan.badgeApps.contains(registration.app) ? 1 : 0
        let payload = delivery.rendered.payload.bytes(badge: (badges[registration.app] ?? 0) + counted)
        print("    device \(registration.installation) (\(registration.key))")
        print("      apns-id          \(delivery.pushID)")
        print("      apns-topic       \(delivery.topic)")
        print("      apns-push-type   \(delivery.type.rawValue)")
        print("      apns-priority    \(delivery.priority.rawValue)")
        print("      apns-expiration  \(PushExpiration.at(delivery.expiresAt).headerValue ?? 0)")
        print("      apns-collapse-id \(delivery.collapseID)")
        if let finding = delivery.rendered.refused {
            print("      privacy          the text would show \(finding.words); the neutral one is sent")
        }
        print("      \(payload.count) bytes of \(delivery.type.payloadLimit)")
        print("      \(String(decoding: payload, as: UTF8.self))")
    }
}

/// For verbs that print what matters themselves.
struct SilentLog: Log {
    let level = LogLevel.error
    func write(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue>) {}
}
