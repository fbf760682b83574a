import AegisCore

/// Makes a configuration from its settings, and checks what no single key shows.
struct ConfigurationAssembly {
    /// librdkafka's properties that the offset ledger, the group or `brokers` decide.
    private static let ownProperties = [
        "bootstrap.servers": "use kafka.brokers", "metadata.broker.list": "use kafka.brokers",
        "group.id": "use kafka.group", "group.instance.id": "use kafka.instance_id",
        "enable.auto.commit": "offsets are committed when every delivery is settled",
        "enable.auto.offset.store": "offsets are committed when every delivery is settled",
        "auto.commit.enable": "offsets are committed when every delivery is settled",
        "enable.partition.eof": "it is off",
        "enable.idempotence": "it is on", "acks": "every replica acknowledges",
        "request.required.acks": "every replica acknowledges", "message.timeout.ms": "it is 30 seconds",
        "delivery.timeout.ms": "it is 30 seconds",
    ]

    let file: String
    var problems: [Problem]

    init(file: String, problems: [Problem]) {
        self.file = file
        self.problems = problems
    }

    /// Nil after any error.
    mutating func configuration(_ root: Section) -> AegisConfiguration? {
        let kafka = kafka(root.section("kafka"))
        let store = store(root.section("store"))
        var apps = AppAssembly(file: file, problems: problems)
        let settings = apps.apps(root.list("apps"))
        problems = apps.problems
        let delivery = delivery(root.section("delivery"))
        let http = http(root.section("http"), apps: settings.map(\.rules.id))
        guard !problems.hasErrors, let store, let listen = http.listen else { return nil }
        return AegisConfiguration(
            kafka: kafka, store: store, catalogPath: TextFile.path(root.text("catalog"), besideFile: file),
            apps: settings, delivery: delivery, http: HTTPSettings(listen: listen, tokens: http.tokens),
            log: log(root.section("log")))
    }

    private mutating func kafka(_ section: Section) -> KafkaSettings {
        var topics: [KafkaSettings.Topic] = []
        let deadLetterTopic = section.text("dead_letter_topic")
        for element in section.list("topics").compactMap(\.section) {
            let topic = KafkaSettings.Topic(
                name: element.text("name"), lane: element.choice("lane", or: .standard),
                format: element.choice("format", or: .auto), unmatched: element.choice("unmatched", or: .ignore))
            if !topic.name.isEmpty {
                if topics.contains(where: { $0.name == topic.name }) {
                    problems.report("\"\(topic.name)\" is listed twice", at: element.place(of: "name"))
                }
                if topic.name == deadLetterTopic {
                    problems.report(
                        "is the dead-letter topic, which would be read for ever", at: element.place(of: "name"),
                        remedy: "name another kafka.dead_letter_topic")
                }
            }
            topics.append(topic)
        }
        var properties: [String: Secret] = [:]
        for (name, setting) in section.table("properties") {
            if let remedy = Self.ownProperties[name] {
                problems.report("is set by Aegis itself", at: setting.place, remedy: remedy)
            }
            properties[name] = setting.text.map(Secret.init)
        }
        return KafkaSettings(
            brokers: brokers(section), group: section.text("group"), instanceID: section.textIfSet("instance_id"),
            topics: topics, deadLetterTopic: deadLetterTopic, properties: properties)
    }

    private mutating func brokers(_ section: Section) -> KafkaSettings.Brokers {
        guard let text = section.textIfSet("brokers"), text != "embedded" else { return .embedded }
        let servers = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
        if !servers.allSatisfy({ NetworkAddress($0, defaultPort: 9_092) != nil }) {
            problems.report(
                "is no list of brokers", at: section.place(of: "brokers"), remedy: "write it as host:9092,other:9092")
        }
        return .servers(servers.joined(separator: ","))
    }

    private mutating func store(_ section: Section) -> StoreSettings? {
        guard let url = section.textIfSet("url") else { return nil }
        let place = section.place(of: "url")
        guard !url.hasPrefix("postgres://"), !url.hasPrefix("postgresql://") else {
            problems.report("PostgreSQL is not available in this version", at: place, remedy: "use sqlite:///path")
            return nil
        }
        var path: Substring?
        if url.hasPrefix("sqlite:///") {
            path = url.dropFirst("sqlite://".count)
        } else if url.hasPrefix("sqlite:"), !url.hasPrefix("sqlite:/") {
            path = url.dropFirst("sqlite:".count)
        }
        guard let path, !path.isEmpty, path.last != "/", !path.contains(where: { "?#\0".contains($0) }) else {
            problems.report(
                "is no address of a store", at: place,
                remedy: "write it as sqlite:///absolute/path.db or sqlite:path.db")
            return nil
        }
        // A path from the environment belongs to the same folder as one from the file.
        return StoreSettings(
            engine: .sqlite(path: TextFile.path(String(path), besideFile: file)),
            retention: section.duration("retention"), deviceRetention: section.duration("device_retention"))
    }

