package import AegisCore
package import AegisPorts
import Runtime

/// Writes events and dead letters, idempotently and acknowledged by all replicas, over librdkafka.
///
/// One thread owns the client. Each call waits for its whole batch with one continuation; a call that throws may have written
/// some of its records.
package final class KafkaProducer: DeadLetters, EventPublisher {
    private let inbox: ProducerInbox
    private let deadLetterTopic: String

    /// - Parameter log: takes the client's own lines; they name brokers and never a record.
    /// - Throws: ``EventLogError`` of kind `configuration` for a property the client does not take.
    package init(_ settings: KafkaProducerSettings, log: (any Log)? = nil) throws(EventLogError) {
        let client = try ClientHandle(
            .producer, properties: settings.clientProperties, context: ClientContext(log: log))
        let inbox = ProducerInbox(client: client)
        self.inbox = inbox
        deadLetterTopic = settings.deadLetterTopic
        do {
            _ = try DedicatedThread(name: "kafka-produce") {
                ProduceLoop(client: client, inbox: inbox, settings: settings, log: log).run()
            }
        } catch {
            inbox.end()
            throw EventLogError(kind: .other, operation: "start", detail: error.description)
        }
    }

    deinit { inbox.send(.close(nil)) }

    package func publish(_ letters: [DeadLetter], at now: UnixTime) async -> [EventLogError?] {
        let records = letters.map { letter in
            // Of a record that was replayed and failed again, only the newest account is kept.
            let kept = letter.record.headers.filter { !$0.name.hasPrefix(DeadLetter.addedHeaderPrefix) }
            return OutgoingRecord(
                key: letter.record.key, value: letter.record.value, headers: kept + letter.addedHeaders(at: now))
        }
        return await answers(to: records, for: deadLetterTopic)
    }

    package func publish(_ records: [OutgoingRecord], to topic: String) async throws(EventLogError) {
        for error in await answers(to: records, for: topic) {
            if let error { throw error }
        }
    }

    private func answers(to records: [OutgoingRecord], for topic: String) async -> [EventLogError?] {
        guard !records.isEmpty else { return [] }
        return await withCheckedContinuation { inbox.send(.publish(records, topic, $0)) }
    }

    /// Waits for what is on its way, up to the setting, and ends; every caller has an answer then.
    package func close() async {
        await withCheckedContinuation { inbox.send(.close($0)) }
    }
}

/// What the producer's callers ask of its thread.
final class ProducerInbox: Sendable {
    enum Command: Sendable {
        case publish([OutgoingRecord], String, BatchTracker.Caller)
        case close(CheckedContinuation<Void, Never>?)

        func answerClosed() {
            switch self {
            case .publish(let records, _, let caller):
                caller.resume(returning: records.map { _ in ProducerInbox.closed })
            case .close(let caller): caller?.resume()
            }
        }
    }

    private struct State {
        var commands: [Command] = []
        /// Nil once the thread has ended.
        var client: ClientHandle?
    }

    static let closed = EventLogError(kind: .other, operation: "produce", detail: "the producer is closed")

    private let state: Lock<State>

    init(client: ClientHandle) {
        state = Lock(State(client: client))
    }

    func send(_ command: Command) {
        let isTaken = state.withLock { state in
            guard let client = state.client else { return false }
            state.commands.append(command)
            client.wake()
            return true
        }
        if !isTaken { command.answerClosed() }
    }

    func takeCommands() -> [Command] {
        state.withLock { state in
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// The client was replaced.
    func use(_ client: ClientHandle) {
        state.withLock { $0.client = client }
    }

    func end() {
        let left = state.withLock { state in
            state.client = nil
            defer { state.commands = [] }
            return state.commands
        }
        for command in left { command.answerClosed() }
    }
}
