import AegisContent
import AegisCore
import AegisPipeline
import AegisPorts
import Configuration
import Observability

/// Takes up a new catalog and new keys on SIGHUP.
///
/// A version with mistakes is refused loudly and the old one stays. So is one that changes what only a restart can: half
/// of it would be in force.
actor ServiceReloader {
    private let path: String
    private let configuration: AegisConfiguration
    private let signers: SignerBox
    private let types: CurrentTypes
    private let log: any Log
    private var pipeline: Pipeline?

    /// - Parameter configuration: what the service was started with.
    init(
        path: String, configuration: AegisConfiguration, signers: SignerBox, types: CurrentTypes, log: any Log
    ) {
        self.path = path
        self.configuration = configuration
        self.signers = signers
        self.types = types
        self.log = log
    }

    func attach(to pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    func reload() async {
        guard let pipeline else { return }
        guard let service = LoadedService.load(path) else {
            log.error("Reload refused: the new configuration, catalog or key has mistakes; the old ones stay in force")
            return
        }
        let changes = configuration.needsRestart(for: service.loaded.configuration)
        guard changes.isEmpty else {
            log.error(
                "Reload refused: the new configuration changes what only a restart can; the old one stays in force",
                ["changed": .text(changes.joined(separator: "; "))])
            return
        }
        signers.replace(service.signers)
        types.replace(by: service.loaded.catalog)
        await pipeline.reload(
            NotificationPlanner(
                catalog: service.loaded.catalog, apps: configuration.appRules,
                retention: configuration.store.retention, digests: service.digests))
        await pipeline.credentialsChanged()
        log.info(
            "Catalog and credentials were reloaded", ["types": .number(Int64(service.loaded.catalog.types.count))])
    }
}

extension JSONLinesLog {
    convenience init(settings: LogSettings, clock: any TimeSource) {
        let level: LogLevel =
            switch settings.level {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        self.init(level: level, format: settings.format == .json ? .json : .text, clock: clock)
    }
}
