import AegisCore
import AegisPorts
import AegisTestKit
import KafkaEventLog
import Testing

/// What only a real client and brokers that fail can show.
@Suite struct KafkaFaultTests {
    private static let topic = "domain.events"
    private static let first = TopicPartition(topic: topic, partition: 0)

    @Test func `brokers that go away and come back are told of once each, and reading goes on`() async throws {
        try await Site.with(.mockCluster, topics: [Self.topic: 1]) { site in
            guard case .mock(let cluster, _) = site.backing else { return }
            let member = try site.join(topics: [Self.topic])
            try await site.publish(["before"], to: Self.topic)
            try await member.wait("the first record") { $0.all.count == 1 }
            cluster.setDown()
            let down = try await member.wait("the outage") { !$0.unreachable.isEmpty }
            #expect(down.unreachable.map(\.kind) == [.unreachable])
            #expect(down.reachableCount == 0)
            cluster.setUp()
            let up = try await member.wait("the end of the outage") { $0.reachableCount > 0 }
            #expect(up.unreachable.count == 1)
            try await site.publish(["after"], to: Self.topic)
            let seen = try await member.wait("the next record") { $0.all.count >= 2 }
            #expect(seen.texts == ["before", "after"])
            await member.close()
        }
    }

    @Test func `a commit and a publish say that the brokers are gone, in bounded time`() async throws {
        try await Site.with(.mockCluster, topics: [Self.topic: 1]) { site in
            guard case .mock(let cluster, _) = site.backing else { return }
            let member = try site.join(topics: [Self.topic]) { settings in
                settings.commitTimeout = .seconds(1)
                settings.closeTimeout = .seconds(2)
            }
            let held = try await member.wait("the partition") { $0.held[Self.first] != nil }
            let assignment = try #require(held.held[Self.first])
            var settings = KafkaProducerSettings(brokers: cluster.brokers, deadLetterTopic: Site.deadLetters)
            settings.messageTimeout = .seconds(1)
            settings.closeTimeout = .seconds(1)
            let producer = try KafkaProducer(settings)
            cluster.setDown()
            await expectKind(.unreachable) {
                try await member.log.commit([CommitPosition(assignment: assignment, offset: 0)])
            }
            await expectKind(.unreachable) {
                try await producer.publish([OutgoingRecord(key: nil, value: [1])], to: Self.topic)
            }
            await producer.close()
            await member.close()
            await expectKind(.other) {
                try await producer.publish([OutgoingRecord(key: nil, value: [1])], to: Self.topic)
            }
        }
    }

    @Test func `brokers that were never there are waited for`() async throws {
        var settings = KafkaSettings(brokers: "127.0.0.1:1", group: "aegis", topics: [Self.topic])
        settings.closeTimeout = .seconds(2)
        let member = Member(try KafkaConsumer(settings))
        let seen = try await member.wait("word of it") { !$0.unreachable.isEmpty }
        #expect(seen.unreachable.first?.kind == .unreachable)
        #expect(await member.log.lag().isEmpty)
        await member.close()
        #expect(member.now.isEnded)
    }

    @Test(.enabled(if: BrokerProcess.part.isToBeTested, "noida-db is missing here"))
    func `reading goes on at the right place after the broker restarted`() async throws {
        try await Site.with(.broker, topics: [Self.topic: 1]) { site in
            guard case .process(let process, _) = site.backing else { return }
            let member = try site.join(topics: [Self.topic]) { $0.properties["reconnect.backoff.max.ms"] = "500" }
            try await site.publish(["0", "1"], to: Self.topic)
            let seen = try await member.wait("2 records") { $0.all.count == 2 }
            let assignment = try #require(seen.held[Self.first])
            try await member.log.commit([CommitPosition(assignment: assignment, offset: 2)])
            try await process.stop()
            try await member.wait("the outage") { !$0.unreachable.isEmpty }
            try await process.start()
            try await member.wait("the end of the outage") { $0.reachableCount > 0 }
            try await site.publish(["2", "3"], to: Self.topic)
            let after = try await member.wait("the new records") { $0.all.count >= 4 }
            #expect(after.texts == ["0", "1", "2", "3"])
            await member.close()
        }
    }

