import AegisCore
import AegisPorts
import CRDKafka
import Runtime

/// What librdkafka's callbacks report, kept until the thread that polls looks.
///
/// The callbacks' opaque pointer: the ``ClientHandle`` holds it for as long as the client lives.
final class ClientContext: Sendable {
    enum Event: Sendable {
        case assigned([TopicPartition])
        case revoked([TopicPartition], isLost: Bool)
        case problem(KafkaCode, reason: String)
        case committed(id: UInt, KafkaCode, [PartitionList.Entry])
        /// One record of a batch was acknowledged, or could not be delivered.
        case delivered(BatchTracker.RecordTag, KafkaCode)
    }

    private let events = Lock<[Event]>([])
    private let log: (any Log)?

    init(log: (any Log)?) {
        self.log = log
    }

    func add(_ event: Event) {
        events.withLock { $0.append(event) }
    }

    func takeEvents() -> [Event] {
        events.withLock { events in
            guard !events.isEmpty else { return [] }
            defer { events = [] }
            return events
        }
    }

    fileprivate func write(level: Int32, facility: String, text: String) {
        guard let log else { return }
        // Levels of syslog(3): the client calls an error what it goes on to repair by itself.
        let level: LogLevel =
            switch level {
            case ...3: .warning
            case 4: .info
            default: .debug
            }
        guard level >= log.level else { return }
        log.write(level, "Kafka client", ["facility": .text(facility), "text": .text(text)])
    }

    fileprivate static func from(_ opaque: UnsafeMutableRawPointer?) -> ClientContext? {
        guard let opaque = unsafe opaque else { return nil }
        return unsafe Unmanaged<ClientContext>.fromOpaque(opaque).takeUnretainedValue()
    }
}

/// The callbacks: each copies, enqueues and returns.
///
/// The context of each is the client's opaque pointer, which outlives the client.
enum ClientCallbacks {
    static let log: @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Void = {
        client, level, facility, text in
        guard let client = unsafe client, let facility = unsafe facility, let text = unsafe text else { return }
        let context = unsafe ClientContext.from(rd_kafka_opaque(client))
        unsafe context?.write(level: level, facility: String(cString: facility), text: String(cString: text))
    }

    static let problem:
        @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
            _, code, reason, opaque in
            let text = unsafe reason.map { unsafe String(cString: $0) } ?? ""
            unsafe ClientContext.from(opaque)?.add(.problem(KafkaCode(number: code), reason: text))
        }

    /// The answer to a rebalance is given after the poll that brought it, or when a drain is over: librdkafka waits for it.
    static let rebalance:
        @convention(c) (OpaquePointer?, rd_kafka_resp_err_t, PartitionList.Pointer?, UnsafeMutableRawPointer?) -> Void =
            {
                client, code, list, opaque in
                guard let client = unsafe client, let context = unsafe ClientContext.from(opaque) else { return }
                let partitions = unsafe PartitionList.entries(of: list).map(\.partition)
                if code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
                    context.add(.assigned(partitions))
                } else {
                    unsafe context.add(.revoked(partitions, isLost: rd_kafka_assignment_lost(client) != 0))
                }
                unsafe rd_kafka_yield(client)
            }

    static let commit:
        @convention(c) (
            OpaquePointer?, rd_kafka_resp_err_t, PartitionList.Pointer?, UnsafeMutableRawPointer?
        ) -> Void = { client, code, list, id in
            guard let client = unsafe client else { return }
            let context = unsafe ClientContext.from(rd_kafka_opaque(client))
            unsafe context?.add(
                .committed(id: UInt(bitPattern: id), KafkaCode(code), PartitionList.entries(of: list)))
            unsafe rd_kafka_yield(client)
        }

    static let delivery:
        @convention(c) (OpaquePointer?, UnsafePointer<rd_kafka_message_t>?, UnsafeMutableRawPointer?) -> Void = {
            _, message, opaque in
            guard let message = unsafe message else { return }
            unsafe ClientContext.from(opaque)?.add(
                .delivered(
                    BatchTracker.RecordTag(number: UInt(bitPattern: message.pointee._private)),
                    KafkaCode(message.pointee.err)))
        }
}
