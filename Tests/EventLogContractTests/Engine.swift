import AegisCore
import AegisPorts
import AegisTestKit
import KafkaEventLog

/// The implementations that obey one contract.
enum Engine: CaseIterable, Sendable {
    case inMemory
    case mockCluster
    case broker

    /// Those this machine can test.
    static var available: [Engine] {
        allCases.filter { $0 != .broker || BrokerProcess.part.isToBeTested }
    }

    static var kafka: [Engine] { available.filter { $0 != .inMemory } }
}

/// One engine with its topics, made for one test.
struct Site: Sendable {
    static let deadLetters = "aegis.dead-letter"

    enum Backing: Sendable {
        case memory(InMemoryBroker)
        case mock(EmbeddedCluster, KafkaProducer)
        case process(BrokerProcess, KafkaProducer)
    }

    let backing: Backing

    /// Makes the engine, runs `body` and takes the engine down on every way out.
    static func with(
        _ engine: Engine, topics: [String: Int], _ body: (Site) async throws -> Void
    ) async throws {
        let all = topics.merging([deadLetters: 1]) { first, _ in first }
        switch engine {
        case .inMemory:
            try await body(Site(backing: .memory(InMemoryBroker(topics: all, deadLetterTopic: deadLetters))))
        case .mockCluster:
            let cluster = try EmbeddedCluster(topics: all)
            let producer = try KafkaProducer(
                KafkaProducerSettings(brokers: cluster.brokers, deadLetterTopic: deadLetters))
            let outcome = await outcome(of: Site(backing: .mock(cluster, producer)), body)
            await producer.close()
            cluster.stop()
            try outcome.get()
        case .broker:
            let process = try BrokerProcess()
            try await process.start()
            let producer = try KafkaProducer(
                KafkaProducerSettings(brokers: process.brokers, deadLetterTopic: deadLetters))
            let outcome = await outcome(of: Site(backing: .process(process, producer))) { site in
                try await KafkaTopics(brokers: process.brokers).create(all)
                try await body(site)
            }
            await producer.close()
            try await process.remove()
            try outcome.get()
        }
    }

    private static func outcome(
        of site: Site, _ body: (Site) async throws -> Void
    ) async -> Result<Void, any Error> {
        do {
            return .success(try await body(site))
        } catch {
            return .failure(error)
        }
    }

    /// A new member of the group.
    func join(
        _ group: String = "aegis", topics: [String], adjust: (inout KafkaSettings) -> Void = { _ in }
    ) throws -> Member {
        switch backing {
        case .memory(let broker):
            return Member(InMemoryEventLog(broker, group: group, topics: Set(topics)))
        case .mock(let cluster, _):
            return Member(try KafkaConsumer(settings(cluster.brokers, group, topics, adjust)))
        case .process(let process, _):
            return Member(try KafkaConsumer(settings(process.brokers, group, topics, adjust)))
        }
    }

    private func settings(
        _ brokers: String, _ group: String, _ topics: [String], _ adjust: (inout KafkaSettings) -> Void
    ) -> KafkaSettings {
        var settings = KafkaSettings(
            brokers: brokers, group: group, topics: topics,
            properties: ["heartbeat.interval.ms": "300", "session.timeout.ms": "10000"])
        adjust(&settings)
        return settings
    }

    var publisher: any EventPublisher & DeadLetters {
        switch backing {
        case .memory(let broker): broker
        case .mock(_, let producer), .process(_, let producer): producer
        }
    }

    func publish(_ values: [String], to topic: String) async throws {
        try await publisher.publish(
            values.map { OutgoingRecord(key: Array("k".utf8), value: Array($0.utf8)) }, to: topic)
    }
}