    @Test(arguments: Engine.kafka)
    func `partitions that nobody releases go when the drain takes too long`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 2]) { site in
            let one = try site.join(topics: [Self.topic]) { $0.drainTimeout = .milliseconds(500) }
            try await one.wait("both partitions") { $0.held.count == 2 }
            let two = try site.join(topics: [Self.topic])
            try await two.wait("a partition") { !$0.held.isEmpty }
            #expect(!one.now.revoking.isEmpty)
            await two.close()
            await one.close()
        }
    }

    @Test(arguments: Engine.kafka)
    func `an eager group takes every partition back before it shares them out again`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 2]) { site in
            let eager: (inout KafkaSettings) -> Void = {
                $0.properties["partition.assignment.strategy"] = "range"
                // The mock may go through a second rebalance, which nobody releases here.
                $0.drainTimeout = .seconds(1)
            }
            let one = try site.join(topics: [Self.topic], adjust: eager)
            try await one.wait("both partitions") { $0.held.count == 2 }
            let two = try site.join(topics: [Self.topic], adjust: eager)
            let asked = try await one.wait("the request") { !$0.revoking.isEmpty }
            #expect(asked.revoking.count == 2)
            await one.log.release(asked.revoking)
            try await one.wait("a share") { $0.held.count == 1 }
            try await two.wait("a share") { $0.held.count == 1 }
            try await site.publisher.publish(
                (0..<20).map { OutgoingRecord(key: Array("k\($0)".utf8), value: Array("\($0)".utf8)) }, to: Self.topic)
            try await one.wait("its records") { !$0.all.isEmpty }
            try await two.wait("its records") { !$0.all.isEmpty }
            await two.close()
            await one.close()
        }
    }

    @Test(arguments: Engine.kafka)
    func `looking for topics makes none`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            let brokers =
                switch site.backing {
                case .memory: ""
                case .mock(let cluster, _): cluster.brokers
                case .process(let process, _): process.brokers
                }
            let topics = KafkaTopics(brokers: brokers)
            let names = try await topics.existing()
            #expect(names.isSuperset(of: [Self.topic, Site.deadLetters]))
            #expect(try await topics.existing() == names)
        }
    }

    @Test func `no broker is an error of the listing, in bounded time`() async throws {
        await expectKind(.unreachable) {
            _ = try await KafkaTopics(brokers: "127.0.0.1:1", timeout: .milliseconds(500)).existing()
        }
    }

    @Test(arguments: [
        ("no.such.property", "s3cret"), ("session.timeout.ms", "s3cret"), ("enable.auto.commit", "true"),
    ])
    func `a property that is refused is named and its value is not quoted`(name: String, value: String) throws {
        let settings = KafkaSettings(
            brokers: "127.0.0.1:1", group: "aegis", topics: [Self.topic], properties: [name: value])
        let error = #expect(throws: EventLogError.self) { try KafkaConsumer(settings) }
        #expect(error?.kind == .configuration)
        #expect(error?.description.contains(name) == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func `offsets left out are no records`() async throws {
        let broker = InMemoryBroker(topics: [Self.topic: 1])
        let record = OutgoingRecord(key: nil, value: [1])
        broker.append([record], to: Self.first, at: UnixTime(milliseconds: 1))
        broker.append([record, record], to: Self.first, at: UnixTime(milliseconds: 2), skipping: 3)
        let member = Member(InMemoryEventLog(broker, group: "aegis", topics: [Self.topic]))
        let seen = try await member.wait("3 records") { $0.all.count == 3 }
        #expect(seen.all.map(\.offset) == [0, 4, 5])
        await member.close()
    }

    private func expectKind(_ kind: EventLogError.Kind, _ body: () async throws -> Void) async {
        let error = await #expect(throws: EventLogError.self) { try await body() }
        #expect(error?.kind == kind)
    }
}
