import AegisPorts

/// Decides when the pipeline is told that Kafka cannot be read, and that it can again.
///
/// Trouble with the brokers ends with any answer from one; trouble with a topic or the group, with an assignment or a record
/// of it. Each change is told once.
struct Reachability: Sendable {
    private var brokers: EventLogError?
    /// One broker's trouble, until it is known whether another answers.
    private var suspicion: EventLogError?
    private var group: EventLogError?
    private var topics: [String: EventLogError] = [:]
    private var told: EventLogError.Kind?

    /// Whether only asking can find out whether the brokers answer.
    var needsProbe: Bool { brokers != nil || suspicion != nil }

    mutating func brokersFailed(_ error: EventLogError) {
        // A refusal says more than the loss of connection that follows from it.
        if brokers?.kind == .refused, error.kind == .unreachable { return }
        brokers = error
    }

    /// One broker failed.
    ///
    /// The client's own word that all are down never comes where the bootstrap address is another name of a broker: it counts
    /// both and tries one.
    mutating func brokerFailed(_ error: EventLogError) {
        suspicion = error
    }

    /// A broker answered the question, or none did.
    mutating func probed(isAnswering: Bool) {
        if isAnswering {
            brokersAnswered()
        } else if let suspicion, brokers == nil {
            brokers = suspicion
        }
        suspicion = nil
    }

    mutating func brokersAnswered() {
        brokers = nil
        suspicion = nil
    }

    mutating func groupFailed(_ error: EventLogError) {
        group = error
    }

    mutating func topicFailed(_ topic: String, _ error: EventLogError) {
        topics[topic] = error
    }

    mutating func assigned(topics assigned: Set<String>) {
        brokers = nil
        group = nil
        for topic in assigned { topics[topic] = nil }
    }

    mutating func read(topic: String) {
        brokers = nil
        if !topics.isEmpty { topics[topic] = nil }
    }

    /// What to tell now; nil where nothing changed since the last call.
    mutating func change() -> IntakeSignal? {
        let current = brokers ?? group ?? topics.min { $0.key < $1.key }?.value
        guard current?.kind != told else { return nil }
        told = current?.kind
        return current.map { .unreachable($0) } ?? .reachable
    }
}
