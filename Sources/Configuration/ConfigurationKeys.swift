/// The keys of `aegis.yaml`: what the loader accepts, what holds without them, and what the reference says of them.
enum ConfigurationKeys {
    static let root: [KeyDescription] = [
        KeyDescription("kafka", .section(kafka), .byDefault(""), "Where events come from."),
        KeyDescription("dead_letters", .section(deadLetters), .byDefault(""), "How unusable records are set aside."),
        KeyDescription("store", .section(store), .byDefault(""), "Where devices, preferences and the ledger are kept."),
        KeyDescription(
            "catalog", .file, .byDefault("catalog.yaml"), "The file that describes every notification."),
        KeyDescription("apps", .list(of: .section(app), atLeast: 1), .required, "The apps that receive pushes."),
        KeyDescription("delivery", .section(delivery), .byDefault(""), "How pushes are sent."),
        KeyDescription("http", .section(http), .byDefault(""), "The HTTP API."),
        KeyDescription("log", .section(log), .byDefault(""), "The log, on standard error."),
    ]

    private static let kafka: [KeyDescription] = [
        KeyDescription(
            "brokers", .text("host:port, separated by commas, or embedded"), .required,
            "The first brokers to ask. `embedded` starts a broker inside the process, for demos and tests."),
        KeyDescription("group", .text("name"), .byDefault("aegis"), "The consumer group that all instances share."),
        KeyDescription(
            "instance_id", .text("name"), .optional("dynamic membership"),
            "A name of this instance that outlives a restart: its partitions wait for it (static membership)."),
        KeyDescription("topics", .list(of: .section(topic), atLeast: 1), .required, "The topics to read."),
        KeyDescription(
            "fanout_topic", .later, .optional("none"),
            "Chunks of large audiences; those of critical types go to this name with `-urgent`."),
        KeyDescription("replay_topic", .later, .optional("none"), "Dead letters that are tried again."),
        KeyDescription(
            "dead_letter_topic", .topic, .byDefault("aegis.dead-letter"),
            "Records that could not be used. It must exist and must not be one of `topics`."),
        KeyDescription("outcomes_topic", .later, .optional("off"), "What became of each notification."),
        KeyDescription(
            "properties", .table(of: .secret, keys: "property"), .optional("none"),
            "Passed to librdkafka as they are, such as `security.protocol`, `sasl.*` and `ssl.*`."),
    ]

    private static let topic: [KeyDescription] = [
        KeyDescription("name", .topic, .required, "The topic."),
        KeyDescription(
            "lane", .choice(["urgent", "standard", "bulk"]), .byDefault("standard"),
            "Its share of the sender under load. Critical types are urgent whatever their topic says."),
        KeyDescription(
            "format",
            .choice(["auto", "aegis", "cloudevents"], later: ["control", "json", "debezium-outbox"]),
            .byDefault("auto"),
            "How its records are written; `auto` looks at each record."),
        KeyDescription("mapping", .later, .optional("none"), "Where the parts of an event are in any other JSON."),
        KeyDescription(
            "unmatched", .choice(["ignore", "dead_letter"]), .byDefault("ignore"),
            "What happens to an event whose type is not in the catalog."),
    ]

    private static let deadLetters: [KeyDescription] = [
        KeyDescription(
            "also", .later, .optional("none"), "Further sets of headers on dead letters, for consoles of other systems."
        )
    ]

    private static let store: [KeyDescription] = [
        KeyDescription(
            "url", .secret, .required,
            "`sqlite:///absolute/path.db`, or `sqlite:path.db` beside this file. `postgres://` is not available in this"
                + " version."),
        KeyDescription(
            "retention", .duration(.days(1)...(.days(400))), .byDefault("30d"),
            "How long the ledger remembers; an older event is expired, so no `ttl` may be longer."),
        KeyDescription(
            "device_retention", .duration(.days(1)...(.days(3_650))), .byDefault("400d"),
            "How long a device stays after its deletion, to be taken back if the deletion was wrong; then its row goes."
        ),
    ]

    private static let app: [KeyDescription] = [
        KeyDescription("id", .text("bundle id"), .required, "The bundle id, which is also the APNs topic."),
        KeyDescription(
            "environments", .section(environments), .required,
            "Which of Apple's environments its builds use; at least one."),
        KeyDescription(
            "auth", .section(auth), .required, "How the service proves to APNs that it may push to the app."),
        KeyDescription(
            "badge", .choice(["server", "client", "off"]), .byDefault("server"),
            "Who counts unread notifications: this service, a service extension on the device, or nobody."),
        KeyDescription(
            "accounts", .choice(["one"], later: ["many"]), .byDefault("one"),
            "`one`: a device token belongs to the user who registered it last."),
        KeyDescription(
            "entitlements", .list(of: .choice(["time-sensitive", "critical-alerts"])), .optional("none"),
            "What Apple granted the app; levels beyond it are lowered."),
        KeyDescription(
            "root_keys", .table(of: .text("name"), keys: "key"), .optional("none"),
            "New names of payload keys for an app already in the field: `type`, `event_id`, `deep_link`, `recipient`,"
                + " `reason` or one of a type's `custom`."),
    ]

