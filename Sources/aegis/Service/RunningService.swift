import AegisCore
import AegisPipeline
import AegisPorts
import Configuration
import Glibc
import HTTPAPI
import KafkaEventLog
import Observability
import Runtime
import SQLiteStore

/// One run of the service: waits for its parts, runs the pipeline, drains.
struct RunningService {
    private enum TopicCheck {
        case ready
        case refused(String)
        case terminated
    }

    let path: String
    let service: LoadedService
    let signals: SignalWatch
    private let clock = SystemClock()
    private let log: JSONLinesLog
    private let meter = PrometheusMeter(version: CommandLineTool.version)
    private let health = StartingHealth()
    private let startingStore = StartingStore()
    private let badges = BadgeBoard()
    private let termination = Termination()
    private let signers: SignerBox

    private var configuration: AegisConfiguration { service.loaded.configuration }

    init(path: String, service: LoadedService, signals: SignalWatch) {
        self.path = path
        self.service = service
        self.signals = signals
        log = JSONLinesLog(settings: service.loaded.configuration.log, clock: clock)
        signers = SignerBox(service.signers)
    }

    /// - Returns: the exit code.
    func run() async -> Int32 {
        let server: HTTPServer
        do throws(HTTPServerError) {
            server = try startHTTP()
        } catch {
            writeError("aegis serve: \(error)\n")
            return ExitCode.failure
        }
        log.info(
            "Aegis is starting",
            ["version": .text(CommandLineTool.version), "http_port": .number(Int64(server.port))])
        let code = await serve()
        await server.stop()
        log.info("Aegis has stopped", ["exit_code": .number(Int64(code))])
        log.flush()
        return code
    }

    private func serve() async -> Int32 {
        let reloader = ServiceReloader(path: path, configuration: configuration, signers: signers, log: log)
        let watch = Task { [signals, termination] in
            while let batch = await signals.next() {
                for signal in batch {
                    switch signal {
                    case .terminate:
                        // Whoever asks twice does not want to wait.
                        guard termination.request() else { _exit(ExitCode.failure) }
                    case .reload:
                        await reloader.reload()
                    }
                }
            }
        }
        defer { watch.cancel() }
        guard let store = await openStore() else { return ExitCode.success }
        let embedded: EmbeddedCluster?
        do throws(EventLogError) {
            embedded = try startEmbeddedCluster()
        } catch {
            return fail(error.description)
        }
        defer { embedded?.stop() }
        let parts = ServiceParts(
            service: service, clock: clock, log: log, meter: meter, brokers: embedded?.brokers ?? brokers)
        switch await checkTopics(parts.topics()) {
        case .ready: break
        case .terminated: return ExitCode.success
        case .refused(let message): return fail(message)
        }
        do {
            return try await runPipeline(parts, store: store, reloader: reloader)
        } catch {
            return fail("\(error)")
        }
    }

    private func runPipeline(
        _ parts: ServiceParts, store: SQLiteStore, reloader: ServiceReloader
    ) async throws -> Int32 {
        let producer = try parts.producer()
        let gateway = try parts.gateway(signers: signers)
        let pipeline = parts.pipeline(
            consumer: try parts.consumer(), producer: producer, store: store, gateway: gateway, badges: badges)
        await reloader.attach(to: pipeline)
        startingStore.open(BadgeAwareDeviceStore(store: store, badges: badges))
        health.runs(pipeline)
        log.info("Aegis is running", ["group": .text(configuration.kafka.group)])
        let running = Task { await pipeline.run() }
        let retention = Task { await dropWhatIsOld(in: store) }
        await termination.wait()
        log.info(
            "Aegis is draining", ["limit_seconds": .number(configuration.delivery.drainTimeout.components.seconds)])
        let left = await pipeline.drain(within: configuration.delivery.drainTimeout)
        if left > 0 {
            log.warning(
                "The drain ended before everything was delivered; the rest comes again after the next start",
                ["notifications": .number(Int64(left))])
        }
        retention.cancel()
        await running.value
        await producer.close()
        await store.close()
        return ExitCode.success
    }

    private func fail(_ message: String) -> Int32 {
        log.flush()
        writeError("aegis serve: \(message)\n")
        return ExitCode.failure
    }

