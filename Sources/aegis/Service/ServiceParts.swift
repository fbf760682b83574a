import APNsSender
import AegisCore
import AegisEvents
import AegisPipeline
import AegisPorts
import Configuration
import KafkaEventLog
import Runtime

/// Builds the parts of the service from what was loaded: the one place where settings meet adapters.
struct ServiceParts {
    let service: LoadedService
    let clock: any TimeSource
    let log: any Log
    let meter: any Meter
    let brokers: String

    private var configuration: AegisConfiguration { service.loaded.configuration }

    var kafkaProperties: [String: String] { configuration.kafka.properties.mapValues(\.revealed) }

    var consumerSettings: KafkaEventLog.KafkaSettings {
        let kafka = configuration.kafka
        var settings = KafkaEventLog.KafkaSettings(
            brokers: brokers, group: kafka.group, topics: kafka.topics.map(\.name))
        settings.instanceID = kafka.instanceID
        settings.properties = kafkaProperties
        settings.drainTimeout = configuration.delivery.drainTimeout
        return settings
    }

    var producerSettings: KafkaProducerSettings {
        KafkaProducerSettings(
            brokers: brokers, deadLetterTopic: configuration.kafka.deadLetterTopic, properties: kafkaProperties)
    }

    func consumer() throws(EventLogError) -> KafkaConsumer {
        try KafkaConsumer(consumerSettings, log: log)
    }

    func producer() throws(EventLogError) -> KafkaProducer {
        try KafkaProducer(producerSettings, log: log)
    }

    func topics() -> KafkaTopics {
        KafkaTopics(brokers: brokers, properties: kafkaProperties)
    }

    func gateway(signers: SignerBox) throws(GatewayError) -> HTTP2PushGateway {
        var endpoints: [AppKey: GatewaySettings.Endpoint] = [:]
        for app in configuration.apps {
            for (environment, endpoint) in app.endpoints {
                endpoints[AppKey(app: app.rules.id, environment: environment)] = GatewaySettings.Endpoint(
                    host: endpoint.address.host, port: endpoint.address.port, caFile: endpoint.caFile)
            }
        }
        var settings = GatewaySettings(endpoints: endpoints, signer: { signers[$0] })
        settings.connections = configuration.delivery.connections
        settings.requestDeadline = configuration.delivery.requestTimeout
        return try HTTP2PushGateway(settings: settings, clock: clock, log: log)
    }

    func planner() -> NotificationPlanner {
        NotificationPlanner(
            catalog: service.loaded.catalog, apps: configuration.appRules, retention: configuration.store.retention,
            digests: service.digests)
    }

    func decoder() -> EventDecoder {
        EventDecoder(
            topics: configuration.kafka.topics.map { topic in
                let format: EventFormat =
                    switch topic.format {
                    case .auto: .auto
                    case .aegis: .aegis
                    case .cloudevents: .cloudevents
                    }
                return TopicFormat(topic: topic.name, format: format)
            })
    }

    func pipelineSettings() -> PipelineSettings {
        var topics: [String: PipelineSettings.Topic] = [:]
        for topic in configuration.kafka.topics {
            topics[topic.name] = PipelineSettings.Topic(
                lane: topic.lane, rejectsUnmatched: topic.unmatched == .deadLetter)
        }
        return PipelineSettings(
            topics: topics, maxInFlight: configuration.delivery.maxInFlight,
            maxInFlightBytes: configuration.delivery.maxInFlightBytes)
    }

    func schedulerSettings() -> [AppKey: SendScheduler<MonotonicTime>.Settings] {
        let delivery = configuration.delivery
        var circuit = SendScheduler<MonotonicTime>.CircuitSettings()
        circuit.firstPause = delivery.circuit.firstProbe
        circuit.longestPause = delivery.circuit.longestProbe
        let settings = SendScheduler<MonotonicTime>.Settings(
            rate: delivery.rateLimit, burst: delivery.burst,
            retry: RetrySchedule(
                base: delivery.retry.base, cap: delivery.retry.cap, maxAttempts: delivery.retry.maxAttempts),
            circuit: circuit)
        return Dictionary(uniqueKeysWithValues: configuration.apps.flatMap(\.keys).map { ($0, settings) })
    }

    func pipeline(
        consumer: KafkaConsumer, producer: KafkaProducer, store: any Store, gateway: any PushGateway,
        badges: BadgeBoard, observer: (any PipelineObserver)? = nil
    ) -> Pipeline {
        Pipeline(
            parts: Pipeline.Parts(
                eventLog: consumer, store: store, deadLetters: producer, gateway: gateway, digests: service.digests,
                clock: clock, log: log, meter: meter, observer: observer),
            settings: pipelineSettings(), planner: planner(), decoder: decoder(), apps: schedulerSettings(),
            badges: badges)
    }
}

/// The signers in force; a reload replaces them for the next connection.
final class SignerBox: Sendable {
    private let signers: Lock<[AppKey: any TokenSigner]>

    init(_ signers: [AppKey: any TokenSigner]) {
        self.signers = Lock(signers)
    }

    subscript(key: AppKey) -> (any TokenSigner)? {
        signers.withLock { $0[key] }
    }

    func replace(_ newSigners: [AppKey: any TokenSigner]) {
        signers.withLock { $0 = newSigners }
    }
}
