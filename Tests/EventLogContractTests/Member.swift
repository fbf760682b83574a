import AegisCore
import AegisPorts
import Runtime
import Testing

/// A group member under test, whose signals are kept so that a test can wait for what they come to.
final class Member: Sendable {
    struct Seen: Sendable {
        var records: [TopicPartition: [KafkaRecord]] = [:]
        /// Newest assignment of each partition that was given and not taken back.
        var held: [TopicPartition: PartitionAssignment] = [:]
        var everHeld: [PartitionAssignment] = []
        var revoking: [PartitionAssignment] = []
        var lost: [PartitionAssignment] = []
        var unreachable: [EventLogError] = []
        var reachableCount = 0
        var assignmentCount = 0
        var strays = 0
        var isEnded = false

        var all: [KafkaRecord] { records.values.flatMap { $0 } }
        var texts: [String] { all.map { String(decoding: $0.value ?? [], as: UTF8.self) } }
    }

    let log: any EventLog
    private let box = Box()
    private let reader: Task<Void, Never>

    init(_ log: any EventLog) {
        self.log = log
        reader = Task { [box] in
            while let signals = await log.signals() {
                box.seen.withLock { seen in
                    for signal in signals { Self.note(signal, &seen) }
                }
            }
            box.seen.withLock { $0.isEnded = true }
        }
    }

    private final class Box: Sendable {
        let seen = Lock(Seen())
    }

    var now: Seen { box.seen.withLock { $0 } }

    private static func note(_ signal: IntakeSignal, _ seen: inout Seen) {
        switch signal {
        case .records(let batch):
            // Records come only for what is held, under its present epoch.
            if seen.held[batch.assignment.partition] != batch.assignment { seen.strays += 1 }
            seen.records[batch.assignment.partition, default: []] += batch.records
        case .assigned(let assignments):
            seen.assignmentCount += 1
            seen.everHeld += assignments
            for assignment in assignments { seen.held[assignment.partition] = assignment }
        case .revoking(let assignments):
            seen.revoking += assignments
            for assignment in assignments { seen.held[assignment.partition] = nil }
        case .lost(let assignments):
            seen.lost += assignments
            for assignment in assignments where seen.held[assignment.partition] == assignment {
                seen.held[assignment.partition] = nil
            }
        case .unreachable(let error): seen.unreachable.append(error)
        case .reachable: seen.reachableCount += 1
        }
    }

    /// Waits until what was seen satisfies the condition; records a failure when it does not within the limit.
    @discardableResult
    func wait(
        _ what: Comment, within limit: Duration = .seconds(40), location: SourceLocation = #_sourceLocation,
        until condition: (Seen) -> Bool
    ) async throws -> Seen {
        let deadline = ContinuousClock.now + limit
        while true {
            let seen = now
            if condition(seen) { return seen }
            guard ContinuousClock.now < deadline else {
                Issue.record("no \(what) within \(limit)", sourceLocation: location)
                throw WaitFailed()
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    struct WaitFailed: Error {}

    /// Closes and waits for the reader to be told.
    func close() async {
        await log.close()
        await reader.value
    }
}