    private static let environments: [KeyDescription] = [
        KeyDescription(
            "production", .section(environment(endpoint: "production")), .optional("not used"),
            "Builds of the App Store and TestFlight."),
        KeyDescription(
            "sandbox", .section(environment(endpoint: "sandbox")), .optional("not used"), "Builds run from Xcode."),
    ]

    private static func environment(endpoint: String) -> [KeyDescription] {
        [
            KeyDescription(
                "endpoint", .text("production, sandbox or https://host:port"), .byDefault(endpoint),
                "`production` is api.push.apple.com:443, `sandbox` api.sandbox.push.apple.com:443."),
            KeyDescription(
                "ca_file", .file, .optional("the system's authorities"),
                "A PEM file of the authorities that vouch for the endpoint, for a simulator or a private relay."),
            KeyDescription("proxy", .later, .optional("none"), "An HTTP proxy that connections go through."),
        ]
    }

    private static let auth: [KeyDescription] = [
        KeyDescription("token", .section(token), .optional("another way is set"), "A signing key of the team."),
        KeyDescription("certificate", .later, .optional("none"), "A push certificate of the app."),
    ]

    private static let token: [KeyDescription] = [
        KeyDescription("key_file", .file, .required, "The `.p8` file as Apple hands it out, once."),
        KeyDescription("key_id", .text("10 characters"), .required, "The key's id, as in the file's name."),
        KeyDescription("team_id", .text("10 characters"), .required, "The team's id, from the membership page."),
    ]

    private static let delivery: [KeyDescription] = [
        KeyDescription(
            "rate_limit", .integer(1...1_000_000), .byDefault("5000"),
            "Pushes a second for each app, over all instances."),
        KeyDescription(
            "burst", .integer(1...1_000_000), .byDefault("1000"), "How many may leave at once after a quiet time."),
        KeyDescription("connections", .integer(1...64), .byDefault("2"), "Connections for each app and environment."),
        KeyDescription(
            "max_in_flight", .integer(1...1_000_000), .byDefault("20000"),
            "Deliveries held in memory before partitions are paused."),
        KeyDescription(
            "max_in_flight_bytes", .size((1 << 20)...(1 << 36)), .byDefault("256MiB"),
            "The same limit in bytes of payload; the one reached first holds."),
        KeyDescription(
            "request_timeout", .duration(.seconds(1)...(.seconds(300))), .byDefault("10s"),
            "How long an answer of APNs may take."),
        KeyDescription("retry", .section(retry), .byDefault(""), "How a push that failed for now is tried again."),
        KeyDescription(
            "circuit", .section(circuit), .byDefault(""), "How an app is probed that APNs keeps refusing."),
        KeyDescription(
            "drain_timeout", .duration(.zero...(.seconds(600))), .byDefault("25s"),
            "How long a stop waits for what is in flight."),
    ]

    private static let retry: [KeyDescription] = [
        KeyDescription(
            "max_attempts", .integer(1...100), .byDefault("8"),
            "Answers about one notification or device before it is a dead letter; waiting for a circuit, a connection or an"
                + " app-wide 5xx does not count."),
        KeyDescription(
            "base", .duration(.milliseconds(10)...(.days(1))), .byDefault("500ms"),
            "The wait before the second attempt."),
        KeyDescription(
            "cap", .duration(.milliseconds(10)...(.days(1))), .byDefault("15m"),
            "The longest wait; each doubles the last."),
        KeyDescription(
            "in_memory_for", .later, .optional("every wait is spent in memory"),
            "A longer wait is spent in the store instead of in memory."),
    ]

    private static let circuit: [KeyDescription] = [
        KeyDescription(
            "first_probe", .duration(.seconds(1)...(.days(1))), .byDefault("1m"), "The wait before the first probe."),
        KeyDescription(
            "longest_probe", .duration(.seconds(1)...(.days(1))), .byDefault("30m"),
            "The longest wait between probes; each failed one doubles the last."),
    ]

    private static let http: [KeyDescription] = [
        KeyDescription(
            "listen", .text("address:port"), .byDefault("127.0.0.1:8080"),
            "Where the API listens; port 0 takes a free one."),
        KeyDescription(
            "tokens", .list(of: .section(httpToken)), .optional("nobody may call what needs a scope"),
            "The services that may call the API."),
        KeyDescription("user_tokens", .later, .optional("none"), "Tokens by which an app calls the API for its user."),
    ]

    private static let httpToken: [KeyDescription] = [
        KeyDescription("name", .text("name"), .required, "Who it is, for the log."),
        KeyDescription(
            "token", .secret, .optional("this entry is switched off"),
            "The bearer token. An empty one, as of an environment variable that is not set, lets nobody in."),
        KeyDescription(
            "scopes", .list(of: .choice(["devices", "preferences", "events", "admin"]), atLeast: 1), .required,
            "What it may call."),
        KeyDescription("apps", .list(of: .text("bundle id")), .optional("all apps"), "The apps it is limited to."),
    ]

    private static let log: [KeyDescription] = [
        KeyDescription(
            "level", .choice(["debug", "info", "warning", "error"]), .byDefault("info"), "The least that is written."),
        KeyDescription(
            "format", .choice(["json", "text"]), .byDefault("json"), "One JSON object a line, or aligned text."),
        KeyDescription(
            "hash_key", .secret, .optional("made by the service"),
            "The secret behind the hashes of users and devices in the log; the same in all instances."),
    ]
}

extension Duration {
    static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