    private mutating func delivery(_ section: Section) -> DeliverySettings {
        let retry = section.section("retry")
        let circuit = section.section("circuit")
        expect("base", notAbove: "cap", in: retry)
        expect("first_probe", notAbove: "longest_probe", in: circuit)
        return DeliverySettings(
            rateLimit: section.number("rate_limit"), burst: section.number("burst"),
            connections: section.number("connections"), maxInFlight: section.number("max_in_flight"),
            maxInFlightBytes: section.number("max_in_flight_bytes"),
            requestTimeout: section.duration("request_timeout"),
            retry: .init(
                maxAttempts: retry.number("max_attempts"), base: retry.duration("base"), cap: retry.duration("cap")),
            circuit: .init(
                firstProbe: circuit.duration("first_probe"), longestProbe: circuit.duration("longest_probe")),
            drainTimeout: section.duration("drain_timeout"))
    }

    private mutating func expect(_ lower: String, notAbove upper: String, in section: Section) {
        guard let least = section.durationIfSet(lower), let most = section.durationIfSet(upper), least > most else {
            return
        }
        problems.report(
            "\(ScalarText.text(least)) is longer than \(upper), \(ScalarText.text(most))", at: section.place(of: lower))
    }

    private mutating func http(_ section: Section, apps: [AppID]) -> (
        listen: NetworkAddress?, tokens: [HTTPSettings.Token]
    ) {
        let listen = section.textIfSet("listen").flatMap { NetworkAddress($0, defaultPort: nil) }
        if section.textIfSet("listen") != nil, listen == nil {
            problems.report(
                "is no address with a port", at: section.place(of: "listen"), remedy: "write it as 127.0.0.1:8080")
        }
        var names: Set<String> = []
        var secrets: Set<Secret> = []
        var tokens: [HTTPSettings.Token] = []
        for element in section.list("tokens").compactMap(\.section) {
            let name = element.text("name")
            if !name.isEmpty, !names.insert(name).inserted {
                problems.report("the name is here twice", at: element.place(of: "name"))
            }
            let scopes = element.list("scopes").compactMap { $0.text.flatMap(HTTPSettings.Scope.init) }
            let limited = limitedApps(element, known: apps)
            guard let secret = element.secret("token") else { continue }
            check(secret, at: element.place(of: "token"), seen: &secrets)
            tokens.append(.init(name: name, token: secret, scopes: Set(scopes), apps: limited))
        }
        return (listen, tokens)
    }

    private mutating func limitedApps(_ token: Section, known: [AppID]) -> Set<AppID>? {
        let apps = token.list("apps")
        for app in apps {
            guard let text = app.text, !known.isEmpty, !known.contains(AppID(text)) else { continue }
            problems.report(
                "no app has this id", at: app.place, remedy: Spelling.question(text, among: known.map(\.text)))
        }
        return apps.isEmpty ? nil : Set(apps.compactMap { $0.text.map(AppID.init) })
    }

    private mutating func check(_ secret: Secret, at place: Place, seen: inout Set<Secret>) {
        if !seen.insert(secret).inserted {
            problems.report("another entry has the same token", at: place)
        }
        if !secret.revealed.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            problems.report("has characters that no Authorization header carries", at: place)
        }
        if secret.revealed.utf8.count < 16 {
            problems.warn("is short enough to be guessed", at: place, remedy: "openssl rand -hex 32 makes a good one")
        }
    }

    private func log(_ section: Section) -> LogSettings {
        LogSettings(
            level: section.choice("level", or: .info), format: section.choice("format", or: .json),
            hashKey: section.secret("hash_key"))
    }
}

extension StringProtocol {
    /// Without spaces and tabs at either end.
    var trimmed: SubSequence {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = lastIndex { $0 != " " && $0 != "\t" }.map(index(after:)) ?? start
        return self[start..<end]
    }
}
