import AegisPorts
import Configuration
import HTTPAPI
import KafkaEventLog
import Observability
import Runtime
import SQLiteStore

/// What only shows where the service runs, and what no waiting mends.
///
/// It is looked at before anything is started, so that it is not taken for an outage; nothing is written, and nobody is
/// connected to.
enum Surroundings {
    /// Prints every problem; false after printing at least one.
    static func suit(_ service: LoadedService) -> Bool {
        let problems = problems(of: service)
        for problem in problems { writeError("\(problem)\n") }
        return problems.isEmpty
    }

    private static func problems(of service: LoadedService) -> [Problem] {
        let configuration = service.loaded.configuration
        var problems: [Problem] = []
        if case .sqlite(let file) = configuration.store.engine {
            do throws(StoreError) {
                try SQLiteStore.check(path: file)
            } catch {
                problems.append(service.problem(of: error))
            }
        }
        do throws(HTTPServerError) {
            try HTTPServer.check(host: configuration.http.listen.host)
        } catch {
            // A port may be free a moment later; an address of another machine stays one.
            if error.kind == .address { problems.append(service.problem(of: error)) }
        }
        do throws(EventLogError) {
            let parts = ServiceParts(
                service: service, clock: SystemClock(), log: SilentLog(), meter: SilentMeter(), brokers: "")
            try KafkaProperties.tryClients(consumer: parts.consumerSettings, producer: parts.producerSettings)
        } catch {
            if error.kind == .configuration { problems.append(service.problem(of: error)) }
        }
        return problems.sortedByLine()
    }
}

extension LoadedService {
    /// The problem behind an error of the store, at the setting that names it.
    func problem(of error: StoreError) -> Problem {
        loaded.sources.problem(error.detail, at: "store.url")
    }

    func problem(of error: HTTPServerError) -> Problem {
        loaded.sources.problem(error.detail, at: "http.listen")
    }

    func problem(of error: EventLogError) -> Problem {
        loaded.sources.problem(error.detail, at: "kafka.properties")
    }
}
