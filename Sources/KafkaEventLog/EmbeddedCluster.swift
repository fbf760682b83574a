package import AegisPorts
import CRDKafka
import Runtime

/// A Kafka cluster inside the process, for the demo and tests: librdkafka's mock brokers on loopback ports.
///
/// It keeps groups and offsets, and the last few megabytes of a partition, in memory; it knows no transactions.
package final class EmbeddedCluster: Sendable {
    private let cluster: Lock<MockCluster?>
    /// `bootstrap.servers` of it.
    package let brokers: String

    /// - Parameter topics: with their numbers of partitions.
    package init(brokerCount: Int = 1, topics: [String: Int]) throws(EventLogError) {
        let cluster = try MockCluster(brokerCount: brokerCount)
        brokers = cluster.bootstraps
        for (topic, partitions) in topics.sorted(by: { $0.key < $1.key }) {
            let code = unsafe KafkaCode(
                rd_kafka_mock_topic_create(cluster.pointer, topic, Int32(clamping: partitions), 1))
            guard code.isSuccess else { throw code.error(during: "create") }
        }
        self.cluster = Lock(cluster)
    }

    /// Ends the brokers; `deinit` does the same.
    package func stop() {
        let stopped = cluster.withLock { cluster in
            defer { cluster = nil }
            return cluster
        }
        _ = consume stopped
    }

    /// Drops a broker's connections and refuses new ones, until ``setUp(broker:)``.
    package func setDown(broker: Int32 = 1) {
        cluster.withLock { cluster in
            guard let cluster else { return }
            unsafe rd_kafka_mock_broker_set_down(cluster.pointer, broker)
        }
    }

    package func setUp(broker: Int32 = 1) {
        cluster.withLock { cluster in
            guard let cluster else { return }
            unsafe rd_kafka_mock_broker_set_up(cluster.pointer, broker)
        }
    }

    /// The next heartbeat that comes is answered as if the group had expelled its sender.
    package func expelNextMember() {
        cluster.withLock { cluster in
            guard let cluster else { return }
            let heartbeat: Int16 = 12
            var errors = [RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID]
            unsafe rd_kafka_mock_push_request_errors_array(cluster.pointer, heartbeat, errors.count, &errors)
        }
    }
}

/// Owns one `rd_kafka_mock_cluster_t *` and the client it runs in; both destroyed by `deinit`.
///
/// `@unchecked Sendable`: it stays behind the mutex of its ``EmbeddedCluster``.
@safe private final class MockCluster: @unchecked Sendable {
    let pointer: OpaquePointer
    private let client: ClientHandle

    init(brokerCount: Int) throws(EventLogError) {
        client = try ClientHandle(.producer, properties: [], context: ClientContext(log: nil))
        guard let cluster = unsafe rd_kafka_mock_cluster_new(client.pointer, Int32(clamping: max(1, brokerCount)))
        else {
            throw EventLogError(kind: .other, operation: "start", detail: "no embedded cluster")
        }
        unsafe pointer = cluster
    }

    deinit { unsafe rd_kafka_mock_cluster_destroy(pointer) }

    var bootstraps: String {
        guard let text = unsafe rd_kafka_mock_cluster_bootstraps(pointer) else { return "" }
        return unsafe String(cString: text)
    }
}
