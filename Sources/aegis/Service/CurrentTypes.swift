import AegisContent
import AegisCore
import Runtime

/// The catalog's types as they are now, for those that outlive a reload.
final class CurrentTypes: Sendable {
    private let types: Lock<[String: Bool]>

    init(_ catalog: Catalog) {
        types = Lock(catalog.types.mapValues(\.rules.isOnByDefault))
    }

    func replace(by catalog: Catalog) {
        types.withLock { $0 = catalog.types.mapValues(\.rules.isOnByDefault) }
    }

    /// By name, with whether it is on by default.
    var all: [String: Bool] { types.withLock { $0 } }
}
