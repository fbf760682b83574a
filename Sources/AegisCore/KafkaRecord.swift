/// One partition of one topic.
package struct TopicPartition: Hashable, Sendable, CustomStringConvertible {
    package let topic: String
    package let partition: Int32

    package init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    package var description: String { "\(topic)[\(partition)]" }
}

/// A partition as this process was given it: a later assignment of the same partition has a higher epoch.
package struct PartitionAssignment: Hashable, Sendable {
    package let partition: TopicPartition
    package let epoch: UInt64

    package init(partition: TopicPartition, epoch: UInt64) {
        self.partition = partition
        self.epoch = epoch
    }
}

/// The next offset to read of a partition, for an assignment of it.
package struct CommitPosition: Hashable, Sendable {
    package let assignment: PartitionAssignment
    package let offset: Int64

    package init(assignment: PartitionAssignment, offset: Int64) {
        self.assignment = assignment
        self.offset = offset
    }
}

/// A record header; names may repeat and values may be null or binary.
package struct RecordHeader: Hashable, Sendable {
    package let name: String
    package let value: [UInt8]?

    package init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

/// A record as Kafka holds it.
package struct KafkaRecord: Hashable, Sendable {
    package let offset: Int64
    /// The record's own time: the producer's clock or the broker's, as the topic is set.
    package let timestamp: UnixTime
    package let key: [UInt8]?
    /// Null is a tombstone; no bytes are not null.
    package let value: [UInt8]?
    package let headers: [RecordHeader]

    package init(offset: Int64, timestamp: UnixTime, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Of key, value and headers.
    package var byteCount: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }
}
