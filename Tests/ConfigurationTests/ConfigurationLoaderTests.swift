import AegisCore
import Configuration
import Testing

@Suite struct ConfigurationLoaderTests {
    @Test func `a short file is completed by defaults`() throws {
        let folder = try ScratchFolder()
        let loaded = try folder.load(Samples.configuration)
        let configuration = loaded.configuration
        #expect(loaded.warnings.isEmpty)
        #expect(configuration.kafka.brokers == .servers("localhost:9092"))
        #expect(configuration.kafka.group == "aegis")
        #expect(configuration.kafka.instanceID == nil)
        #expect(
            configuration.kafka.topics == [
                .init(name: "domain.events", lane: .standard, format: .auto, unmatched: .ignore)
            ])
        #expect(configuration.kafka.deadLetterTopic == "aegis.dead-letter")
        #expect(configuration.store.engine == .sqlite(path: folder.path + "/aegis.db"))
        #expect(configuration.store.retention == .seconds(30 * 86_400))
        #expect(configuration.delivery.rateLimit == 5_000)
        #expect(configuration.delivery.maxInFlightBytes == 256 << 20)
        #expect(
            configuration.delivery.retry
                == .init(maxAttempts: 8, base: .milliseconds(500), cap: .seconds(900)))
        #expect(configuration.delivery.circuit == .init(firstProbe: .seconds(60), longestProbe: .seconds(1_800)))
        #expect(configuration.delivery.requestTimeout == .seconds(10))
        #expect(configuration.http.listen == NetworkAddress(host: "127.0.0.1", port: 8_080))
        #expect(configuration.log.level == .info)
        let app = try #require(configuration.apps.first)
        #expect(app.keys == [AppKey(app: AppID("com.example.app"), environment: .production)])
        #expect(app.endpoints[.production]?.address == NetworkAddress(host: "api.push.apple.com", port: 443))
        #expect(app.tokenKey.keyFile == folder.path + "/key.p8")
        #expect(configuration.appRules[AppID("com.example.app")]?.badge == .server)
    }

    @Test func `everything that can be written is understood`() throws {
        let folder = try ScratchFolder()
        let configuration = try folder.load(
            """
            kafka:
              brokers: embedded
              instance_id: one
              topics:
                - {name: alarms, lane: urgent, format: cloudevents, mapping: {}, unmatched: dead_letter}
              outcomes_topic:
              properties: {security.protocol: SASL_SSL, sasl.password: "hush, hush"}
            dead_letters: {also: []}
            store: {url: sqlite:///var/lib/aegis.db, retention: 7d, device_retention: 30d}
            apps:
              - id: com.example.app
                environments:
                  production: {endpoint: "https://[::1]:2197", ca_file: ca.pem}
                  sandbox: {}
                auth: {token: {key_file: /keys/key.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}
                badge: client
                accounts: one
                entitlements: [critical-alerts, time-sensitive]
                root_keys: {recipient: recipientDid}
            delivery: {max_in_flight_bytes: 64MiB, drain_timeout: 0s, retry: {cap: 1h}}
            http:
              listen: "[::]:0"
              tokens:
                - {name: backend, token: 0123456789abcdef, scopes: [devices, admin], apps: [com.example.app]}
                - {name: off, token: "${NOBODY:-}", scopes: [admin]}
            log: {level: debug, format: text, hash_key: pepper}
            """
        ).configuration
        #expect(configuration.kafka.brokers == .embedded)
        #expect(configuration.kafka.topics.first?.lane == .urgent)
        #expect(configuration.kafka.topics.first?.unmatched == .deadLetter)
        #expect(configuration.kafka.properties["sasl.password"]?.revealed == "hush, hush")
        #expect(configuration.store.engine == .sqlite(path: "/var/lib/aegis.db"))
        #expect(configuration.store.deviceRetention == .seconds(30 * 86_400))
        let app = try #require(configuration.apps.first)
        #expect(app.endpoints[.production]?.address == NetworkAddress(host: "::1", port: 2_197))
        #expect(app.endpoints[.production]?.caFile == folder.path + "/ca.pem")
        #expect(app.endpoints[.sandbox]?.address.host == "api.sandbox.push.apple.com")
        #expect(app.rules.environments == [.production, .sandbox])
        #expect(app.rules.hasCriticalAlerts && app.rules.hasTimeSensitive)
        #expect(app.rules.rootKeys == ["recipient": "recipientDid"])
        #expect(configuration.delivery.retry.cap == .seconds(3_600))
        #expect(configuration.delivery.drainTimeout == .zero)
        #expect(configuration.http.listen == NetworkAddress(host: "::", port: 0))
        #expect(configuration.http.tokens.map(\.name) == ["backend"])
        #expect(configuration.http.tokens.first?.scopes == [.devices, .admin])
        #expect(configuration.http.tokens.first?.apps == [AppID("com.example.app")])
        #expect(configuration.log.hashKey == Secret("pepper"))
    }

    @Test func `twenty mistakes are reported in one run, each at its line`() throws {
        let problems = try ScratchFolder().problems(
            """
            kafka:
              broker: localhost:9092
              group: ""
              topics:
                - {name: "no spaces", lane: standard}
                - {name: events, lane: urgnt}
                - {name: events, format: json}
                - {name: aegis.dead-letter}
              outcomes_topic: outcomes
              properties:
                enable.auto.commit: true
            store:
              url: postgres://aegis:hunter2@db/aegis
              retention: 30
            apps:
              - id: com.example.app
                environments: {production: {endpoint: "http://localhost"}}
                auth: {certificate: {file: push.p12}}
                accounts: many
            delivery:
              rate_limit: 0
              connections: two
              retry: {base: 1h, cap: 5m}
            http:
              listen: 8080
              tokens:
                - {name: backend, token: "${AEGIS_API_TOKEN}", scopes: [device], apps: [com.example.ap]}
            log: {level: [info]}
            stores: {}
            """)
        #expect(
            problems == [
                "aegis.yaml:1: kafka.brokers: is required",
                "aegis.yaml:2: kafka.broker: unknown key; did you mean \"brokers\"?",
                "aegis.yaml:3: kafka.group: must not be empty",
                "aegis.yaml:5: kafka.topics[0].name: \"no spaces\" is no name of a topic; "
                    + "1 to 249 letters, digits, \".\", \"_\" or \"-\"",
                "aegis.yaml:6: kafka.topics[1].lane: \"urgnt\" is none of urgent, standard, bulk; did you mean \"urgent\"?",
                "aegis.yaml:7: kafka.topics[2].name: \"events\" is listed twice",
                "aegis.yaml:7: kafka.topics[2].format: \"json\" is not available in this version; "
                    + "one of auto, aegis, cloudevents",
                "aegis.yaml:8: kafka.topics[3].name: is the dead-letter topic, which would be read for ever; "
                    + "name another kafka.dead_letter_topic",
                "aegis.yaml:9: kafka.outcomes_topic: is not available in this version; leave it out",
                "aegis.yaml:11: kafka.properties.enable.auto.commit: is set by Aegis itself; "
                    + "offsets are committed when every delivery is settled",
                "aegis.yaml:13: store.url: PostgreSQL is not available in this version; use sqlite:///path",
                "aegis.yaml:14: store.retention: \"30\" is no duration; write it as 250ms, 30s, 5m, 24h or 7d",
                "aegis.yaml:17: apps[0].environments.production.endpoint: is no endpoint; "
                    + "write production, sandbox or https://host:port",
                "aegis.yaml:18: apps[0].auth.certificate: is not available in this version; leave it out",
                "aegis.yaml:19: apps[0].accounts: \"many\" is not available in this version; one of one",
                "aegis.yaml:21: delivery.rate_limit: \"0\" is no whole number of 1 to 1000000",
                "aegis.yaml:22: delivery.connections: \"two\" is no whole number of 1 to 64",
                "aegis.yaml:23: delivery.retry.base: 1h is longer than cap, 5m",
                "aegis.yaml:25: http.listen: is no address with a port; write it as 127.0.0.1:8080",
                "aegis.yaml:27: http.tokens[0].token: the environment variable AEGIS_API_TOKEN is not set; "
                    + "set it, or write ${AEGIS_API_TOKEN:-default}",
                "aegis.yaml:27: http.tokens[0].scopes[0]: \"device\" is none of devices, preferences, events, admin; "
                    + "did you mean \"devices\"?",
                "aegis.yaml:28: log.level: a single value is expected here",
                "aegis.yaml:29: stores: unknown key; did you mean \"store\"?",
            ])
    }

    @Test(arguments: [
        ("kafka: {topics: [{mapping: {id: /id}}]}", "kafka.topics[0].mapping"),
        ("dead_letters: {also: [spring]}", "dead_letters.also"),
        ("http: {user_tokens: {secret_file: key}}", "http.user_tokens"),
        ("apps: [{environments: {sandbox: {proxy: proxy:3128}}}]", "apps[0].environments.sandbox.proxy"),
        ("kafka: {topics: [{format: control}]}", "kafka.topics[0].format"),
        ("kafka: {fanout_topic: aegis.fanout}", "kafka.fanout_topic"),
        ("kafka: {replay_topic: aegis.replay}", "kafka.replay_topic"),
        ("delivery: {retry: {in_memory_for: 30s}}", "delivery.retry.in_memory_for"),
    ])
    func `what this version cannot honour is refused by name`(text: String, path: String) throws {
        let problems = try ScratchFolder().problems(text)
        #expect(problems.contains { $0.contains(" \(path): ") && $0.contains("not available in this version") })
    }

    @Test func `problems of the catalog follow those of the configuration`() throws {
        let problems = try ScratchFolder().problems(
            "kafak: {}\n" + Samples.configuration, catalog: Samples.catalog + "\nversion: 2")
        #expect(
            problems == [
                "aegis.yaml:1: kafak: unknown key; did you mean \"kafka\"?",
                "catalog.yaml:3: version: \"2\" is no whole number of 1 to 1",
            ])
    }

    @Test func `a missing file is a problem of its own`() throws {
        let path = try ScratchFolder().path + "/absent.yaml"
        let error = #expect(throws: ConfigurationProblems.self) {
            try ConfigurationLoader.load(path: path, environment: [:])
        }
        #expect(error?.description == "\(path): cannot be opened")
    }

    @Test func `no secret is printed, however it is printed`() throws {
        let folder = try ScratchFolder()
        let text =
            Samples.configuration + "\nhttp: {tokens: [{name: a, token: hunter2hunter2hunter2, scopes: [admin]}]}"
        let configuration = try folder.load(text).configuration
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hunter2") && !"\(configuration)".contains("hunter2"))
        #expect(!String(reflecting: configuration).contains("hunter2"))
    }
}
