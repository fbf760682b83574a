import AegisCore
import AegisPorts
import CRDKafka

/// The partitions this process has, with what was read of each in this turn.
///
/// Belongs to the poll thread.
@safe final class HeldPartitions {
    final class Partition {
        var assignment: PartitionAssignment
        /// The position the broker has acknowledged; nil until this process committed.
        var committed: Int64?
        fileprivate(set) var isPaused = false
        var isRevoking = false
        fileprivate var records: [KafkaRecord] = []
        fileprivate var nextOffset: Int64 = -1

        fileprivate init(_ assignment: PartitionAssignment) {
            self.assignment = assignment
        }
    }

    private var partitions: [TopicPartition: Partition] = [:]
    private var touched: [Partition] = []
    private var lastEpoch: UInt64 = 0
    /// The partition of the last message, as messages of one come in a row.
    private var last: (topic: OpaquePointer, number: Int32, partition: Partition)?

    var all: [Partition] { Array(partitions.values) }

    func isCurrent(_ assignment: PartitionAssignment) -> Bool {
        partitions[assignment.partition]?.assignment == assignment
    }

    subscript(_ partition: TopicPartition) -> Partition? { partitions[partition] }

    func assign(_ assigned: [TopicPartition]) -> [PartitionAssignment] {
        lastEpoch += 1
        unsafe last = nil
        return assigned.map { partition in
            let assignment = PartitionAssignment(partition: partition, epoch: lastEpoch)
            partitions[partition] = Partition(assignment)
            return assignment
        }
    }

    /// Takes partitions away; what was read of them in this turn and not yet handed out goes too.
    func remove(_ removed: [TopicPartition]) -> [PartitionAssignment] {
        unsafe last = nil
        return removed.compactMap { partition in
            guard let held = partitions.removeValue(forKey: partition) else { return nil }
            held.records = []
            return held.assignment
        }
    }

    /// Keeps a message; says of a partition that starts over at a lower offset.
    ///
    /// That happens when its topic was made anew or its records were lost: everything the reader knows of its offsets is void,
    /// so the partition is given out again under a new epoch.
    func take(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> [IntakeSignal] {
        guard let partition = unsafe partition(of: message), !partition.isRevoking else { return [] }
        var signals: [IntakeSignal] = []
        let record = unsafe KafkaRecord(message)
        if record.offset < partition.nextOffset {
            signals = takeRecords()
            lastEpoch += 1
            signals.append(.lost([partition.assignment]))
            partition.assignment = PartitionAssignment(
                partition: partition.assignment.partition, epoch: lastEpoch)
            partition.committed = nil
            signals.append(.assigned([partition.assignment]))
        }
        partition.nextOffset = record.offset &+ 1
        if partition.records.isEmpty { touched.append(partition) }
        partition.records.append(record)
        return signals
    }

    private func partition(of message: UnsafeMutablePointer<rd_kafka_message_t>) -> Partition? {
        guard let topic = unsafe message.pointee.rkt else { return nil }
        let number = unsafe message.pointee.partition
        if let last = unsafe last, unsafe last.topic == topic, unsafe last.number == number {
            return unsafe last.partition
        }
        guard let name = unsafe rd_kafka_topic_name(topic),
            let partition = unsafe partitions[TopicPartition(topic: String(cString: name), partition: number)]
        else { return nil }
        unsafe last = (topic, number, partition)
        return partition
    }

    /// What was read since the last call, one batch a partition.
    func takeRecords() -> [IntakeSignal] {
        guard !touched.isEmpty else { return [] }
        defer { touched = [] }
        return touched.compactMap { partition in
            guard !partition.records.isEmpty else { return nil }
            defer { partition.records = [] }
            return .records(RecordBatch(assignment: partition.assignment, records: partition.records))
        }
    }

    /// Makes the client pause and resume what differs from `shallPause`.
    func applyPauses(client: ClientHandle, _ shallPause: (Partition) -> Bool) {
        var paused: [TopicPartition] = []
        var resumed: [TopicPartition] = []
        for partition in partitions.values {
            let wanted = partition.isRevoking || shallPause(partition)
            guard wanted != partition.isPaused else { continue }
            partition.isPaused = wanted
            if wanted {
                paused.append(partition.assignment.partition)
            } else {
                resumed.append(partition.assignment.partition)
            }
        }
        if !paused.isEmpty {
            let list = PartitionList(paused)
            unsafe rd_kafka_pause_partitions(client.pointer, list.pointer)
        }
        if !resumed.isEmpty { Self.resume(resumed, client: client) }
    }

    static func resume(_ partitions: [TopicPartition], client: ClientHandle) {
        let list = PartitionList(partitions)
        unsafe rd_kafka_resume_partitions(client.pointer, list.pointer)
    }
}

extension KafkaRecord {
    /// Copies a message out of the client; it may be destroyed then.
    init(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let raw = unsafe message.pointee
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &type)
        unsafe self.init(
            offset: raw.offset, timestamp: UnixTime(milliseconds: max(0, timestamp)),
            key: Self.bytes(raw.key, raw.key_len), value: Self.bytes(raw.payload, raw.len),
            headers: Self.headers(of: message))
    }

    private static func headers(of message: UnsafeMutablePointer<rd_kafka_message_t>) -> [RecordHeader] {
        var list: OpaquePointer?
        guard unsafe rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list = unsafe list
        else { return [] }
        var headers: [RecordHeader] = []
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        while unsafe rd_kafka_header_get_all(list, headers.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let name = unsafe name
        {
            unsafe headers.append(RecordHeader(name: String(cString: name), value: bytes(value, size)))
        }
        return headers
    }

    /// No pointer is null; no bytes are not.
    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        guard let start = unsafe start else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
