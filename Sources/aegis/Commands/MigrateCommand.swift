import AegisPorts
import Configuration
import SQLiteStore

/// `aegis migrate`: the store's schema.
enum MigrateCommand: Command {
    static let name = "migrate"
    static let summary = "Brings the store's schema up to date."
    static let usage = "--config F [--status]"
    static let options = [
        Option(name: "config", value: "F", help: "The configuration, aegis.yaml."),
        Option(name: "status", value: nil, help: "Only shows the schema's version."),
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let path = arguments.last("config") else {
            writeError("aegis migrate: --config F is needed\n")
            return ExitCode.usage
        }
        guard let service = LoadedService.load(path) else { return ExitCode.usage }
        guard case .sqlite(let file) = service.loaded.configuration.store.engine else { return ExitCode.usage }
        do throws(StoreError) {
            let store = try await SQLiteStore.open(path: file, migrates: false)
            if !arguments.has("status") {
                let applied = try await store.migrate()
                for number in applied { print("applied migration \(number)") }
            }
            let version = try await store.schemaVersion()
            print("schema \(version.current) of \(version.latest)")
            await store.close()
            return ExitCode.success
        } catch {
            guard error.kind != .configuration else {
                writeError("\(service.problem(of: error))\n")
                return ExitCode.usage
            }
            writeError("aegis migrate: \(error)\n")
            return ExitCode.failure
        }
    }
}
