import AegisCore
import AegisPorts
import CRDKafka
import Runtime

/// The consumer's thread: polls, answers rebalances, carries out commands, until the group is left.
///
///     reading ── revoked ──▶ draining ── released, or drain timeout, or lost ──▶ reading
///     reading, draining ── close ──▶ closing ── group left, or close timeout ──▶ ended
final class PollLoop {
    private struct Drain {
        let partitions: [TopicPartition]
        var waiting: Set<PartitionAssignment>
        let deadline: MonotonicTime
    }

    @safe private struct Closing {
        /// Everything of the consumer's queue comes here while it closes.
        let queue: OpaquePointer
        let deadline: MonotonicTime
        var callers: [CheckedContinuation<Void, Never>]
    }

    private static let turnLimit = 1_000
    private static let turnTime: Int32 = 50
    private static let commitRetryDelay = Duration.milliseconds(150)
    private static let probeInterval = Duration.seconds(1)

    private let client: ClientHandle
    private let inbox: ConsumerInbox
    private let queries: QueryThread
    private let settings: KafkaSettings
    private let clock = SystemClock()
    private let held = HeldPartitions()

    private var signals: [IntakeSignal] = []
    private var reachability = Reachability()
    private var commits = PendingCommits()
    private var pausedTopics: Set<String> = []
    private var isHeldBack = false
    private var drain: Drain?
    private var closing: Closing?
    private var nextProbe: MonotonicTime?

    init(client: ClientHandle, inbox: ConsumerInbox, queries: QueryThread, settings: KafkaSettings) {
        self.client = client
        self.inbox = inbox
        self.queries = queries
        self.settings = settings
    }

    /// Returns when the group is left and everyone who waited has an answer.
    func run() {
        subscribe()
        while !isOver {
            for command in inbox.takeCommands() { perform(command) }
            poll()
            for event in client.context.takeEvents() { handle(event) }
            let now = clock.uptime()
            for id in commits.due(at: now) { start(commit: id) }
            watchDrain(at: now)
            probeIfDue(at: now)
            deliver()
        }
        end()
    }

    private var isOver: Bool {
        guard let closing = closing else { return false }
        return unsafe rd_kafka_consumer_closed(client.pointer) != 0 || clock.uptime() >= closing.deadline
    }

    private func subscribe() {
        let list = PartitionList(settings.topics.map { TopicPartition(topic: $0, partition: -1) })
        let code = unsafe KafkaCode(rd_kafka_subscribe(client.pointer, list.pointer))
        if !code.isSuccess { reachability.groupFailed(code.error(during: "subscribe")) }
    }

    // MARK: Reading

    /// Waits a little for one message and takes what is there with it, so that a full batch is never waited for.
    private func poll() {
        var timeout = Self.turnTime
        for _ in 0..<Self.turnLimit {
            guard let message = unsafe nextMessage(timeout) else { return }
            unsafe take(message)
            unsafe rd_kafka_message_destroy(message)
            timeout = 0
        }
    }

    private func nextMessage(_ timeout: Int32) -> UnsafeMutablePointer<rd_kafka_message_t>? {
        if let closing = closing { return unsafe rd_kafka_consume_queue(closing.queue, timeout) }
        return unsafe rd_kafka_consumer_poll(client.pointer, timeout)
    }

    private func take(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let code = unsafe KafkaCode(message.pointee.err)
        if code.isSuccess {
            unsafe signals.append(contentsOf: held.take(message))
            return
        }
        let error = code.error(during: "read")
        if let topic = unsafe message.pointee.rkt, let name = unsafe rd_kafka_topic_name(topic) {
            // One broker's trouble is the client's to mend: it is told of when all are gone.
            if error.kind != .unreachable { unsafe reachability.topicFailed(String(cString: name), error) }
        } else if error.kind != .unreachable {
            reachability.groupFailed(error)
        }
    }

