import APNsSimulator
import AegisCore
import AegisPipeline
import AegisPorts
import Configuration
import Foundation
import IdentityDigests
import KafkaEventLog
import Observability
import ProviderToken
import SQLiteStore

/// The whole service on embedded parts: an in-process Kafka cluster, SQLite in a temporary folder, the APNs simulator.
final class DemoStage: Sendable {
    static let topic = "domain.events"
    static let deadLetterTopic = "aegis.dead-letter"

    let clock: DemoClock
    let simulator: APNsSimulator
    let recorder: DemoRecorder
    let pipeline: Pipeline
    let service: LoadedService
    private let cluster: EmbeddedCluster
    private let producer: KafkaProducer
    private let store: SQLiteStore
    private let folder: String

    /// Starts everything and registers the people.
    init(scenario: DemoScenario, examples: String) async throws {
        let folder = NSTemporaryDirectory() + "aegis-demo-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.folder = folder
        let clock = DemoClock()
        self.clock = clock
        let key = try P256PrivateKey.generate()
        try writeFile(folder + "/AuthKey_DEMOKEY001.p8", try key.privatePEM())
        var options = SimulatorOptions()
        options.sandboxPort = 0
        options.clock = { clock.now().milliseconds }
        options.providerKeys = [
            ProviderKey(
                keyID: "DEMOKEY001", teamID: "DEMOTEAM01",
                publicKeyPEM: String(decoding: try key.publicPEM(), as: UTF8.self))
        ]
        simulator = try APNsSimulator(options)
        cluster = try EmbeddedCluster(topics: [Self.topic: 1, Self.deadLetterTopic: 1])
        let path = folder + "/aegis.yaml"
        try writeFile(
            path,
            Array(
                Self.configuration(
                    brokers: cluster.brokers, folder: folder, catalog: examples + "/../catalog.yaml",
                    simulator: simulator
                ).utf8))
        guard let service = LoadedService.load(path) else { throw DemoError("the demo's own configuration is wrong") }
        self.service = service
        store = try await SQLiteStore.open(path: folder + "/aegis.db")
        var installations: [String: String] = [:]
        for device in scenario.people.flatMap(\.devices) { installations[device.hexToken] = device.installation }
        recorder = DemoRecorder(installations: installations, simulator: simulator, offset: clock.offset)
        let parts = ServiceParts(
            service: service, clock: clock, log: SilentLog(), meter: SilentMeter(), brokers: cluster.brokers)
        producer = try parts.producer()
        pipeline = parts.pipeline(
            consumer: try parts.consumer(), producer: producer, store: store,
            gateway: try parts.gateway(signers: SignerBox(service.signers)), badges: BadgeBoard(), observer: recorder)
        try await register(scenario.people)
        for answer in scenario.answers where answer.beforeEvent == nil { script(answer) }
    }

    func publish(_ event: DemoScenario.Event) async throws(EventLogError) {
        try await producer.publish(
            [OutgoingRecord(key: nil, value: event.value, headers: event.headers)], to: Self.topic)
    }

    func script(_ answer: DemoScenario.ScriptedAnswer) {
        simulator.setDevice(
            answer.hexToken,
            DeviceScript(
                status: answer.status, reason: answer.reason,
                timestamp: answer.timestampInMilliseconds.map { DemoClock.start.milliseconds + $0 + 60_000 },
                remaining: answer.times))
    }

    /// A device's hash as logs show it.
    func hash(ofToken hex: String) -> String? {
        guard let token = try? DeviceToken(hex: hex) else { return nil }
        return service.digests.hash(of: token).text
    }

    func stop() async {
        await pipeline.drain(within: .seconds(5))
        await producer.close()
        await store.close()
        cluster.stop()
        simulator.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func register(_ people: [DemoScenario.Person]) async throws {
        for person in people {
            let user = try UserID(person.user)
            for (index, phone) in person.devices.enumerated() {
                let registration = DeviceRegistration(
                    user: user, app: AppID("com.example.app"),
                    environment: phone.environment.flatMap { PushEnvironment(rawValue: $0) } ?? .production,
                    installation: phone.installation, token: try DeviceToken(hex: phone.hexToken),
                    authorization: phone.authorization.flatMap { Authorization(rawValue: $0) } ?? .authorized,
                    locale: phone.locale.flatMap { LocaleTag($0) }, timeZone: phone.timeZone)
                // Registered a day ago, the first named as the newest.
                let moment = DemoClock.start.advanced(by: .seconds(-86_400 - index))
                _ = try await store.register(registration, sharesToken: false, at: moment)
            }
            try await store.setPreferences(person.preferences, of: user, at: DemoClock.start)
        }
    }

    private static func configuration(
        brokers: String, folder: String, catalog: String, simulator: APNsSimulator
    ) -> String {
        """
        kafka:
          brokers: \(brokers)
          group: aegis-demo
          topics:
            - {name: \(topic), lane: standard}
          dead_letter_topic: \(deadLetterTopic)
          # A real broker answers a waiting fetch as soon as there is a record; the in-process one only when the wait is over.
          properties: {fetch.wait.max.ms: "5"}
        store: {url: "sqlite://\(folder)/aegis.db"}
        catalog: "\(absolutePath(catalog))"
        apps:
          - id: com.example.app
            environments:
              production:
                endpoint: https://127.0.0.1:\(simulator.port)
                ca_file: "\(simulator.certificateAuthorityPEMPath)"
              sandbox:
                endpoint: https://127.0.0.1:\(simulator.sandboxPort ?? 0)
                ca_file: "\(simulator.certificateAuthorityPEMPath)"
            auth:
              token: {key_file: AuthKey_DEMOKEY001.p8, key_id: DEMOKEY001, team_id: DEMOTEAM01}
            entitlements: [time-sensitive]
        delivery:
          retry: {base: 50ms}
        """
    }
}
