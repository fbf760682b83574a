import APNsSender
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
    /// What came of one try to reach what the service needs.
    private enum Attempt<Result> {
        case succeeded(Result)
        /// May be over by the next try.
        case outage(String)
        /// Stays as it is until somebody changes something.
        case failed(StartFailure)
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
    private let types: CurrentTypes

    private var configuration: AegisConfiguration { service.loaded.configuration }

    init(path: String, service: LoadedService, signals: SignalWatch) {
        self.path = path
        self.service = service
        self.signals = signals
        log = JSONLinesLog(settings: service.loaded.configuration.log, clock: clock)
        signers = SignerBox(service.signers)
        types = CurrentTypes(service.loaded.catalog)
    }

    /// - Returns: the exit code.
    func run() async -> Int32 {
        let server: HTTPServer
        do throws(HTTPServerError) {
            server = try startHTTP()
        } catch {
            return fail(
                error.kind == .address
                    ? StartFailure(service.problem(of: error)) : Self.failure("\(error)"))
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
        let reloader = ServiceReloader(
            path: path, configuration: configuration, signers: signers, types: types, log: log)
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
        do throws(StartFailure) {
            guard let store = try await openStore() else { return ExitCode.success }
            let embedded = try startEmbeddedCluster()
            defer { embedded?.stop() }
            let parts = ServiceParts(
                service: service, clock: clock, log: log, meter: meter, brokers: embedded?.brokers ?? brokers)
            guard try await checkTopics(parts.topics()) else { return ExitCode.success }
            return try await runPipeline(parts, store: store, reloader: reloader)
        } catch {
            return fail(error)
        }
    }

    private func runPipeline(
        _ parts: ServiceParts, store: SQLiteStore, reloader: ServiceReloader
    ) async throws(StartFailure) -> Int32 {
        let producer = try started(parts.producer)
        let gateway: HTTP2PushGateway
        do throws(GatewayError) {
            gateway = try parts.gateway(signers: signers)
        } catch {
            throw Self.failure("\(error)")
        }
        let pipeline = parts.pipeline(
            consumer: try started(parts.consumer), producer: producer, store: store, gateway: gateway, badges: badges)
        await reloader.attach(to: pipeline)
        startingStore.open(BadgeAwareDeviceStore(store: store, badges: badges))
        health.runs(pipeline)
        log.info("Aegis is running", ["group": .text(configuration.kafka.group)])
        let running = Task { await pipeline.run() }
        let retention = Task { await dropWhatIsOld(in: store) }
        await termination.wait()
        log.info(
            "Aegis is draining", ["limit_seconds": .number(configuration.delivery.drainTimeout.components.seconds)])
        let watchdog = endInTime()
        let left = await pipeline.drain(within: configuration.delivery.drainTimeout)
        if left > 0 {
            log.warning(
                "The drain ended before everything was delivered; the rest comes again after the next start",
                ["notifications": .number(Int64(left))])
        }
        retention.cancel()
        // Whoever waits for an acknowledgement has its answer then.
        await producer.close()
        await running.value
        await store.close()
        watchdog.cancel()
        return ExitCode.success
    }

    /// Ends the process if it hangs between the end of its drain and its own: the platform would only kill it later.
    ///
    /// What is delivered by then is written and committed; the rest comes again.
    private func endInTime() -> Task<Void, Never> {
        let limit = configuration.delivery.drainTimeout + Self.closingTime
        return Task { [clock, log] in
            guard (try? await clock.sleep(until: clock.uptime().advanced(by: limit))) != nil else { return }
            log.error("The service did not end in time and is ended", ["seconds": .number(limit.components.seconds)])
            log.flush()
            _exit(ExitCode.failure)
        }
    }

    /// For the last commit, leaving the group and closing what is open.
    private static let closingTime = Duration.seconds(20)

    private func started<Client>(_ start: () throws(EventLogError) -> Client) throws(StartFailure) -> Client {
        do throws(EventLogError) {
            return try start()
        } catch {
            throw failure(error)
        }
    }

    private func fail(_ failure: StartFailure) -> Int32 {
        log.flush()
        writeError("\(failure.message)\n")
        return failure.exitCode
    }

    private static func failure(_ message: String) -> StartFailure {
        StartFailure(message: "aegis serve: \(message)", exitCode: ExitCode.failure)
    }

    private func failure(_ error: EventLogError) -> StartFailure {
        error.kind == .configuration
            ? StartFailure(service.problem(of: error)) : Self.failure(error.description)
    }

    private func startHTTP() throws(HTTPServerError) -> HTTPServer {
        let http = configuration.http
        let tokens = http.tokens.map { token in
            APIToken(
                name: token.name, secret: token.token.revealed,
                scopes: Set(token.scopes.compactMap { APIScope(rawValue: $0.rawValue) }), apps: token.apps ?? [])
        }
        return try HTTPServer.start(
            settings: HTTPServerSettings(host: http.listen.host, port: http.listen.port, tokens: tokens),
            service: APIDependencies(
                store: startingStore, digests: service.digests, clock: clock, log: log, meter: meter,
                types: { [types] in types.all }, health: health, apps: configuration.appRules,
                metrics: { [meter] in meter.exposition() }))
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

    private func startEmbeddedCluster() throws(StartFailure) -> EmbeddedCluster? {
        guard case .embedded = configuration.kafka.brokers else { return nil }
        let kafka = configuration.kafka
        var topics = Dictionary(kafka.topics.map { ($0.name, 4) }, uniquingKeysWith: { first, _ in first })
        topics[kafka.deadLetterTopic] = 1
        let cluster = try started { () throws(EventLogError) in try EmbeddedCluster(topics: topics) }
        log.info("Kafka runs in this process and ends with it", ["brokers": .text(cluster.brokers)])
        return cluster
    }

    /// Tries until it succeeds, telling every 30 seconds; nil when the process shall end before.
    ///
    /// - Throws: ``StartFailure`` where trying again cannot help.
    private func waiting<Result>(
        for what: String, _ attempt: () async -> Attempt<Result>
    ) async throws(StartFailure) -> Result? {
        var nextReminder = clock.uptime()
        while !termination.isRequested {
            let trouble: String
            switch await attempt() {
            case .succeeded(let result): return result
            case .failed(let failure): throw failure
            case .outage(let detail): trouble = detail
            }
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

    private func openStore() async throws(StartFailure) -> SQLiteStore? {
        guard case .sqlite(let file) = configuration.store.engine else { return nil }
        return try await waiting(for: "the store") {
            do throws(StoreError) {
                return .succeeded(try await SQLiteStore.open(path: file))
            } catch {
                switch error.kind {
                case .unavailable, .full: return .outage(error.description)
                case .configuration: return .failed(StartFailure(service.problem(of: error)))
                case .schema, .corrupt, .invalid: return .failed(Self.failure("\(file): \(error)"))
                }
            }
        }
    }

    /// The dead-letter topic has to exist before anything is read; input topics may come later.
    ///
    /// - Returns: false when the process shall end before it is known.
    private func checkTopics(_ topics: KafkaTopics) async throws(StartFailure) -> Bool {
        let existing: Set<String>? = try await waiting(for: "Kafka") {
            do throws(EventLogError) {
                return .succeeded(try await topics.existing())
            } catch {
                switch error.kind {
                case .unreachable, .refused, .unknownTopic, .fenced, .tooLarge, .other:
                    return .outage(error.description)
                case .configuration: return .failed(failure(error))
                }
            }
        }
        guard let existing else { return false }
        let deadLetters = configuration.kafka.deadLetterTopic
        guard existing.contains(deadLetters) else {
            throw Self.failure(
                "the dead-letter topic \"\(deadLetters)\" does not exist. Create it, with retention long enough to work "
                    + "through it, or name another in kafka.dead_letter_topic; Aegis never creates topics itself")
        }
        for topic in configuration.kafka.topics where !existing.contains(topic.name) {
            log.warning("An input topic does not exist yet; it is read once it does", ["topic": .text(topic.name)])
        }
        return true
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
