/// Decides how far each partition may be committed while its records finish in any order.
///
/// It knows the offsets *received*, so a gap in the log (compaction, transaction markers) is no work. A partition's position
/// is the lowest unfinished offset, else one past the highest received. What belongs to an assignment that is not held
/// changes nothing: after a rebalance the new owner decides.
///
///     assigned ── received ──▶ unfinished ── finished ──▶ forgotten          revoked: all of the partition forgotten
///
/// Kafka hands out the offsets of one assignment in ascending order, so whatever is not above the highest received is a
/// repeat. A log whose end was cut off and written anew needs a new epoch. Memory follows what is unfinished.
package struct OffsetLedger: Sendable {
    package enum Receipt: Hashable, Sendable {
        case accepted
        /// Received before under the same assignment: nothing to do for it.
        case repeated
        /// Not held, or held under another epoch: to be dropped.
        case foreign
    }

    private var partitions: [TopicPartition: PartitionLedger] = [:]

    package init() {}

    /// Begins with each assignment anew; one older than what is held is ignored, the one that is held keeps its state.
    package mutating func assigned(_ assignments: [PartitionAssignment]) {
        for assignment in assignments {
            if let held = partitions[assignment.partition], held.epoch >= assignment.epoch { continue }
            partitions[assignment.partition] = PartitionLedger(epoch: assignment.epoch)
        }
    }

    /// Forgets these assignments, finished or not; a newer one of the same partition stays.
    package mutating func revoked(_ assignments: [PartitionAssignment]) {
        for assignment in assignments where partitions[assignment.partition]?.epoch == assignment.epoch {
            partitions[assignment.partition] = nil
        }
    }

    /// A record has come in; it is unfinished from now on if the answer is `accepted`.
    package mutating func received(_ assignment: PartitionAssignment, _ offset: Int64) -> Receipt {
        partitions[assignment.partition]?.received(offset, epoch: assignment.epoch) ?? .foreign
    }

    /// Everything that a record asked for has its final outcome; a second time, or for a stranger, it means nothing.
    package mutating func finished(_ assignment: PartitionAssignment, _ offset: Int64) {
        partitions[assignment.partition]?.finished(offset, epoch: assignment.epoch)
    }

    /// The positions that advanced since they were last ``committed(_:)``, in no particular order.
    package func committable() -> [CommitPosition] {
        var positions: [CommitPosition] = []
        for (partition, ledger) in partitions {
            guard let offset = ledger.advancedPosition else { continue }
            let assignment = PartitionAssignment(partition: partition, epoch: ledger.epoch)
            positions.append(CommitPosition(assignment: assignment, offset: offset))
        }
        return positions
    }

    /// The broker has acknowledged these positions.
    package mutating func committed(_ positions: [CommitPosition]) {
        for position in positions {
            let assignment = position.assignment
            partitions[assignment.partition]?.committed(position.offset, epoch: assignment.epoch)
        }
    }

    /// How many records of an assignment are unfinished; 0 for one that is not held.
    package func unfinishedCount(of assignment: PartitionAssignment) -> Int {
        guard let ledger = partitions[assignment.partition], ledger.epoch == assignment.epoch else { return 0 }
        return ledger.unfinishedCount
    }

    /// How many records of all assignments are unfinished.
    package var unfinishedCount: Int {
        partitions.values.reduce(0) { $0 + $1.unfinishedCount }
    }

    /// How many offsets are remembered: at most twice the unfinished ones and a small constant for each partition.
    package var rememberedCount: Int {
        partitions.values.reduce(0) { $0 + $1.rememberedCount }
    }
}

/// One partition under one assignment.
private struct PartitionLedger: Sendable {
    private struct Slot: Sendable {
        let offset: Int64
        var isFinished = false
    }

    /// So many finished slots are tolerated before the unfinished are moved together.
    private static let slack = 64

    let epoch: UInt64
    /// Ascending; the first from `head` on is unfinished, finished ones may stand between.
    private var slots: [Slot] = []
    private var head = 0
    private(set) var unfinishedCount = 0
    private var highestReceived: Int64?
    /// Where the group goes on without a further commit.
    private var committedPosition: Int64 = 0

    init(epoch: UInt64) {
        self.epoch = epoch
    }

    var rememberedCount: Int { slots.count }

    var advancedPosition: Int64? {
        guard let highestReceived else { return nil }
        let position = head < slots.count ? slots[head].offset : highestReceived &+ 1
        return position > committedPosition ? position : nil
    }

    mutating func received(_ offset: Int64, epoch: UInt64) -> OffsetLedger.Receipt {
        guard epoch == self.epoch else { return .foreign }
        if let highestReceived {
            guard offset > highestReceived else { return .repeated }
        } else {
            committedPosition = offset
        }
        highestReceived = offset
        slots.append(Slot(offset: offset))
        unfinishedCount += 1
        return .accepted
    }

    mutating func finished(_ offset: Int64, epoch: UInt64) {
        guard epoch == self.epoch, let index = index(of: offset), !slots[index].isFinished else { return }
        slots[index].isFinished = true
        unfinishedCount -= 1
        while head < slots.count, slots[head].isFinished { head += 1 }
        compact()
    }

    mutating func committed(_ position: Int64, epoch: UInt64) {
        guard epoch == self.epoch else { return }
        committedPosition = max(committedPosition, position)
    }

    private func index(of offset: Int64) -> Int? {
        var low = head
        var high = slots.count
        while low < high {
            let middle = low + (high - low) / 2
            if slots[middle].offset < offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < slots.count && slots[low].offset == offset ? low : nil
    }

    /// Moves the unfinished together once the finished outnumber them, so that each finish costs a constant on average.
    private mutating func compact() {
        guard slots.count - unfinishedCount > unfinishedCount + Self.slack else { return }
        slots.removeAll(where: \.isFinished)
        head = 0
    }
}
