/// Whether the service does its work, as probes and operators ask.
package protocol ServiceHealth: Sendable {
    /// Cheap enough for a probe every second.
    func health() async -> HealthReport
}

/// What is wrong at the moment, in words that name no user and no device.
package struct HealthReport: Hashable, Sendable {
    /// The store answers, the consumer group was joined once, and the service is not draining.
    package var isReady: Bool
    /// Why not; empty when ready.
    package var notReadyReasons: [String]
    /// What is impaired though the service is ready: open circuits, paused topics.
    package var degraded: [String]

    package init(isReady: Bool, notReadyReasons: [String] = [], degraded: [String] = []) {
        self.isReady = isReady
        self.notReadyReasons = notReadyReasons
        self.degraded = degraded
    }
}
