import AegisCore
import AegisPorts
import Runtime

/// What the consumer's callers ask of its poll thread, and how much waits for them.
final class ConsumerInbox: Sendable {
    enum Command: Sendable {
        case setPaused(Set<String>, CheckedContinuation<Void, Never>)
        case commit([CommitPosition], CheckedContinuation<EventLogError?, Never>)
        case release([PartitionAssignment], CheckedContinuation<Void, Never>)
        case lag(CheckedContinuation<[TopicPartition: Int64], Never>)
        case close(CheckedContinuation<Void, Never>?)
        /// Answer of the query thread: whether a broker answers.
        case probed(Bool)
        /// The reader took what was waiting.
        case drained

        /// What is answered when the log is closed.
        func answerClosed() {
            switch self {
            case .setPaused(_, let caller), .release(_, let caller): caller.resume()
            case .commit(_, let caller): caller.resume(returning: ConsumerInbox.closed)
            case .lag(let caller): caller.resume(returning: [:])
            case .close(let caller): caller?.resume()
            case .probed, .drained: break
            }
        }
    }

    private struct State {
        var commands: [Command] = []
        /// Nil once the thread has ended.
        var client: ClientHandle?
        var waitingRecords = 0
        var waitingBytes = 0
        var isHeldBack = false
    }

    static let closed = EventLogError(kind: .other, operation: "commit", detail: "the event log is closed")

    let signals = Mailbox<IntakeSignal>()
    private let state: Lock<State>
    private let recordsLimit: Int
    private let bytesLimit: Int

    init(client: ClientHandle, recordsLimit: Int, bytesLimit: Int) {
        state = Lock(State(client: client))
        self.recordsLimit = recordsLimit
        self.bytesLimit = bytesLimit
    }

    /// Hands a command to the thread; answers it at once when there is no thread any more.
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

    /// Lets go of the client; answers whoever still waits.
    func end() {
        let left = state.withLock { state in
            state.client = nil
            defer { state.commands = [] }
            return state.commands
        }
        signals.close()
        for command in left { command.answerClosed() }
    }

    var isOpen: Bool { state.withLock { $0.client != nil } }

    /// Puts signals out and counts what waits; says whether reading shall be held back.
    func deliver(_ delivery: [IntakeSignal]) -> Bool {
        let (records, bytes) = Self.size(of: delivery)
        let isHeldBack = state.withLock { state in
            state.waitingRecords += records
            state.waitingBytes += bytes
            // Half empty before reading goes on, so that the prefetch is not thrown away over and over.
            let divisor = state.isHeldBack ? 2 : 1
            state.isHeldBack =
                state.waitingRecords > recordsLimit / divisor || state.waitingBytes > bytesLimit / divisor
            return state.isHeldBack
        }
        signals.put(delivery)
        return isHeldBack
    }

    /// The reader has `delivery` now.
    func taken(_ delivery: [IntakeSignal]) {
        let (records, bytes) = Self.size(of: delivery)
        guard records > 0 else { return }
        let wasHeldBack = state.withLock { state in
            state.waitingRecords -= records
            state.waitingBytes -= bytes
            return state.isHeldBack
        }
        if wasHeldBack { send(.drained) }
    }

    private static func size(of signals: [IntakeSignal]) -> (records: Int, bytes: Int) {
        var records = 0
        var bytes = 0
        for case .records(let batch) in signals {
            records += batch.records.count
            for record in batch.records {
                bytes += (record.key?.count ?? 0) + (record.value?.count ?? 0)
            }
        }
        return (records, bytes)
    }
}
