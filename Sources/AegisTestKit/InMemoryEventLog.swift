package import AegisCore
package import AegisPorts
import Runtime
import Synchronization

/// A member of a group on an ``InMemoryBroker``.
package final class InMemoryEventLog: EventLog {
    private let broker: InMemoryBroker
    private let group: String
    private let member: Int
    private let mailbox = Mailbox<IntakeSignal>()
    private let isOpen = Atomic(true)

    package init(_ broker: InMemoryBroker, group: String, topics: Set<String>) {
        self.broker = broker
        self.group = group
        member = broker.join(group: group, topics: topics, mailbox: mailbox)
    }

    package func signals() async -> [IntakeSignal]? {
        guard isOpen.load(ordering: .acquiring) else { return nil }
        return await mailbox.take()
    }

    package func setPaused(_ topics: Set<String>) async {
        broker.setPaused(topics, group: group, member: member)
    }

    package func commit(_ positions: [CommitPosition]) async throws(EventLogError) {
        try broker.commit(positions, group: group, member: member)
    }

    package func release(_ assignments: [PartitionAssignment]) async {
        broker.release(assignments, group: group, member: member)
    }

    package func lag() async -> [TopicPartition: Int64] {
        broker.lag(group: group, member: member)
    }

    package func close() async {
        isOpen.store(false, ordering: .releasing)
        broker.leave(group: group, member: member)
        mailbox.close()
    }
}
