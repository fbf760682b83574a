package import AegisCore

/// What `aegis.yaml` says, checked and complete: every default is filled in and every path is ready to open.
package struct AegisConfiguration: Hashable, Sendable {
    package var kafka: KafkaSettings
    package var store: StoreSettings
    /// The path of `catalog.yaml`.
    package var catalogPath: String
    /// In the file's order, at least one.
    package var apps: [AppSettings]
    package var delivery: DeliverySettings
    package var http: HTTPSettings
    package var log: LogSettings

    package init(
        kafka: KafkaSettings, store: StoreSettings, catalogPath: String, apps: [AppSettings],
        delivery: DeliverySettings, http: HTTPSettings, log: LogSettings
    ) {
        self.kafka = kafka
        self.store = store
        self.catalogPath = catalogPath
        self.apps = apps
        self.delivery = delivery
        self.http = http
        self.log = log
    }

    /// What decision and rendering need of the apps.
    package var appRules: [AppID: AppRules] {
        Dictionary(apps.map { ($0.rules.id, $0.rules) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Where events come from and where unusable ones go.
package struct KafkaSettings: Hashable, Sendable {
    package enum Brokers: Hashable, Sendable {
        /// A broker inside the process, for demos and tests.
        case embedded
        /// As librdkafka's `bootstrap.servers` takes them.
        case servers(String)
    }

    package struct Topic: Hashable, Sendable {
        package enum Format: String, Hashable, Sendable, CaseIterable {
            /// Each record is looked at.
            case auto
            case aegis
            case cloudevents
        }

        package enum Unmatched: String, Hashable, Sendable, CaseIterable {
            case ignore
            case deadLetter = "dead_letter"
        }

        package var name: String
        package var lane: Lane
        package var format: Format
        /// What happens to an event whose type is not in the catalog.
        package var unmatched: Unmatched

        package init(name: String, lane: Lane, format: Format, unmatched: Unmatched) {
            self.name = name
            self.lane = lane
            self.format = format
            self.unmatched = unmatched
        }
    }

    package var brokers: Brokers
    /// The consumer group that all instances share.
    package var group: String
    /// For static membership; nil is dynamic.
    package var instanceID: String?
    /// At least one, no name twice, none of them the dead-letter topic.
    package var topics: [Topic]
    package var deadLetterTopic: String
    /// For librdkafka as they are; every value is taken for a secret, since some are.
    package var properties: [String: Secret]

    package init(
        brokers: Brokers, group: String, instanceID: String? = nil, topics: [Topic],
        deadLetterTopic: String, properties: [String: Secret]
    ) {
        self.brokers = brokers
        self.group = group
        self.instanceID = instanceID
        self.topics = topics
        self.deadLetterTopic = deadLetterTopic
        self.properties = properties
    }
}

/// Where devices, preferences and the ledger are kept, and for how long.
package struct StoreSettings: Hashable, Sendable {
    package enum Engine: Hashable, Sendable {
        /// The path of the database file.
        case sqlite(path: String)
    }

    package var engine: Engine
    /// Of ledger and deliveries.
    package var retention: Duration
    /// Of devices after their deletion.
    package var deviceRetention: Duration

    package init(engine: Engine, retention: Duration, deviceRetention: Duration) {
        self.engine = engine
        self.retention = retention
        self.deviceRetention = deviceRetention
    }
}

/// A host with a port.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address, IPv6 without brackets.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// One app: what it may do, where its pushes go and what proves that they are ours.
package struct AppSettings: Hashable, Sendable {
    /// Where APNs is reached for one environment.
    package struct Endpoint: Hashable, Sendable {
        package var address: NetworkAddress
        /// A PEM file of authorities; nil takes the system's.
        package var caFile: String?

        package init(address: NetworkAddress, caFile: String? = nil) {
            self.address = address
            self.caFile = caFile
        }
    }

    /// A signing key of the team.
    package struct TokenKey: Hashable, Sendable {
        /// The path of the `.p8` file.
        package var keyFile: String
        package var keyID: String
        package var teamID: String

        package init(keyFile: String, keyID: String, teamID: String) {
            self.keyFile = keyFile
            self.keyID = keyID
            self.teamID = teamID
        }
    }

    package var rules: AppRules
    /// At least one; its keys are `rules.environments`.
    package var endpoints: [PushEnvironment: Endpoint]
    package var tokenKey: TokenKey

    package init(rules: AppRules, endpoints: [PushEnvironment: Endpoint], tokenKey: TokenKey) {
        self.rules = rules
        self.endpoints = endpoints
        self.tokenKey = tokenKey
    }

    /// The app in each of its environments.
    package var keys: [AppKey] {
        PushEnvironment.allCases.filter { endpoints[$0] != nil }.map { AppKey(app: rules.id, environment: $0) }
    }
}

/// How pushes are sent.
package struct DeliverySettings: Hashable, Sendable {
    package struct Retry: Hashable, Sendable {
        package var maxAttempts: Int
        /// The wait before the second attempt.
        package var base: Duration
        /// The longest wait, never below `base`.
        package var cap: Duration

        package init(maxAttempts: Int, base: Duration, cap: Duration) {
            self.maxAttempts = maxAttempts
            self.base = base
            self.cap = cap
        }
    }

    package struct Circuit: Hashable, Sendable {
        package var firstProbe: Duration
        /// Never below `firstProbe`.
        package var longestProbe: Duration

        package init(firstProbe: Duration, longestProbe: Duration) {
            self.firstProbe = firstProbe
            self.longestProbe = longestProbe
        }
    }

    /// Pushes a second for each app, over all instances.
    package var rateLimit: Int
    /// How many may leave at once after a quiet time.
    package var burst: Int
    /// For each app and environment.
    package var connections: Int
    /// Deliveries held in memory before partitions are paused.
    package var maxInFlight: Int
    /// The same limit in bytes of payload.
    package var maxInFlightBytes: Int
    /// How long an answer of APNs may take.
    package var requestTimeout: Duration
    package var retry: Retry
    package var circuit: Circuit
    /// How long a stop waits for what is in flight.
    package var drainTimeout: Duration

    package init(
        rateLimit: Int, burst: Int, connections: Int, maxInFlight: Int, maxInFlightBytes: Int, requestTimeout: Duration,
        retry: Retry, circuit: Circuit, drainTimeout: Duration
    ) {
        self.rateLimit = rateLimit
        self.burst = burst
        self.connections = connections
        self.maxInFlight = maxInFlight
        self.maxInFlightBytes = maxInFlightBytes
        self.requestTimeout = requestTimeout
        self.retry = retry
        self.circuit = circuit
        self.drainTimeout = drainTimeout
    }
}

/// The HTTP API.
package struct HTTPSettings: Hashable, Sendable {
    package enum Scope: String, Hashable, Sendable, CaseIterable {
        case devices, preferences, events, admin
    }

    /// A service that may call the API.
    package struct Token: Hashable, Sendable {
        /// Who it is, for the log; no name twice.
        package var name: String
        package var token: Secret
        package var scopes: Set<Scope>
        /// Nil is every app.
        package var apps: Set<AppID>?

        package init(name: String, token: Secret, scopes: Set<Scope>, apps: Set<AppID>? = nil) {
            self.name = name
            self.token = token
            self.scopes = scopes
            self.apps = apps
        }
    }

    /// Port 0 takes a free one.
    package var listen: NetworkAddress
    /// Those with a token; an entry without one is switched off and not here.
    package var tokens: [Token]

    package init(listen: NetworkAddress, tokens: [Token]) {
        self.listen = listen
        self.tokens = tokens
    }
}

/// The log, on standard error.
package struct LogSettings: Hashable, Sendable {
    package enum Level: String, Hashable, Sendable, CaseIterable {
        case debug, info, warning, error
    }

    package enum Format: String, Hashable, Sendable, CaseIterable {
        case json, text
    }

    package var level: Level
    package var format: Format
    /// The secret behind the hashes of users and devices; nil leaves it to the service.
    package var hashKey: Secret?

    package init(level: Level, format: Format, hashKey: Secret? = nil) {
        self.level = level
        self.format = format
        self.hashKey = hashKey
    }
}