    private func startHTTP() throws(HTTPServerError) -> HTTPServer {
        let http = configuration.http
        let tokens = http.tokens.map { token in
            APIToken(
                name: token.name, secret: token.token.revealed,
                scopes: Set(token.scopes.compactMap { APIScope(rawValue: $0.rawValue) }), apps: token.apps ?? [])
        }
        let meter = meter
        return try HTTPServer.start(
            settings: HTTPServerSettings(host: http.listen.host, port: http.listen.port, tokens: tokens),
            service: APIDependencies(
                store: startingStore, digests: service.digests, clock: clock, log: log, health: health,
                apps: configuration.appRules, metrics: { meter.exposition() }))
    }
}

// MARK: - Waiting for what the service needs

extension RunningService {
    private var brokers: String {
        switch configuration.kafka.brokers {
        case .embedded: ""
        case .servers(let list): list
        }
    }

    private func startEmbeddedCluster() throws(EventLogError) -> EmbeddedCluster? {
        guard case .embedded = configuration.kafka.brokers else { return nil }
        let kafka = configuration.kafka
        var topics = Dictionary(kafka.topics.map { ($0.name, 4) }, uniquingKeysWith: { first, _ in first })
        topics[kafka.deadLetterTopic] = 1
        let cluster = try EmbeddedCluster(topics: topics)
        log.info("Kafka runs in this process and ends with it", ["brokers": .text(cluster.brokers)])
        return cluster
    }

    /// Tries until it succeeds, telling every 30 seconds; nil when the process shall end before.
    private func waiting<Result>(
        for what: String, _ attempt: () async -> (result: Result?, trouble: String)
    ) async -> Result? {
        var nextReminder = clock.uptime()
        while !termination.isRequested {
            let (result, trouble) = await attempt()
            if let result { return result }
            health.waits(for: "\(what): \(trouble)")
            if clock.uptime() >= nextReminder {
                log.error("Waiting at start", ["for": .text(what), "detail": .text(trouble)])
                nextReminder = clock.uptime().advanced(by: .seconds(30))
            }
            for _ in 0..<8 where !termination.isRequested {
                try? await clock.sleep(until: clock.uptime().advanced(by: .milliseconds(250)))
            }
        }
        return nil
    }

    private func openStore() async -> SQLiteStore? {
        guard case .sqlite(let file) = configuration.store.engine else { return nil }
        return await waiting(for: "the store") {
            do throws(StoreError) {
                return (try await SQLiteStore.open(path: file), "")
            } catch {
                return (nil, error.description)
            }
        }
    }

    /// The dead-letter topic has to exist before anything is read; input topics may come later.
    private func checkTopics(_ topics: KafkaTopics) async -> TopicCheck {
        let existing: Set<String>? = await waiting(for: "Kafka") {
            do throws(EventLogError) {
                return (try await topics.existing(), "")
            } catch {
                return (nil, error.description)
            }
        }
        guard let existing else { return .terminated }
        let deadLetters = configuration.kafka.deadLetterTopic
        guard existing.contains(deadLetters) else {
            return .refused(
                "the dead-letter topic \"\(deadLetters)\" does not exist. Create it, with retention long enough to work "
                    + "through it, or name another in kafka.dead_letter_topic; Aegis never creates topics itself")
        }
        for topic in configuration.kafka.topics where !existing.contains(topic.name) {
            log.warning("An input topic does not exist yet; it is read once it does", ["topic": .text(topic.name)])
        }
        return .ready
    }

    /// Ages out the ledger and deleted devices once an hour; a failure waits for the next hour.
    private func dropWhatIsOld(in store: SQLiteStore) async {
        let settings = configuration.store
        while !Task.isCancelled {
            let now = clock.now()
            do throws(StoreError) {
                try await store.dropLedger(before: now.advanced(by: .zero - settings.retention).day)
            } catch {
                log.warning("Old ledger days could not be dropped", ["detail": .text(error.description)])
            }
            do throws(StoreError) {
                let count = try await store.dropDevices(
                    deletedBefore: now.advanced(by: .zero - settings.deviceRetention))
                if count > 0 {
                    log.info("Devices deleted long ago were dropped", ["devices": .number(Int64(count))])
                }
            } catch {
                log.warning("Deleted devices could not be dropped", ["detail": .text(error.description)])
            }
            try? await clock.sleep(until: clock.uptime().advanced(by: .seconds(3_600)))
        }
    }
}
