import AegisCore
import CRDKafka

/// Owns one `rd_kafka_topic_partition_list_t *`, destroyed by `deinit`.
@safe struct PartitionList: ~Copyable {
    typealias Pointer = UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    /// One entry, copied out.
    struct Entry: Hashable, Sendable {
        let partition: TopicPartition
        let offset: Int64
        let code: KafkaCode
    }

    /// Borrowed for calls of the library.
    let pointer: Pointer

    init(_ partitions: some Collection<TopicPartition>) {
        unsafe pointer = rd_kafka_topic_partition_list_new(Int32(clamping: partitions.count))
        for partition in partitions {
            unsafe rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
        }
    }

    init(offsets: some Collection<(TopicPartition, Int64)>) {
        unsafe pointer = rd_kafka_topic_partition_list_new(Int32(clamping: offsets.count))
        for (partition, offset) in offsets {
            let entry = unsafe rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
            unsafe entry?.pointee.offset = offset
        }
    }

    deinit { unsafe rd_kafka_topic_partition_list_destroy(pointer) }

    var entries: [Entry] { unsafe Self.entries(of: pointer) }

    /// The entries of a list that the library lends to a callback.
    static func entries(of list: Pointer?) -> [Entry] {
        guard let list = unsafe list, let elements = unsafe list.pointee.elems else { return [] }
        return unsafe UnsafeBufferPointer(start: elements, count: Int(max(0, list.pointee.cnt))).map { element in
            unsafe Entry(
                partition: TopicPartition(topic: String(cString: element.topic), partition: element.partition),
                offset: element.offset, code: KafkaCode(element.err))
        }
    }
}
