package import AegisCore
package import AegisPorts
import Runtime

/// A member of a Kafka consumer group, over librdkafka.
///
/// One thread owns the client and polls it from the start to ``close()``, whatever the reader does: membership never depends
/// on the pipeline. What the reader has not taken is bounded; beyond it every partition pauses.
package final class KafkaConsumer: EventLog {
    private let inbox: ConsumerInbox

    /// Joins the group; brokers that cannot be reached are waited for and told of by ``signals()``.
    ///
    /// - Parameter log: takes the client's own lines; they name brokers and never a record.
    /// - Throws: ``EventLogError`` of kind `configuration` for a property the client does not take.
    package init(_ settings: KafkaSettings, log: (any Log)? = nil) throws(EventLogError) {
        if let name = settings.properties.keys.sorted().first(where: KafkaSettings.reservedProperties.contains) {
            throw EventLogError(
                kind: .configuration, operation: "configure", detail: "the property \(name) is set by Aegis alone")
        }
        let client = try ClientHandle(
            .consumer, properties: settings.clientProperties, context: ClientContext(log: log))
        let inbox = ConsumerInbox(
            client: client, recordsLimit: settings.waitingRecordsLimit, bytesLimit: settings.waitingBytesLimit)
        self.inbox = inbox
        do {
            let queries = try QueryThread()
            _ = try DedicatedThread(name: "kafka-poll") {
                PollLoop(client: client, inbox: inbox, queries: queries, settings: settings).run()
            }
        } catch {
            inbox.end()
            throw EventLogError(kind: .other, operation: "start", detail: error.description)
        }
    }

    deinit { inbox.send(.close(nil)) }

    package func signals() async -> [IntakeSignal]? {
        guard inbox.isOpen, let signals = await inbox.signals.take() else { return nil }
        inbox.taken(signals)
        return signals
    }

    package func setPaused(_ topics: Set<String>) async {
        await withCheckedContinuation { inbox.send(.setPaused(topics, $0)) }
    }

    package func commit(_ positions: [CommitPosition]) async throws(EventLogError) {
        guard !positions.isEmpty else { return }
        let error: EventLogError? = await withCheckedContinuation { inbox.send(.commit(positions, $0)) }
        if let error { throw error }
    }

    package func release(_ assignments: [PartitionAssignment]) async {
        await withCheckedContinuation { inbox.send(.release(assignments, $0)) }
    }

    package func lag() async -> [TopicPartition: Int64] {
        await withCheckedContinuation { inbox.send(.lag($0)) }
    }

    package func close() async {
        await withCheckedContinuation { inbox.send(.close($0)) }
    }
}
