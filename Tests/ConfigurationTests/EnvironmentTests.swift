import AegisCore
import Configuration
import Testing

@Suite struct EnvironmentTests {
    @Test func `a variable overrides a single value, at any depth and where the file has no such section`() throws {
        let configuration = try ScratchFolder().load(
            Samples.configuration,
            environment: [
                "AEGIS_KAFKA_BROKERS": "one:9092, two:9093", "AEGIS_STORE_URL": "sqlite:///tmp/other.db",
                "AEGIS_DELIVERY_RATE_LIMIT": "7", "AEGIS_DELIVERY_RETRY_BASE": "2s", "AEGIS_LOG_LEVEL": "error",
            ]
        ).configuration
        #expect(configuration.kafka.brokers == .servers("one:9092,two:9093"))
        #expect(configuration.store.engine == .sqlite(path: "/tmp/other.db"))
        #expect(configuration.delivery.rateLimit == 7)
        #expect(configuration.delivery.retry.base == .seconds(2))
        #expect(configuration.log.level == .error)
    }

    @Test func `an override makes up for what the file lacks`() throws {
        let text = Samples.configuration.replacing("localhost:9092", with: "${NOWHERE}")
        let folder = try ScratchFolder()
        #expect(try folder.problems(text).count == 1)
        #expect(try folder.problems(text, environment: ["AEGIS_KAFKA_BROKERS": "localhost"]).isEmpty)
    }

    @Test func `a wrong override names its variable and does not quote it`() throws {
        let problems = try ScratchFolder().problems(
            Samples.configuration, environment: ["AEGIS_DELIVERY_RATE_LIMIT": "hunter2"])
        #expect(
            problems == ["environment: AEGIS_DELIVERY_RATE_LIMIT: the value is no whole number of 1 to 1000000"])
    }

    @Test func `a variable for a key of a later version is refused like the key`() throws {
        let folder = try ScratchFolder()
        #expect(
            try folder.problems(Samples.configuration, environment: ["AEGIS_DELIVERY_RETRY_IN_MEMORY_FOR": "30s"]) == [
                "environment: AEGIS_DELIVERY_RETRY_IN_MEMORY_FOR: is not available in this version; leave it out"
            ])
        #expect(
            try folder.problems(Samples.configuration, environment: ["AEGIS_KAFKA_OUTCOMES_TOPIC": ""]).isEmpty)
    }

    @Test func `a variable that names no key is a warning with the nearest one`() throws {
        let problems = try ScratchFolder().problems(
            Samples.configuration,
            environment: [
                "AEGIS_KAFKA_BROKER": "x", "AEGIS_APPS": "x", "AEGIS_NOIDA_DB": "x", "AEGIS_REQUIRE_ALL": "1",
                "AEGIS_TEST_ANYTHING": "x", "HOME": "/",
            ])
        #expect(
            problems == [
                "environment: warning: AEGIS_APPS: only single values can be set by the environment",
                "environment: warning: AEGIS_KAFKA_BROKER: names no key; did you mean \"AEGIS_KAFKA_BROKERS\"?",
            ])
    }

    @Test(arguments: [
        ("${NAME}", "value"), ("a-${NAME}-b", "a-value-b"), ("${MISSING:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("\"$${NAME}\"", "${NAME}"), ("$NAME", "$NAME"), ("\"${NESTED}\"", "${NAME}"),
        ("\"${YAML}\"", "x, lane: bulk}"), ("${YAML}", "x, lane: bulk}"), ("${MISSING:-a, [b]: #c}", "a, [b]: #c"),
    ])
    func `places of variables are filled in once and stay values`(text: String, expected: String) throws {
        let configuration = try ScratchFolder().load(
            Samples.configuration + "\nlog: {hash_key: \(text)}",
            environment: ["NAME": "value", "EMPTY": "", "NESTED": "${NAME}", "YAML": "x, lane: bulk}"]
        ).configuration
        #expect(configuration.log.hashKey?.revealed == expected)
    }

    @Test func `an optional value from an empty variable is as good as left out`() throws {
        let text = Samples.configuration.replacing("  topics:", with: "  instance_id: ${HOSTNAME:-}\n  topics:")
        #expect(try ScratchFolder().load(text).configuration.kafka.instanceID == nil)
    }

    @Test(arguments: ["${NAME", "${}", "${9}", "${NAME-x}", "${NAME:x}"])
    func `a place that cannot be read is a problem`(text: String) throws {
        let problems = try ScratchFolder().problems(Samples.configuration + "\nlog: {hash_key: \"\(text)\"}")
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("aegis.yaml:9: log.hash_key: ") == true)
    }

    @Test func `a value from the environment is never quoted`() throws {
        let problems = try ScratchFolder().problems(
            Samples.configuration + "\nlog: {level: \"${LEVEL}\"}", environment: ["LEVEL": "hunter2"])
        #expect(problems == ["aegis.yaml:9: log.level: the value is none of debug, info, warning, error"])
    }

    @Test func `a variable that the file asks for is no stray override`() throws {
        let text = Samples.configuration + "\nlog: {hash_key: \"${AEGIS_PEPPER}\"}"
        #expect(try ScratchFolder().problems(text, environment: ["AEGIS_PEPPER": "x"]).isEmpty)
    }
}
