package import AegisCore

/// One notification on its way to one device.
package struct Delivery: Sendable {
    package var ticket: UInt64
    /// The notification it belongs to.
    package var notification: UInt64
    package var app: AppKey
    package var user: UserID
    package var lane: Lane
    /// The record's time in Kafka.
    package var recordedAt: UnixTime
    package var planned: PlannedDelivery
    /// Whether it was kept alive once after a 410 whose registration turned out to be newer.
    package var wasGivenAnotherChance = false
}

/// How a delivery ended.
package struct DeliveryResult: Sendable {
    package var delivery: Delivery
    package var outcome: DeliveryOutcome
    /// Of the last answer; nil where APNs never answered.
    package var response: APNsResponse?
    package var device: APNsDisposition.Device
    /// How often it was handed to APNs and may have been processed.
    package var attempts: Int
    package var endedAt: UnixTime
    package var alerts: Bool
}

/// What has come to its end since it was asked for last.
package struct DispatchResults: Sendable {
    /// A token that APNs called bad while it accepted others of the app.
    package struct BadToken: Sendable {
        package var app: AppKey
        package var token: DeviceToken
        package var reason: String
    }

    package var deliveries: [DeliveryResult] = []
    package var badTokens: [BadToken] = []

    package var isEmpty: Bool { deliveries.isEmpty && badTokens.isEmpty }
}
