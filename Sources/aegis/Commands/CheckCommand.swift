import APNsSender
import AegisContent
import AegisCore
import AegisPorts
import Configuration
import Glibc
import KafkaEventLog
import Observability
import Runtime
import SQLiteStore

/// `aegis check`: whether a deployment would work, before it has to.
enum CheckCommand: Command {
    static let name = "check"
    static let summary = "Validates configuration and catalog, then reaches Kafka, the store and APNs."
    static let usage = "--config F [--offline]"
    static let options = [
        Option(name: "config", value: "F", help: "The configuration, aegis.yaml."),
        Option(name: "offline", value: nil, help: "Does not connect to APNs."),
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let path = arguments.last("config") else {
            writeError("aegis check: --config F is needed\n")
            return ExitCode.usage
        }
        guard let service = LoadedService.load(path) else { return ExitCode.usage }
        guard Surroundings.suit(service) else { return ExitCode.usage }
        let catalog = service.loaded.catalog
        print("ok    configuration  \(path), \(catalog.types.count) types of notification")
        let clock = SystemClock()
        let log = JSONLinesLog(level: .error, format: .text, clock: clock)
        var isReachable = await checkStore(service.loaded.configuration.store)
        isReachable = await checkKafka(service, clock: clock, log: log) && isReachable
        if !arguments.has("offline") {
            isReachable = await checkAPNs(service, clock: clock, log: log) && isReachable
        }
        return isReachable ? ExitCode.success : ExitCode.failure
    }

    private static func checkStore(_ settings: StoreSettings) async -> Bool {
        guard case .sqlite(let file) = settings.engine else { return false }
        guard unsafe access(file, F_OK) == 0 else {
            // A check writes nothing, so it does not make the file; its folder was looked at before.
            print("ok    store          \(file) does not exist yet and can be made")
            return true
        }
        do throws(StoreError) {
            let store = try await SQLiteStore.open(path: file, migrates: false)
            let version = try await store.schemaVersion()
            await store.close()
            print("ok    store          \(file), schema \(version.current) of \(version.latest)")
            return true
        } catch {
            print("FAIL  store          \(error)")
            return false
        }
    }

    private static func checkKafka(_ service: LoadedService, clock: SystemClock, log: any Log) async -> Bool {
        let kafka = service.loaded.configuration.kafka
        guard case .servers(let brokers) = kafka.brokers else {
            print("ok    kafka          embedded")
            return true
        }
        do throws(EventLogError) {
            let topics = KafkaTopics(brokers: brokers, properties: kafka.properties.mapValues(\.revealed))
            let existing = try await topics.existing()
            let missing = (kafka.topics.map(\.name) + [kafka.deadLetterTopic]).filter { !existing.contains($0) }
            guard missing.isEmpty else {
                print("FAIL  kafka          \(brokers): missing topics: \(missing.joined(separator: ", "))")
                return false
            }
            print("ok    kafka          \(brokers), \(kafka.topics.count) topics and the dead-letter topic exist")
            return true
        } catch {
            print("FAIL  kafka          \(brokers): \(error)")
            return false
        }
    }

    /// Opens a connection for each app and environment; it is good once APNs has sent its SETTINGS.
    private static func checkAPNs(_ service: LoadedService, clock: SystemClock, log: any Log) async -> Bool {
        let parts = ServiceParts(service: service, clock: clock, log: log, meter: SilentMeter(), brokers: "")
        var missing = Set(service.loaded.configuration.apps.flatMap(\.keys))
        var failures: [AppKey: String] = [:]
        do throws(GatewayError) {
            let gateway = try parts.gateway(signers: SignerBox(service.signers))
            let limit = Task {
                try? await clock.sleep(until: clock.uptime().advanced(by: .seconds(10)))
                await gateway.close()
            }
            while !missing.isEmpty, let signals = await gateway.signals() {
                for signal in signals {
                    switch signal {
                    case .window(let app, let size) where size > 0: missing.remove(app)
                    case .unreachable(let app, let error):
                        failures[app] = error.description
                        missing.remove(app)
                    case .refused(let app, let reason):
                        failures[app] = reason.text
                        missing.remove(app)
                    case .window, .answered: break
                    }
                }
            }
            limit.cancel()
            await gateway.close()
        } catch {
            print("FAIL  apns           \(error)")
            return false
        }
        for app in service.loaded.configuration.apps.flatMap(\.keys) {
            if missing.contains(app) {
                print("FAIL  apns           \(app): no answer within 10 seconds")
            } else if let failure = failures[app] {
                print("FAIL  apns           \(app): \(failure)")
            } else {
                print("ok    apns           \(app)")
            }
        }
        return missing.isEmpty && failures.isEmpty
    }
}

/// For verbs whose figures nobody reads.
struct SilentMeter: Meter {
    func add(_ amount: Int, to metric: Metric, _ labels: [String]) {}
    func set(_ value: Double, of metric: Metric, _ labels: [String]) {}
    func remove(_ metric: Metric, _ labels: [String]) {}
    func observe(_ seconds: [Double], in metric: Metric, _ labels: [String]) {}
}
