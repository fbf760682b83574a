package import AegisPorts
import CRDKafka
import Runtime

/// Which topics there are.
///
/// The service only looks; making topics is for the demo, tests and scripts.
package struct KafkaTopics: Sendable {
    private let brokers: String
    private let properties: [String: String]
    private let timeout: Duration

    package init(brokers: String, properties: [String: String] = [:], timeout: Duration = .seconds(10)) {
        self.brokers = brokers
        self.properties = properties
        self.timeout = timeout
    }

    /// The names of all topics, from the full listing: asking for one by name makes it on some brokers.
    package func existing() async throws(EventLogError) -> Set<String> {
        try await withClient { client, timeout throws(EventLogError) in
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = unsafe KafkaCode(rd_kafka_metadata(client.pointer, 1, nil, &metadata, timeout.clientTimeout))
            guard code.isSuccess, let metadata = unsafe metadata else { throw code.error(during: "list") }
            defer { unsafe rd_kafka_metadata_destroy(metadata) }
            let topics = unsafe UnsafeBufferPointer(
                start: metadata.pointee.topics, count: Int(max(0, metadata.pointee.topic_cnt)))
            let names = unsafe topics.compactMap { topic in
                unsafe topic.err == RD_KAFKA_RESP_ERR_NO_ERROR ? String(cString: topic.topic) : nil
            }
            return Set(names)
        }
    }

    /// Makes topics, one replica each; one that exists already is no error.
    ///
    /// - Parameter topics: with their numbers of partitions.
    package func create(_ topics: [String: Int]) async throws(EventLogError) {
        guard !topics.isEmpty else { return }
        _ = try await withClient { client, timeout throws(EventLogError) in
            try Self.create(topics, client: client, timeout: timeout)
            return []
        }
    }

    private static func create(
        _ topics: [String: Int], client: ClientHandle, timeout: Duration
    ) throws(EventLogError) {
        var wanted: [OpaquePointer?] = unsafe []
        defer { unsafe rd_kafka_NewTopic_destroy_array(&wanted, wanted.count) }
        for (name, partitions) in topics.sorted(by: { $0.key < $1.key }) {
            var text = [CChar](repeating: 0, count: 256)
            guard
                let topic = unsafe rd_kafka_NewTopic_new(name, Int32(clamping: partitions), 1, &text, text.count)
            else {
                throw EventLogError(kind: .configuration, operation: "create", detail: ClientHandle.string(text))
            }
            unsafe wanted.append(topic)
        }
        guard let queue = unsafe rd_kafka_queue_new(client.pointer) else { return }
        defer { unsafe rd_kafka_queue_destroy(queue) }
        unsafe rd_kafka_CreateTopics(client.pointer, &wanted, wanted.count, nil, queue)
        guard let event = unsafe rd_kafka_queue_poll(queue, timeout.clientTimeout) else {
            throw EventLogError(kind: .unreachable, operation: "create", detail: "no answer in time")
        }
        defer { unsafe rd_kafka_event_destroy(event) }
        let whole = unsafe KafkaCode(rd_kafka_event_error(event))
        guard whole.isSuccess else { throw whole.error(during: "create") }
        var count = 0
        guard
            let answers = unsafe rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
        else { return }
        for index in 0..<count {
            let code = unsafe KafkaCode(rd_kafka_topic_result_error(answers[index]))
            guard code.isSuccess || code.code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS else {
                throw code.error(during: "create")
            }
        }
    }

    /// Runs `body` with a client of its own on a thread of its own, as both block.
    private func withClient(
        _ body: @escaping @Sendable (ClientHandle, Duration) throws(EventLogError) -> Set<String>
    ) async throws(EventLogError) -> Set<String> {
        let settings: [(name: String, value: String)] =
            [("bootstrap.servers", brokers)] + properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let timeout = timeout
        let result: Result<Set<String>, EventLogError> = await withCheckedContinuation { caller in
            do throws(ThreadError) {
                _ = try DedicatedThread(name: "kafka-topics") {
                    caller.resume(
                        returning: Result { () throws(EventLogError) in
                            let client = try ClientHandle(
                                .producer, properties: settings, context: ClientContext(log: nil))
                            return try body(client, timeout)
                        })
                }
            } catch {
                caller.resume(
                    returning: .failure(
                        EventLogError(kind: .other, operation: "start", detail: error.description)))
            }
        }
        return try result.get()
    }
}
