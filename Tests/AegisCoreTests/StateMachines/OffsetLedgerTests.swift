import AegisCore
import AegisTestKit
import Testing

@Suite struct OffsetLedgerTests {
    private static let partition = TopicPartition(topic: "orders", partition: 0)
    private let first = PartitionAssignment(partition: partition, epoch: 1)
    private let second = PartitionAssignment(partition: partition, epoch: 2)

    private func ledger(_ offsets: Int64...) -> OffsetLedger {
        var ledger = OffsetLedger()
        ledger.assigned([first])
        for offset in offsets { #expect(ledger.received(first, offset) == .accepted) }
        return ledger
    }

    @Test func `the position is the lowest unfinished offset`() {
        var ledger = ledger(10, 11, 12)
        ledger.finished(first, 12)
        #expect(ledger.committable().isEmpty)
        ledger.finished(first, 10)
        #expect(ledger.committable() == [CommitPosition(assignment: first, offset: 11)])
    }

    @Test func `with nothing unfinished the position is one past the highest`() {
        var ledger = ledger(10, 11)
        ledger.finished(first, 11)
        ledger.finished(first, 10)
        #expect(ledger.committable() == [CommitPosition(assignment: first, offset: 12)])
    }

    @Test func `a gap is no work`() {
        var ledger = ledger(5, 9, 40)
        ledger.finished(first, 5)
        #expect(ledger.committable() == [CommitPosition(assignment: first, offset: 9)])
        ledger.finished(first, 40)
        ledger.finished(first, 9)
        #expect(ledger.committable() == [CommitPosition(assignment: first, offset: 41)])
    }

    @Test func `what was committed is offered again only when it advanced`() {
        var ledger = ledger(1, 2)
        ledger.finished(first, 1)
        ledger.committed(ledger.committable())
        #expect(ledger.committable().isEmpty)
        ledger.finished(first, 2)
        #expect(ledger.committable() == [CommitPosition(assignment: first, offset: 3)])
    }

    @Test func `a commit that failed is offered again`() {
        var ledger = ledger(1)
        ledger.finished(first, 1)
        #expect(ledger.committable() == ledger.committable())
        #expect(ledger.committable().count == 1)
    }

    @Test func `a repeat is told whether it is finished or not`() {
        var ledger = ledger(1, 2)
        ledger.finished(first, 1)
        #expect(ledger.received(first, 1) == .repeated)
        #expect(ledger.received(first, 2) == .repeated)
        #expect(ledger.unfinishedCount(of: first) == 1)
    }

    @Test func `finishing twice, or what never came, changes nothing`() {
        var ledger = ledger(1, 2)
        ledger.finished(first, 2)
        ledger.finished(first, 2)
        ledger.finished(first, 7)
        #expect(ledger.unfinishedCount == 1)
        #expect(ledger.committable().isEmpty)
    }

    @Test func `a completion from an older epoch changes nothing`() {
        var ledger = ledger(1)
        ledger.revoked([first])
        ledger.assigned([second])
        #expect(ledger.received(second, 1) == .accepted)
        ledger.finished(first, 1)
        ledger.committed([CommitPosition(assignment: first, offset: 900)])
        #expect(ledger.received(first, 2) == .foreign)
        #expect(ledger.committable().isEmpty)
        ledger.finished(second, 1)
        #expect(ledger.committable() == [CommitPosition(assignment: second, offset: 2)])
    }

    @Test func `a late revocation of an older assignment leaves the newer one`() {
        var ledger = ledger(1)
        ledger.assigned([second])
        #expect(ledger.received(second, 1) == .accepted)
        ledger.revoked([first])
        #expect(ledger.unfinishedCount(of: second) == 1)
        ledger.assigned([first, second])
        #expect(ledger.unfinishedCount(of: second) == 1)
    }

    @Test func `what is not assigned is foreign`() {
        var ledger = OffsetLedger()
        #expect(ledger.received(first, 1) == .foreign)
        ledger.finished(first, 1)
        #expect(ledger.committable().isEmpty)
        #expect(ledger.unfinishedCount(of: first) == 0)
    }

    @Test func `one stuck record does not make the ledger grow`() {
        var ledger = ledger(0)
        for offset in Int64(1)...20_000 {
            #expect(ledger.received(first, offset) == .accepted)
            ledger.finished(first, offset)
        }
        #expect(ledger.committable().isEmpty)
        #expect(ledger.rememberedCount < 100)
        ledger.finished(first, 0)
        #expect(ledger.committable() == [CommitPosition(assignment: first, offset: 20_001)])
    }

    @Test func `the last possible offset does not overflow`() {
        var ledger = ledger(.max - 1, .max)
        ledger.finished(first, .max - 1)
        ledger.finished(first, .max)
        #expect(ledger.unfinishedCount == 0)
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `it agrees with a ledger that remembers everything`(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let partitions = (0..<3).map { TopicPartition(topic: "t", partition: $0) }
        var ledger = OffsetLedger()
        var model = RememberingLedger()
        var epochs: [TopicPartition: UInt64] = [:]
        var nextOffset: [TopicPartition: Int64] = [:]
        for _ in 0..<600 {
            guard let partition = partitions.randomElement(using: &chance) else { return }
            let epoch = epochs[partition, default: 0]
            let isStale = Int.random(in: 0..<12, using: &chance) == 0
            let assignment = PartitionAssignment(partition: partition, epoch: isStale && epoch > 0 ? epoch - 1 : epoch)
            let next = nextOffset[partition, default: 0]
            switch Int.random(in: 0..<100, using: &chance) {
            case 0..<3:
                epochs[partition] = epoch + 1
                let fresh = PartitionAssignment(partition: partition, epoch: epoch + 1)
                ledger.assigned([fresh])
                model.assigned(fresh)
                nextOffset[partition] = Int64.random(in: 0...max(0, next), using: &chance)
            case 3..<5:
                ledger.revoked([assignment])
                model.revoked(assignment)
            case 5..<50:
                let isRepeat = Int.random(in: 0..<8, using: &chance) == 0
                let offset = isRepeat ? max(0, next - 1) : next + Int64.random(in: 0...2, using: &chance)
                #expect(ledger.received(assignment, offset) == model.received(assignment, offset))
                nextOffset[partition] = max(next, offset + 1)
            case 50..<95:
                let offset = max(0, next - Int64.random(in: 0...20, using: &chance))
                ledger.finished(assignment, offset)
                model.finished(assignment, offset)
            default:
                let positions = ledger.committable()
                ledger.committed(positions)
                model.committed(positions)
            }
            #expect(Set(ledger.committable()) == model.committable())
            #expect(ledger.unfinishedCount == model.unfinishedCount)
            #expect(ledger.rememberedCount <= 2 * ledger.unfinishedCount + 65 * partitions.count)
        }
    }
}

/// The slow and obvious ledger: it keeps every offset of every held assignment for ever.
private struct RememberingLedger {
    private struct Held {
        var epoch: UInt64
        var received: Set<Int64> = []
        var finished: Set<Int64> = []
        var commits: [Int64] = []
    }

    private var held: [TopicPartition: Held] = [:]

    mutating func assigned(_ assignment: PartitionAssignment) {
        held[assignment.partition] = Held(epoch: assignment.epoch)
    }

    mutating func revoked(_ assignment: PartitionAssignment) {
        guard isHeld(assignment) else { return }
        held[assignment.partition] = nil
    }

    mutating func received(_ assignment: PartitionAssignment, _ offset: Int64) -> OffsetLedger.Receipt {
        guard isHeld(assignment), let known = held[assignment.partition]?.received else { return .foreign }
        if let highest = known.max(), offset <= highest { return .repeated }
        held[assignment.partition]?.received.insert(offset)
        return .accepted
    }

    mutating func finished(_ assignment: PartitionAssignment, _ offset: Int64) {
        guard isHeld(assignment), held[assignment.partition]?.received.contains(offset) == true else { return }
        held[assignment.partition]?.finished.insert(offset)
    }

    mutating func committed(_ positions: [CommitPosition]) {
        for position in positions where isHeld(position.assignment) {
            held[position.assignment.partition]?.commits.append(position.offset)
        }
    }

    func committable() -> Set<CommitPosition> {
        var positions: Set<CommitPosition> = []
        for (partition, state) in held {
            guard let start = state.received.min(), let highest = state.received.max() else { continue }
            let position = state.received.subtracting(state.finished).min() ?? highest + 1
            guard position > start, position > state.commits.max() ?? start else { continue }
            let assignment = PartitionAssignment(partition: partition, epoch: state.epoch)
            positions.insert(CommitPosition(assignment: assignment, offset: position))
        }
        return positions
    }

    var unfinishedCount: Int {
        held.values.reduce(0) { $0 + $1.received.subtracting($1.finished).count }
    }

    private func isHeld(_ assignment: PartitionAssignment) -> Bool {
        held[assignment.partition]?.epoch == assignment.epoch
    }
}