    private func deliver() {
        let records = held.takeRecords()
        for case .records(let batch) in records { reachability.read(topic: batch.assignment.partition.topic) }
        signals += records
        if let change = reachability.change() { signals.append(change) }
        let shallHoldBack = inbox.deliver(signals)
        signals.removeAll(keepingCapacity: true)
        if shallHoldBack != isHeldBack {
            isHeldBack = shallHoldBack
            applyPauses()
        }
    }

    private func applyPauses() {
        held.applyPauses(client: client) { partition in
            isHeldBack || pausedTopics.contains(partition.assignment.partition.topic)
        }
    }

    // MARK: Events of the client

    private func handle(_ event: ClientContext.Event) {
        // What was read before the event is told before it.
        signals += held.takeRecords()
        switch event {
        case .assigned(let partitions): assign(partitions)
        case .revoked(let partitions, let isLost): revoke(partitions, isLost: isLost)
        case .problem(let code, let reason):
            if code.code == RD_KAFKA_RESP_ERR__FATAL {
                // The member was fenced: it reads nothing more, however well the brokers answer.
                let cause = unsafe KafkaCode(rd_kafka_fatal_error(client.pointer, nil, 0))
                return reachability.groupFailed(cause.error(during: "read"))
            }
            let error = EventLogError(kind: code.kind, operation: "connect", detail: code.text + " (" + reason + ")")
            if code.concernsAllBrokers {
                reachability.brokersFailed(error)
            } else if error.kind == .unreachable {
                reachability.brokerFailed(error)
            }
        case .committed(let id, let code, let entries): answer(commit: id, code, entries)
        case .delivered: break
        }
    }

    private func assign(_ partitions: [TopicPartition]) {
        finishDrain()
        let assignments = held.assign(partitions)
        let list = PartitionList(partitions)
        // A pause of an earlier assignment, which the client may remember, is over.
        HeldPartitions.resume(partitions, client: client)
        if isCooperative {
            _ = unsafe KafkaCode.take(rd_kafka_incremental_assign(client.pointer, list.pointer))
        } else {
            unsafe rd_kafka_assign(client.pointer, list.pointer)
        }
        applyPauses()
        reachability.assigned(topics: Set(partitions.map(\.topic)))
        signals.append(.assigned(assignments))
    }

    private func revoke(_ partitions: [TopicPartition], isLost: Bool) {
        finishDrain()
        let assignments = partitions.compactMap { held[$0]?.assignment }
        guard !isLost, closing == nil, !assignments.isEmpty else {
            unassign(partitions)
            if isLost, !assignments.isEmpty { signals.append(.lost(assignments)) }
            return
        }
        for partition in partitions { held[partition]?.isRevoking = true }
        applyPauses()
        drain = Drain(
            partitions: partitions, waiting: Set(assignments),
            deadline: clock.uptime().advanced(by: settings.drainTimeout))
        signals.append(.revoking(assignments))
    }

    /// Lets revoked partitions go when they were released, when it takes too long, or when they are gone anyway.
    private func watchDrain(at now: MonotonicTime) {
        guard let drain else { return }
        if unsafe rd_kafka_assignment_lost(client.pointer) != 0 {
            signals.append(.lost(drain.partitions.compactMap { held[$0]?.assignment }))
            finishDrain()
        } else if drain.waiting.isEmpty || now >= drain.deadline {
            finishDrain()
        }
    }

    private func finishDrain() {
        guard let drain else { return }
        self.drain = nil
        unassign(drain.partitions)
    }

    private func unassign(_ partitions: [TopicPartition]) {
        _ = held.remove(partitions)
        if isCooperative {
            let list = PartitionList(partitions)
            _ = unsafe KafkaCode.take(rd_kafka_incremental_unassign(client.pointer, list.pointer))
        } else {
            unsafe rd_kafka_assign(client.pointer, nil)
        }
    }

    private var isCooperative: Bool {
        guard let name = unsafe rd_kafka_rebalance_protocol(client.pointer) else { return false }
        return unsafe String(cString: name) == "COOPERATIVE"
    }

