package import AegisCore
package import AegisPorts

/// What the routes work with.
package struct APIDependencies: Sendable {
    package var store: any DeviceStore
    package var digests: any IdentityDigests
    package var clock: any TimeSource
    package var log: any Log
    package var health: any ServiceHealth
    /// The configured apps.
    package var apps: [AppID: AppRules]
    /// Apps of which several users of one device keep its token.
    package var appsThatShareTokens: Set<AppID>
    /// The body of `/metrics`, in Prometheus' text format.
    package var metrics: @Sendable () -> String

    package init(
        store: any DeviceStore, digests: any IdentityDigests, clock: any TimeSource, log: any Log,
        health: any ServiceHealth, apps: [AppID: AppRules], appsThatShareTokens: Set<AppID> = [],
        metrics: @escaping @Sendable () -> String
    ) {
        self.store = store
        self.digests = digests
        self.clock = clock
        self.log = log
        self.health = health
        self.apps = apps
        self.appsThatShareTokens = appsThatShareTokens
        self.metrics = metrics
    }
}
