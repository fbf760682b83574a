import AegisCore
import AegisPorts
import CRDKafka
import Runtime

/// The producer's thread: hands records to the client and delivery reports to whoever waits.
final class ProduceLoop {
    private struct Waiting {
        let batch: UInt
        let records: [OutgoingRecord]
        let topic: String
        var next = 0
    }

    private static let turnTime: Int32 = 100

    private var client: ClientHandle
    private let inbox: ProducerInbox
    private let settings: KafkaProducerSettings
    private let log: (any Log)?
    private let clock = SystemClock()
    private var batches = BatchTracker()
    /// Batches that are not handed over entirely, as the client's queue was full.
    private var waiting: [Waiting] = []
    private var closers: [CheckedContinuation<Void, Never>] = []
    private var closeDeadline: MonotonicTime?

    init(client: ClientHandle, inbox: ProducerInbox, settings: KafkaProducerSettings, log: (any Log)?) {
        self.client = client
        self.inbox = inbox
        self.settings = settings
        self.log = log
    }

    func run() {
        while !isOver {
            for command in inbox.takeCommands() { perform(command) }
            while let first = waiting.first {
                guard handOver(first) else { break }
                waiting.removeFirst()
            }
            unsafe rd_kafka_poll(client.pointer, waiting.isEmpty ? Self.turnTime : 5)
            var isFatal = false
            for event in client.context.takeEvents() {
                switch event {
                case .delivered(let tag, let code):
                    batches.settle(tag, failure: code.isSuccess ? nil : code.error(during: "produce"))
                case .problem(let code, _): isFatal = isFatal || code.code == RD_KAFKA_RESP_ERR__FATAL
                case .assigned, .revoked, .committed: break
                }
            }
            if isFatal { replaceClient() }
        }
        batches.failAll(ProducerInbox.closed)
        inbox.end()
        for closer in closers { closer.resume() }
    }

    private var isOver: Bool {
        guard let closeDeadline else { return false }
        return unsafe (waiting.isEmpty && rd_kafka_outq_len(client.pointer) == 0) || clock.uptime() >= closeDeadline
    }

    private func perform(_ command: ProducerInbox.Command) {
        switch command {
        case .publish(let records, let topic, let caller):
            guard closeDeadline == nil else { return command.answerClosed() }
            waiting.append(
                Waiting(batch: batches.add(count: records.count, for: caller), records: records, topic: topic))
        case .close(let caller):
            if let caller { closers.append(caller) }
            closeDeadline = closeDeadline ?? clock.uptime().advanced(by: settings.closeTimeout)
        }
    }

    /// Returns whether every record of the batch has been handed over or refused; else the queue was full.
    private func handOver(_ batch: Waiting) -> Bool {
        for index in batch.next..<batch.records.count {
            let tag = BatchTracker.RecordTag(batch: batch.batch, index: index)
            let code = produce(batch.records[index], to: batch.topic, tag: tag)
            if code?.code == RD_KAFKA_RESP_ERR__QUEUE_FULL {
                waiting[0].next = index
                return false
            }
            if let code { batches.settle(tag, failure: code.error(during: "produce")) }
        }
        return true
    }

    /// Hands one record over, copied; nil when the client took it, and then its delivery report follows.
    private func produce(_ record: OutgoingRecord, to topic: String, tag: BatchTracker.RecordTag) -> KafkaCode? {
        let headers = unsafe Self.headers(record.headers)
        let code = unsafe topic.withCString { name in
            unsafe Self.withBytes(record.key) { key in
                unsafe Self.withBytes(record.value) { value in
                    var arguments: [rd_kafka_vu_t] = unsafe []
                    unsafe arguments.reserveCapacity(6)
                    unsafe arguments.append(Self.argument(RD_KAFKA_VTYPE_TOPIC) { unsafe $0.cstr = name })
                    unsafe arguments.append(
                        Self.argument(RD_KAFKA_VTYPE_MSGFLAGS) { unsafe $0.i = RD_KAFKA_MSG_F_COPY })
                    unsafe arguments.append(
                        Self.argument(RD_KAFKA_VTYPE_KEY) { unsafe $0.mem = .init(ptr: key.start, size: key.count) })
                    unsafe arguments.append(
                        Self.argument(RD_KAFKA_VTYPE_VALUE) {
                            unsafe $0.mem = .init(ptr: value.start, size: value.count)
                        })
                    unsafe arguments.append(
                        Self.argument(RD_KAFKA_VTYPE_OPAQUE) {
                            unsafe $0.ptr = UnsafeMutableRawPointer(bitPattern: tag.number)
                        })
                    if let headers = unsafe headers {
                        unsafe arguments.append(
                            Self.argument(RD_KAFKA_VTYPE_HEADERS) { unsafe $0.headers = headers })
                    }
                    return unsafe KafkaCode.take(
                        rd_kafka_produceva(client.pointer, arguments, arguments.count))
                }
            }
        }
        // The client takes the headers over only with the record.
        if code != nil, let headers = unsafe headers { unsafe rd_kafka_headers_destroy(headers) }
        return code
    }

    private static func argument(
        _ type: rd_kafka_vtype_t, _ fill: (inout rd_kafka_vu_t.__Unnamed_union_u) -> Void
    ) -> rd_kafka_vu_t {
        var argument = unsafe rd_kafka_vu_t()
        unsafe argument.vtype = type
        unsafe fill(&argument.u)
        return unsafe argument
    }

    private static func headers(_ headers: [RecordHeader]) -> OpaquePointer? {
        guard !headers.isEmpty, let list = unsafe rd_kafka_headers_new(headers.count) else { return nil }
        for header in headers {
            unsafe withBytes(header.value) { value in
                _ = unsafe rd_kafka_header_add(list, header.name, -1, value.start, value.count)
            }
        }
        return unsafe list
    }

    /// Lends bytes as the client wants them: null for nil, and a pointer that is not null for no bytes.
    private static func withBytes<Result>(
        _ bytes: [UInt8]?, _ body: ((start: UnsafeMutableRawPointer?, count: Int)) -> Result
    ) -> Result {
        guard let bytes else { return unsafe body((nil, 0)) }
        guard !bytes.isEmpty else {
            var nothing: UInt8 = 0
            return unsafe withUnsafeMutableBytes(of: &nothing) { unsafe body(($0.baseAddress, 0)) }
        }
        return unsafe bytes.withUnsafeBytes {
            unsafe body((UnsafeMutableRawPointer(mutating: $0.baseAddress), $0.count))
        }
    }

    /// After a fatal error of the idempotent producer the client takes nothing more: a new one takes its place.
    ///
    /// What was on its way is an error to its callers, who publish it again.
    private func replaceClient() {
        unsafe rd_kafka_purge(client.pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        batches.failAll(
            EventLogError(kind: .unreachable, operation: "produce", detail: "the producer had to start again"))
        waiting = []
        guard
            let fresh = try? ClientHandle(
                .producer, properties: settings.clientProperties, context: ClientContext(log: log))
        else { return }
        inbox.use(fresh)
        client = fresh
    }
}
