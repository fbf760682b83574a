import AegisCore
import CRDKafka

extension ClientHandle {
    /// Records after the committed position, for each partition whose end and position the brokers told within `timeout`.
    ///
    /// Asks the brokers, since what the client has cached of a paused partition's end grows old. Blocks up to twice `timeout`.
    ///
    /// - Parameter partitions: with the position where it is known.
    func lag(of partitions: [(TopicPartition, Int64?)], within timeout: Duration) -> [TopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        var positions: [TopicPartition: Int64] = [:]
        for case (let partition, let position?) in partitions { positions[partition] = position }
        let unknown = partitions.filter { $0.1 == nil }.map(\.0)
        if !unknown.isEmpty {
            let list = PartitionList(unknown)
            let code = unsafe rd_kafka_committed(pointer, list.pointer, timeout.clientTimeout)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return [:] }
            var fresh: [TopicPartition] = []
            for entry in list.entries where entry.code.isSuccess {
                if entry.offset >= 0 {
                    positions[entry.partition] = entry.offset
                } else {
                    fresh.append(entry.partition)
                }
            }
            // What was never committed is read from the start.
            positions.merge(offsets(of: fresh, at: Self.beginning, within: timeout)) { known, _ in known }
        }
        return offsets(of: partitions.map(\.0), at: Self.end, within: timeout).reduce(into: [:]) { lag, end in
            guard let position = positions[end.key] else { return }
            lag[end.key] = max(0, end.value &- position)
        }
    }

    /// Special times of the ListOffsets request.
    private static let end: Int64 = -1
    private static let beginning: Int64 = -2

    private func offsets(
        of partitions: [TopicPartition], at time: Int64, within timeout: Duration
    ) -> [TopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        let list = PartitionList(offsets: partitions.map { ($0, time) })
        let code = unsafe rd_kafka_offsets_for_times(pointer, list.pointer, timeout.clientTimeout)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return [:] }
        return list.entries.reduce(into: [:]) { offsets, entry in
            guard entry.code.isSuccess, entry.offset >= 0 else { return }
            offsets[entry.partition] = entry.offset
        }
    }
}
