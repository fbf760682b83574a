import AegisCore

/// How to reach the brokers and what to read from them.
package struct KafkaSettings: Hashable, Sendable {
    /// Comma-separated `host:port`.
    package var brokers: String
    package var group: String
    /// Static membership: a process that comes back under this name takes its partitions again without a rebalance.
    package var instanceID: String?
    package var topics: [String]
    /// Passed to librdkafka as they are, over the settings Aegis chooses.
    ///
    /// What the guarantees rest on cannot be changed: a property of ``reservedProperties`` is refused.
    package var properties: [String: String]
    /// How long revoked partitions are kept for ``EventLog/release(_:)``; below the broker's rebalance timeout.
    package var drainTimeout: Duration = .seconds(20)
    /// After this a commit that was not acknowledged is an error.
    package var commitTimeout: Duration = .seconds(10)
    /// After this the group is left without its coordinator's answer.
    package var closeTimeout: Duration = .seconds(10)
    /// Records that may wait for ``EventLog/signals()`` before reading pauses.
    package var waitingRecordsLimit = 10_000
    /// Bytes of keys and values that may wait likewise.
    package var waitingBytesLimit = 64 << 20

    package init(
        brokers: String, group: String, instanceID: String? = nil, topics: [String], properties: [String: String] = [:]
    ) {
        self.brokers = brokers
        self.group = group
        self.instanceID = instanceID
        self.topics = topics
        self.properties = properties
    }

    /// Properties that only Aegis sets: offsets are committed by ``EventLog/commit(_:)`` alone.
    package static let reservedProperties: Set<String> = [
        "enable.auto.commit", "enable.auto.offset.store", "auto.commit.enable", "group.id", "enable.partition.eof",
    ]

    /// What the client is set to, in the order it is set.
    var clientProperties: [(name: String, value: String)] {
        var chosen: [(String, String)] = [
            ("bootstrap.servers", brokers),
            ("client.id", "aegis"),
            ("isolation.level", "read_committed"),
            ("auto.offset.reset", "earliest"),
            ("partition.assignment.strategy", "cooperative-sticky"),
            // The poll thread polls whatever happens; this bounds how long a rebalance waits for a drain.
            ("max.poll.interval.ms", "600000"),
            // A topic that is missing is reported, never made.
            ("allow.auto.create.topics", "false"),
            // The prefetch counts towards the memory ceiling and is thrown away at each pause.
            ("queued.min.messages", "10000"),
            ("queued.max.messages.kbytes", "16384"),
            ("log.connection.close", "false"),
        ]
        if let instanceID, !instanceID.isEmpty { chosen.append(("group.instance.id", instanceID)) }
        chosen += properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        chosen += [
            ("group.id", group),
            ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            ("enable.partition.eof", "false"),
        ]
        return chosen
    }
}

/// How to reach the brokers and how long to try.
package struct KafkaProducerSettings: Hashable, Sendable {
    package var brokers: String
    /// Where ``DeadLetters/publish(_:at:)`` writes.
    package var deadLetterTopic: String
    /// Passed to librdkafka as they are; those of the consumer alone are left out by whoever fills this.
    package var properties: [String: String]
    /// A record the broker has not acknowledged by then is an error; retries are inside it.
    package var messageTimeout: Duration = .seconds(30)
    /// How long ``KafkaProducer/close()`` waits for what is on its way.
    package var closeTimeout: Duration = .seconds(10)

    package init(brokers: String, deadLetterTopic: String, properties: [String: String] = [:]) {
        self.brokers = brokers
        self.deadLetterTopic = deadLetterTopic
        self.properties = properties
    }

    var clientProperties: [(name: String, value: String)] {
        [
            ("bootstrap.servers", brokers),
            ("client.id", "aegis"),
            ("linger.ms", "5"),
            // A dead letter is its record and our headers: what the broker let through once is for the broker to judge again.
            ("message.max.bytes", "67108864"),
            ("allow.auto.create.topics", "false"),
            ("log.connection.close", "false"),
        ] + properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + [
            ("enable.idempotence", "true"),
            ("acks", "all"),
            ("message.timeout.ms", String(max(1, messageTimeout.wholeMilliseconds))),
        ]
    }
}
