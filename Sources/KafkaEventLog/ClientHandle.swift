import AegisCore
import AegisPorts
import CRDKafka

/// Owns one `rd_kafka_t *` and the queue its thread polls; destroyed by `deinit`, on the thread that lets go of it last.
///
/// `@unchecked Sendable`: librdkafka's calls may be made from any thread (rdkafka.h, "thread-safe"; INTRODUCTION.md,
/// "Threads and callbacks"); both pointers are never changed.
@safe final class ClientHandle: @unchecked Sendable {
    enum Role: Sendable {
        case consumer
        case producer
    }

    let pointer: OpaquePointer
    /// Where messages, answers and callbacks come in.
    let queue: OpaquePointer
    /// Kept alive for the callbacks.
    let context: ClientContext

    /// - Throws: ``EventLogError`` of kind `configuration`, which names a property and never quotes its value.
    init(
        _ role: Role, properties: [(name: String, value: String)], context: ClientContext
    ) throws(EventLogError) {
        guard let configuration = unsafe rd_kafka_conf_new() else {
            throw EventLogError(kind: .other, operation: "configure", detail: "no memory")
        }
        // The library takes the configuration over only when it makes a client.
        var isOwned = true
        defer { if isOwned { unsafe rd_kafka_conf_destroy(configuration) } }
        for property in properties {
            try unsafe Self.set(property, in: configuration)
        }
        // Log lines come by the queue that is polled too, so that no code of ours runs on a thread of the library's.
        try unsafe Self.set(("log.queue", "true"), in: configuration)
        unsafe rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(context).toOpaque())
        unsafe rd_kafka_conf_set_log_cb(configuration, ClientCallbacks.log)
        unsafe rd_kafka_conf_set_error_cb(configuration, ClientCallbacks.problem)
        switch role {
        case .consumer: unsafe rd_kafka_conf_set_rebalance_cb(configuration, ClientCallbacks.rebalance)
        case .producer: unsafe rd_kafka_conf_set_dr_msg_cb(configuration, ClientCallbacks.delivery)
        }
        var text = [CChar](repeating: 0, count: 512)
        let type = role == .consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER
        guard let client = unsafe rd_kafka_new(type, configuration, &text, text.count) else {
            throw EventLogError(kind: .configuration, operation: "configure", detail: Self.string(text))
        }
        isOwned = false
        unsafe rd_kafka_set_log_queue(client, nil)
        let queue: OpaquePointer?
        switch role {
        case .consumer:
            // Errors and answers come by the queue that is polled.
            unsafe rd_kafka_poll_set_consumer(client)
            unsafe queue = rd_kafka_queue_get_consumer(client)
        case .producer:
            unsafe queue = rd_kafka_queue_get_main(client)
        }
        guard let queue = unsafe queue else {
            unsafe rd_kafka_destroy(client)
            throw EventLogError(kind: .configuration, operation: "configure", detail: "no queue")
        }
        unsafe pointer = client
        unsafe self.queue = queue
        self.context = context
    }

    deinit {
        unsafe rd_kafka_queue_destroy(queue)
        // A consumer was closed before, or could not be within its time: destroying shall not wait for the group again.
        unsafe rd_kafka_destroy_flags(pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
    }

    /// Makes the poll that runs, or else the next one, return at once.
    func wake() {
        unsafe rd_kafka_queue_yield(queue)
    }

    /// Whether a broker answers within `timeout`; blocks as long.
    func isAnswering(within timeout: Duration) -> Bool {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = unsafe rd_kafka_metadata(pointer, 0, nil, &metadata, timeout.clientTimeout)
        if let metadata = unsafe metadata { unsafe rd_kafka_metadata_destroy(metadata) }
        return code == RD_KAFKA_RESP_ERR_NO_ERROR
    }

    private static func set(
        _ property: (name: String, value: String), in configuration: OpaquePointer
    ) throws(EventLogError) {
        var text = [CChar](repeating: 0, count: 512)
        switch unsafe rd_kafka_conf_set(configuration, property.name, property.value, &text, text.count) {
        case RD_KAFKA_CONF_OK:
            return
        case RD_KAFKA_CONF_UNKNOWN:
            throw EventLogError(
                kind: .configuration, operation: "configure", detail: "no property is called \(property.name)")
        default:
            // The library's text quotes the value, which may be a password.
            throw EventLogError(
                kind: .configuration, operation: "configure", detail: "not a value of the property \(property.name)")
        }
    }

    /// The text in a buffer that the library filled.
    static func string(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Duration {
    /// Milliseconds as librdkafka takes them: at least 0, as its negative means for ever.
    var clientTimeout: Int32 {
        max(0, Int32(clamping: wholeMilliseconds))
    }
}
