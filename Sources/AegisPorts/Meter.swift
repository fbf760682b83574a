/// Figures for operators.
///
/// Label values are bounded by whoever passes them: never a user, a token or a text.
package protocol Meter: Sendable {
    func add(_ amount: Int, to metric: Metric, _ labels: [String])
    func set(_ value: Double, of metric: Metric, _ labels: [String])
    /// Forgets a series of a gauge whose subject is gone, so that its last value is not taken for a present one.
    func remove(_ metric: Metric, _ labels: [String])
    /// One observation of each value, in seconds.
    func observe(_ seconds: [Double], in metric: Metric, _ labels: [String])
}

/// The metrics Aegis has, as `docs/metrics.md` lists them.
package enum Metric: String, Hashable, Sendable, CaseIterable {
    case eventsConsumed = "aegis_events_consumed_total"
    case eventsIgnored = "aegis_events_ignored_total"
    case notifications = "aegis_notifications_total"
    case deliveries = "aegis_deliveries_total"
    case apnsResponses = "aegis_apns_responses_total"
    case apnsRequestDuration = "aegis_apns_request_duration_seconds"
    case eventToAPNsDuration = "aegis_event_to_apns_duration_seconds"
    case apnsRetries = "aegis_apns_retries_total"
    case tokensPruned = "aegis_tokens_pruned_total"
    case deadLetters = "aegis_dead_letters_total"
    case consumerLag = "aegis_consumer_lag"
    case inFlightDeliveries = "aegis_in_flight_deliveries"
    case rateLimitWait = "aegis_rate_limit_wait_seconds"
    case circuitOpen = "aegis_circuit_open"
    case deferredNotifications = "aegis_deferred_notifications"
    case providerTokenRefreshes = "aegis_provider_token_refreshes_total"
    case storeOperationDuration = "aegis_store_operation_duration_seconds"
    case partitionsPaused = "aegis_partitions_paused"
    case devices = "aegis_devices"
    case optOuts = "aegis_opt_outs_total"
    case buildInfo = "aegis_build_info"

    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package struct Definition: Sendable {
        package let kind: Kind
        package let labels: [String]
        package let help: String
    }

    package var definition: Definition {
        switch self {
        case .eventsConsumed:
            Definition(kind: .counter, labels: ["topic"], help: "Records read from Kafka.")
        case .eventsIgnored:
            Definition(
                kind: .counter, labels: ["topic", "reason"],
                help: "Records or parts of them that need no notification; never a dead letter.")
        case .notifications:
            Definition(
                kind: .counter, labels: ["type", "outcome", "reason"],
                help: "Decisions, one event for one user: sent, suppressed, deferred, duplicate or rejected.")
        case .deliveries:
            Definition(
                kind: .counter, labels: ["app", "environment", "type", "outcome"],
                help: "Ends of deliveries, one notification to one device.")
        case .apnsResponses:
            Definition(
                kind: .counter, labels: ["app", "environment", "status", "reason"],
                help: "Answers of APNs; reasons beyond the known ones count as other.")
        case .apnsRequestDuration:
            Definition(
                kind: .histogram, labels: [], help: "From the hand-over to the transport to the answer of APNs.")
        case .eventToAPNsDuration:
            Definition(
                kind: .histogram, labels: ["lane"], help: "From the event's time in Kafka to the answer of APNs.")
        case .apnsRetries:
            Definition(kind: .counter, labels: ["reason"], help: "Attempts that were followed by another.")
        case .tokensPruned:
            Definition(kind: .counter, labels: ["reason"], help: "Device rows soft-deleted or quarantined.")
        case .deadLetters:
            Definition(
                kind: .counter, labels: ["topic", "kind"],
                help: "Dead letters acknowledged by the broker, by the topic they came from.")
        case .consumerLag:
            Definition(
                kind: .gauge, labels: ["topic", "partition"],
                help: "Records between the committed position and the end.")
        case .inFlightDeliveries:
            Definition(kind: .gauge, labels: ["lane"], help: "Deliveries held in memory.")
        case .rateLimitWait:
            Definition(
                kind: .counter, labels: [], help: "Seconds for which pushes were ready and the rate limit held them.")
        case .circuitOpen:
            Definition(
                kind: .gauge, labels: ["app", "environment"],
                help: "1 while the circuit of an app and environment is open.")
        case .deferredNotifications:
            Definition(kind: .gauge, labels: [], help: "Notifications that wait for a later time.")
        case .providerTokenRefreshes:
            Definition(kind: .counter, labels: ["app"], help: "Provider tokens minted.")
        case .storeOperationDuration:
            Definition(kind: .histogram, labels: ["operation"], help: "Time of one call of the store.")
        case .partitionsPaused:
            Definition(
                kind: .gauge, labels: ["reason"],
                help: "Partitions that are not read at the moment, by the first of these that holds: outage, "
                    + "draining, bytes (delivery.max_in_flight_bytes), in_flight (delivery.max_in_flight).")
        case .devices:
            Definition(
                kind: .gauge, labels: ["app", "authorization"],
                help: "Registered devices by what their people allowed, counted once a minute.")
        case .optOuts:
            Definition(
                kind: .counter, labels: ["type"],
                help: "How often a person switched a type off; one that the catalog does not know is \"other\".")
        case .buildInfo:
            Definition(kind: .gauge, labels: ["version"], help: "1, labelled with the version that runs.")
        }
    }
}
