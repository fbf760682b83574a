package import AegisCore
package import AegisPorts

/// What the routes work with.
package struct APIDependencies: Sendable {
    package var store: any DeviceStore & NotificationHistory
    package var digests: any IdentityDigests
    package var clock: any TimeSource
    package var log: any Log
    package var meter: any Meter
    /// Names of the catalog's types as they are now, each with whether it is on by default.
    package var types: @Sendable () -> [String: Bool]
    package var health: any ServiceHealth
    /// The configured apps.
    package var apps: [AppID: AppRules]
    /// Apps of which several users of one device keep its token.
    package var appsThatShareTokens: Set<AppID>
    /// The body of `/metrics`, in Prometheus' text format.
    package var metrics: @Sendable () -> String

    package init(
        store: any DeviceStore & NotificationHistory, digests: any IdentityDigests, clock: any TimeSource, log: any Log,
        meter: any Meter, types: @escaping @Sendable () -> [String: Bool],
        health: any ServiceHealth, apps: [AppID: AppRules], appsThatShareTokens: Set<AppID> = [],
        metrics: @escaping @Sendable () -> String
    ) {
        self.store = store
        self.digests = digests
        self.clock = clock
        self.log = log
        self.meter = meter
        self.types = types
        self.health = health
        self.apps = apps
        self.appsThatShareTokens = appsThatShareTokens
        self.metrics = metrics
    }
}
