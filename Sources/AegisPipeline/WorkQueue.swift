import AegisCore
import AegisPorts

/// Records that were read and not planned yet, in the order they came; due notifications go first.
struct WorkQueue: Sendable {
    struct Record: Sendable {
        var reference: RecordReference
        var record: KafkaRecord
    }

    private var records: [Record] = []
    private var head = 0
    private var due: [DeferredNotification] = []
    /// Of the records' values.
    private(set) var byteCount = 0

    var recordCount: Int { records.count - head }
    var isEmpty: Bool { recordCount == 0 && due.isEmpty }
    var hasDue: Bool { !due.isEmpty }

    mutating func append(_ record: Record) {
        records.append(record)
        byteCount += record.record.value?.count ?? 0
    }

    mutating func append(due notifications: [DeferredNotification]) {
        due.append(contentsOf: notifications)
    }

    mutating func take(_ limit: Int) -> (due: [DeferredNotification], records: ArraySlice<Record>) {
        let dueTaken = Array(due.prefix(limit))
        due.removeFirst(dueTaken.count)
        let end = min(records.count, head + limit - dueTaken.count)
        let taken = records[head..<end]
        head = end
        for record in taken { byteCount -= record.record.value?.count ?? 0 }
        // The array is cut once more than half of it is spent, so that each record is moved a constant number of times.
        if head > 1_024, head > records.count / 2 {
            records.removeFirst(head)
            head = 0
        }
        return (dueTaken, taken)
    }

    mutating func remove(of assignments: Set<PartitionAssignment>) {
        records = records[head...].filter { !assignments.contains($0.reference.assignment) }
        head = 0
        byteCount = records.reduce(0) { $0 + ($1.record.value?.count ?? 0) }
    }

    mutating func removeAll() {
        self = WorkQueue()
    }
}
