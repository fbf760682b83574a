package import AegisCore
package import AegisPorts
import Runtime

/// Topics, groups and their positions in memory: what ``InMemoryEventLog`` reads and writes.
///
/// A group shares out partitions evenly among its members in the order they joined; a partition that changes hands is first
/// released by its holder.
package final class InMemoryBroker: DeadLetters, EventPublisher {
    private struct Member {
        let id: Int
        let topics: Set<String>
        let mailbox: Mailbox<IntakeSignal>
        var paused: Set<String> = []
        var held: [TopicPartition: UInt64] = [:]
        var revoking: Set<TopicPartition> = []
        var positions: [TopicPartition: Int64] = [:]
        var lastEpoch: UInt64 = 0
    }

    private struct Group {
        var members: [Member] = []
        var committed: [TopicPartition: Int64] = [:]
    }

    private struct State {
        var topics: [String: [[KafkaRecord]]] = [:]
        var groups: [String: Group] = [:]
        var nextMember = 0
        var nextPartition = 0
        var isReachable = true
        var largestRecord = 1_048_588
    }

    private let state = Lock(State())
    private let deadLetterTopic: String

    /// - Parameter topics: with their numbers of partitions.
    package init(topics: [String: Int], deadLetterTopic: String = "aegis.dead-letter") {
        self.deadLetterTopic = deadLetterTopic
        state.withLock { state in
            for (topic, count) in topics { state.topics[topic] = Array(repeating: [], count: max(1, count)) }
            if state.topics[deadLetterTopic] == nil { state.topics[deadLetterTopic] = [[]] }
        }
    }

    // MARK: Writing

    package func publish(_ letters: [DeadLetter], at now: UnixTime) async -> [EventLogError?] {
        letters.map { letter in
            append(
                OutgoingRecord(
                    key: letter.record.key, value: letter.record.value,
                    headers: letter.record.headers.filter { !$0.name.hasPrefix(DeadLetter.addedHeaderPrefix) }
                        + letter.addedHeaders(at: now)), to: deadLetterTopic)
        }
    }

    /// Records above this are refused.
    package func setLargestRecord(_ bytes: Int) { state.withLock { $0.largestRecord = bytes } }

    package func publish(_ records: [OutgoingRecord], to topic: String) async throws(EventLogError) {
        for record in records {
            if let error = append(record, to: topic) { throw error }
        }
    }

    private func append(_ record: OutgoingRecord, to topic: String) -> EventLogError? {
        state.withLock { state in
            guard state.isReachable else { return Self.unreachable("produce") }
            guard let count = state.topics[topic]?.count else {
                return EventLogError(kind: .unknownTopic, operation: "produce", detail: "no such topic")
            }
            let stored = KafkaRecord(
                offset: 0, timestamp: UnixTime(milliseconds: 0), key: record.key, value: record.value,
                headers: record.headers)
            guard stored.byteCount <= state.largestRecord else {
                return EventLogError(kind: .tooLarge, operation: "produce", detail: "the record is too large")
            }
            let partition: Int
            if let key = record.key {
                partition = Int(key.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }) % count
            } else {
                partition = state.nextPartition % count
                state.nextPartition += 1
            }
            Self.append(record, to: topic, partition, at: UnixTime(milliseconds: 0), in: &state)
            Self.feedAll(&state)
            return nil
        }
    }

    /// Writes to one partition, at a time of the caller's choice.
    ///
    /// - Parameter skipping: offsets left out before the first of them, as a compacted or transactional log has it.
    package func append(
        _ records: [OutgoingRecord], to partition: TopicPartition, at time: UnixTime, skipping: Int = 0
    ) {
        state.withLock { state in
            for (index, record) in records.enumerated() {
                Self.append(
                    record, to: partition.topic, Int(partition.partition), at: time,
                    skipping: index == 0 ? skipping : 0, in: &state)
            }
            Self.feedAll(&state)
        }
    }

    package func records(of topic: String) -> [KafkaRecord] {
        state.withLock { $0.topics[topic, default: []].flatMap { $0 } }
    }

    package func committed(_ partition: TopicPartition, group: String) -> Int64? {
        state.withLock { $0.groups[group]?.committed[partition] }
    }

    /// Cuts everyone off, or lets everyone back: members are told, commits and publishing fail meanwhile.
    package func setReachable(_ isReachable: Bool) {
        state.withLock { state in
            guard state.isReachable != isReachable else { return }
            state.isReachable = isReachable
            let signal = isReachable ? IntakeSignal.reachable : .unreachable(Self.unreachable("connect"))
            for member in state.groups.values.flatMap(\.members) { member.mailbox.put(signal) }
            Self.feedAll(&state)
        }
    }

    /// Takes every partition from every member of a group without asking, and shares them out again.
    package func expelMembers(of group: String) {
        state.withLock { state in
            guard var expelled = state.groups[group] else { return }
            for index in expelled.members.indices {
                let lost = Self.assignments(Array(expelled.members[index].held.keys), of: expelled.members[index])
                expelled.members[index].held = [:]
                expelled.members[index].revoking = []
                if !lost.isEmpty { expelled.members[index].mailbox.put(.lost(lost)) }
            }
            state.groups[group] = expelled
            Self.rebalance(group, in: &state)
        }
    }

    // MARK: Membership

    func join(group: String, topics: Set<String>, mailbox: Mailbox<IntakeSignal>) -> Int {
        state.withLock { state in
            state.nextMember += 1
            let member = Member(id: state.nextMember, topics: topics, mailbox: mailbox)
            state.groups[group, default: Group()].members.append(member)
            Self.rebalance(group, in: &state)
            return member.id
        }
    }

    func leave(group: String, member: Int) {
        state.withLock { state in
            state.groups[group]?.members.removeAll { $0.id == member }
            Self.rebalance(group, in: &state)
        }
    }

    func setPaused(_ topics: Set<String>, group: String, member: Int) {
        state.withLock { state in
            guard let index = Self.index(of: member, in: group, state) else { return }
            state.groups[group]?.members[index].paused = topics
            Self.feedAll(&state)
        }
    }

    func commit(_ positions: [CommitPosition], group: String, member: Int) throws(EventLogError) {
        let error: EventLogError? = state.withLock { state in
            guard let index = Self.index(of: member, in: group, state),
                let held = state.groups[group]?.members[index].held
            else { return EventLogError(kind: .other, operation: "commit", detail: "the event log is closed") }
            guard state.isReachable else { return Self.unreachable("commit") }
            for position in positions where held[position.assignment.partition] == position.assignment.epoch {
                state.groups[group]?.committed[position.assignment.partition] = position.offset
            }
            return nil
        }
        if let error { throw error }
    }

    func release(_ assignments: [PartitionAssignment], group: String, member: Int) {
        state.withLock { state in
            guard let index = Self.index(of: member, in: group, state), var owner = state.groups[group]?.members[index]
            else { return }
            for assignment in assignments where owner.held[assignment.partition] == assignment.epoch {
                guard owner.revoking.remove(assignment.partition) != nil else { continue }
                owner.held[assignment.partition] = nil
            }
            state.groups[group]?.members[index] = owner
            Self.rebalance(group, in: &state)
        }
    }

    func lag(group: String, member: Int) -> [TopicPartition: Int64] {
        state.withLock { state in
            guard let index = Self.index(of: member, in: group, state), let group = state.groups[group] else {
                return [:]
            }
            return group.members[index].held.keys.reduce(into: [:]) { lag, partition in
                let end = Self.log(of: partition, state).last.map { $0.offset + 1 } ?? 0
                lag[partition] = max(0, end - (group.committed[partition] ?? 0))
            }
        }
    }

    // MARK: Under the lock

    private static func unreachable(_ operation: String) -> EventLogError {
        EventLogError(kind: .unreachable, operation: operation, detail: "cut off")
    }

    private static func index(of member: Int, in group: String, _ state: State) -> Int? {
        state.groups[group]?.members.firstIndex { $0.id == member }
    }

    private static func log(of partition: TopicPartition, _ state: State) -> [KafkaRecord] {
        guard let partitions = state.topics[partition.topic], partitions.indices.contains(Int(partition.partition))
        else { return [] }
        return partitions[Int(partition.partition)]
    }

    private static func append(
        _ record: OutgoingRecord, to topic: String, _ partition: Int, at time: UnixTime, skipping: Int = 0,
        in state: inout State
    ) {
        guard let log = state.topics[topic], log.indices.contains(partition) else { return }
        let next = (log[partition].last.map { $0.offset + 1 } ?? 0) + Int64(skipping)
        state.topics[topic]?[partition].append(
            KafkaRecord(offset: next, timestamp: time, key: record.key, value: record.value, headers: record.headers))
    }

    private static func assignments(_ partitions: [TopicPartition], of member: Member) -> [PartitionAssignment] {
        partitions.compactMap { partition in
            member.held[partition].map { PartitionAssignment(partition: partition, epoch: $0) }
        }
    }

    /// Asks holders for what is another's share, and gives out what nobody holds.
    private static func rebalance(_ name: String, in state: inout State) {
        guard var group = state.groups[name] else { return }
        var shares: [Int: Set<TopicPartition>] = [:]
        for topic in state.topics.keys.sorted() {
            let takers = group.members.indices.filter { group.members[$0].topics.contains(topic) }
            for partition in (state.topics[topic] ?? []).indices where !takers.isEmpty {
                shares[takers[partition % takers.count], default: []].insert(
                    TopicPartition(topic: topic, partition: Int32(partition)))
            }
        }
        for index in group.members.indices {
            let share = shares[index] ?? []
            let surplus = group.members[index].held.keys.filter {
                !share.contains($0) && !group.members[index].revoking.contains($0)
            }
            guard !surplus.isEmpty else { continue }
            group.members[index].revoking.formUnion(surplus)
            group.members[index].mailbox.put(.revoking(assignments(surplus, of: group.members[index])))
        }
        let taken = Set(group.members.flatMap(\.held.keys))
        for index in group.members.indices {
            let fresh = (shares[index] ?? []).subtracting(taken)
            guard !fresh.isEmpty || group.members[index].lastEpoch == 0 else { continue }
            group.members[index].lastEpoch += 1
            for partition in fresh {
                group.members[index].held[partition] = group.members[index].lastEpoch
                group.members[index].positions[partition] = group.committed[partition] ?? 0
            }
            group.members[index].mailbox.put(.assigned(assignments(Array(fresh), of: group.members[index])))
        }
        state.groups[name] = group
        feedAll(&state)
    }

    /// Gives every member what is new in its partitions.
    private static func feedAll(_ state: inout State) {
        guard state.isReachable else { return }
        for name in state.groups.keys {
            for index in (state.groups[name]?.members ?? []).indices {
                guard var member = state.groups[name]?.members[index] else { continue }
                for (partition, epoch) in member.held
                where !member.revoking.contains(partition) && !member.paused.contains(partition.topic) {
                    let position = member.positions[partition] ?? 0
                    let records = log(of: partition, state).filter { $0.offset >= position }
                    guard let last = records.last else { continue }
                    member.positions[partition] = last.offset + 1
                    let assignment = PartitionAssignment(partition: partition, epoch: epoch)
                    member.mailbox.put(.records(RecordBatch(assignment: assignment, records: records)))
                }
                state.groups[name]?.members[index] = member
            }
        }
    }
}