    private func probeIfDue(at now: MonotonicTime) {
        guard reachability.needsProbe, closing == nil else {
            nextProbe = nil
            return
        }
        guard let nextProbe else {
            self.nextProbe = now.advanced(by: Self.probeInterval)
            return
        }
        guard now >= nextProbe else { return }
        // The answer sets the next one.
        self.nextProbe = MonotonicTime(nanoseconds: .max)
        queries.ask { [client, inbox] in inbox.send(.probed(client.isAnswering(within: .seconds(3)))) }
    }

    // MARK: Commands

    private func perform(_ command: ConsumerInbox.Command) {
        switch command {
        case .setPaused(let topics, let caller):
            pausedTopics = topics
            applyPauses()
            caller.resume()
        case .commit(let positions, let caller):
            let deadline = clock.uptime().advanced(by: settings.commitTimeout)
            start(commit: commits.add(positions, for: caller, until: deadline))
        case .release(let assignments, let caller):
            drain?.waiting.subtract(assignments)
            watchDrain(at: clock.uptime())
            caller.resume()
        case .lag(let caller):
            let partitions = held.all.map { ($0.assignment.partition, $0.committed) }
            queries.ask { [client] in caller.resume(returning: client.lag(of: partitions, within: .seconds(2))) }
        case .close(let caller):
            close(caller)
        case .probed(let isAnswering):
            reachability.probed(isAnswering: isAnswering)
            nextProbe = nil
        case .drained:
            break
        }
    }

    private func start(commit id: UInt) {
        guard let commit = commits.commits[id] else { return }
        // A negative offset would mean something else to the client.
        let offsets = commit.positions.filter { held.isCurrent($0.assignment) && $0.offset >= 0 }
            .map { ($0.assignment.partition, $0.offset) }
        guard !offsets.isEmpty else { return commits.finish(id, nil) }
        commits.started(id)
        let list = PartitionList(offsets: offsets)
        let code = unsafe KafkaCode(
            rd_kafka_commit_queue(
                client.pointer, list.pointer, client.queue, ClientCallbacks.commit,
                UnsafeMutableRawPointer(bitPattern: id)))
        if !code.isSuccess { settle(commit: id, code) }
    }

    private func answer(commit id: UInt, _ code: KafkaCode, _ entries: [PartitionList.Entry]) {
        guard let commit = commits.commits[id] else { return }
        let failure = code.isSuccess ? entries.first { !$0.code.isSuccess }?.code : code
        if failure == nil {
            for position in commit.positions where held.isCurrent(position.assignment) {
                held[position.assignment.partition]?.committed = position.offset
            }
            reachability.brokersAnswered()
        }
        settle(commit: id, failure ?? code)
    }

    private func settle(commit id: UInt, _ code: KafkaCode) {
        if code.isSuccess {
            commits.finish(id, nil)
        } else if code.allowsAnotherCommit, closing == nil, !(code.kind == .fenced && drain != nil) {
            // While draining, a new generation can only be joined once the partitions are let go: no use to wait for it.
            commits.retry(id, at: clock.uptime().advanced(by: Self.commitRetryDelay), after: code)
        } else {
            commits.finish(id, code.error(during: "commit"))
        }
    }

    // MARK: Leaving

    private func close(_ caller: CheckedContinuation<Void, Never>?) {
        if closing != nil {
            if let caller { closing?.callers.append(caller) }
            return
        }
        finishDrain()
        guard let queue = unsafe rd_kafka_queue_new(client.pointer) else {
            caller?.resume()
            return
        }
        let deadline = clock.uptime().advanced(by: settings.closeTimeout)
        closing = unsafe Closing(queue: queue, deadline: deadline, callers: caller.map { [$0] } ?? [])
        _ = unsafe KafkaCode.take(rd_kafka_consumer_close_queue(client.pointer, queue))
    }

    private func end() {
        for event in client.context.takeEvents() { handle(event) }
        commits.failAll(ConsumerInbox.closed)
        queries.end()
        inbox.end()
        guard let closing = closing else { return }
        unsafe rd_kafka_queue_destroy(closing.queue)
        for caller in closing.callers { caller.resume() }
    }
}
