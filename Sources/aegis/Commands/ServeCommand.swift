import Configuration
import Runtime

/// `aegis serve`: the service, until SIGTERM.
enum ServeCommand: Command {
    static let name = "serve"
    static let summary = "Runs the service until SIGTERM; SIGHUP reloads catalog and credentials."
    static let usage = "--config F [--ephemeral]"
    static let options = [
        Option(name: "config", value: "F", help: "The configuration, aegis.yaml."),
        Option(name: "ephemeral", value: nil, help: "Allows brokers: embedded, whose records end with the process."),
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let path = arguments.last("config") else {
            writeError("aegis serve: --config F is needed\n")
            return ExitCode.usage
        }
        let signals: SignalWatch
        do {
            signals = try SignalWatch()
        } catch {
            writeError("aegis serve: \(error)\n")
            return ExitCode.failure
        }
        guard let service = LoadedService.load(path) else { return ExitCode.usage }
        if case .embedded = service.loaded.configuration.kafka.brokers, !arguments.has("ephemeral") {
            writeError(
                "\(path): kafka.brokers: embedded loses every record with the process; "
                    + "name your brokers, or say --ephemeral\n")
            return ExitCode.usage
        }
        guard Surroundings.suit(service) else { return ExitCode.usage }
        return await RunningService(path: path, service: service, signals: signals).run()
    }
}
