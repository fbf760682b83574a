import AegisContent
import AegisCore
import AegisPipeline
import AegisPorts
import Configuration
import Observability

/// Takes up a new catalog and new keys on SIGHUP. A version with mistakes is refused loudly and the old one stays.
actor ServiceReloader {
    private let path: String
    private let signers: SignerBox
    private let log: any Log
    private var pipeline: Pipeline?

    init(path: String, signers: SignerBox, log: any Log) {
        self.path = path
        self.signers = signers
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
        signers.replace(service.signers)
        let configuration = service.loaded.configuration
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
