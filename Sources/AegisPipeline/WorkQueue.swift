import AegisCore
import AegisPorts

/// Records that were read and not planned yet, each lane's in the order they came, and due notifications.
struct WorkQueue: Sendable {
    struct Record: Sendable {
        var reference: RecordReference
        var record: KafkaRecord

        var byteCount: Int { record.value?.count ?? 0 }
    }

    private struct Line: Sendable {
        private var records: [Record] = []
        private var head = 0

        var count: Int { records.count - head }

        mutating func append(_ record: Record) { records.append(record) }

        mutating func takeFirst() -> Record? {
            guard head < records.count else { return nil }
            let record = records[head]
            head += 1
            // The array is cut once more than half of it is spent, so that each record is moved a constant number of times.
            if head > 1_024, head > records.count / 2 {
                records.removeFirst(head)
                head = 0
            }
            return record
        }

        /// Returns the bytes that went.
        mutating func remove(of assignments: Set<PartitionAssignment>) -> Int {
            let waiting = records[head...]
            records = waiting.filter { !assignments.contains($0.reference.assignment) }
            head = 0
            return waiting.reduce(0) { $0 + $1.byteCount } - records.reduce(0) { $0 + $1.byteCount }
        }
    }

    private var lines: [Lane: Line] = [:]
    private var due: [DeferredNotification] = []
    /// Of the records' values.
    private(set) var byteCount = 0

    var recordCount: Int { lines.values.reduce(0) { $0 + $1.count } }
    var isEmpty: Bool { recordCount == 0 && due.isEmpty }
    var hasDue: Bool { !due.isEmpty }

    func hasRecords(in lane: Lane) -> Bool { (lines[lane]?.count ?? 0) > 0 }

    mutating func append(_ record: Record, in lane: Lane) {
        lines[lane, default: Line()].append(record)
        byteCount += record.byteCount
    }

    mutating func append(due notifications: [DeferredNotification]) {
        due.append(contentsOf: notifications)
    }

    mutating func takeDue() -> [DeferredNotification] {
        defer { due = [] }
        return due
    }

    mutating func takeFirst(in lane: Lane) -> Record? {
        guard let record = lines[lane]?.takeFirst() else { return nil }
        byteCount -= record.byteCount
        return record
    }

    mutating func remove(of assignments: Set<PartitionAssignment>) {
        for lane in Lane.allCases { byteCount -= lines[lane]?.remove(of: assignments) ?? 0 }
    }

    mutating func removeAll() {
        self = WorkQueue()
    }
}
