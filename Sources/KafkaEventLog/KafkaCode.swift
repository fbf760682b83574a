import AegisPorts
import CRDKafka

/// An error code of librdkafka or of a broker.
struct KafkaCode: Hashable, Sendable {
    let raw: Int32

    init(_ code: rd_kafka_resp_err_t) {
        raw = code.rawValue
    }

    /// The code as `error_cb` hands it over.
    init(number: Int32) {
        raw = number
    }

    var code: rd_kafka_resp_err_t { rd_kafka_resp_err_t(rawValue: raw) }

    var isSuccess: Bool { code == RD_KAFKA_RESP_ERR_NO_ERROR }

    var kind: EventLogError.Kind {
        switch code {
        case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__RESOLVE,
            RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
            RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR__QUEUE_FULL, RD_KAFKA_RESP_ERR__RETRY,
            RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
            RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
            RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
            RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
            .unreachable
        case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR__SSL,
            RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
            RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR_SECURITY_DISABLED, RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
            .refused
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
            .unknownTopic
        case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
            RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
            .fenced
        case RD_KAFKA_RESP_ERR__INVALID_ARG, RD_KAFKA_RESP_ERR_INVALID_CONFIG, RD_KAFKA_RESP_ERR_INVALID_GROUP_ID,
            RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT, RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
            .configuration
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: .tooLarge
        default:
            .other
        }
    }

    /// Whether a commit with this answer is tried again until its deadline.
    ///
    /// A fenced one is too: what the group took away is left out of the next try, and the rest belongs to a new generation.
    var allowsAnotherCommit: Bool {
        switch kind {
        case .unreachable, .fenced: true
        case .refused, .unknownTopic, .configuration, .tooLarge, .other: false
        }
    }

    /// Whether it tells of all brokers and not of one among several.
    var concernsAllBrokers: Bool {
        switch code {
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN: true
        default: kind == .refused
        }
    }

    /// The code's name and text, `_TRANSPORT: Local: Broker transport failure`.
    var text: String {
        unsafe String(cString: rd_kafka_err2name(code)) + ": " + String(cString: rd_kafka_err2str(code))
    }

    func error(during operation: String) -> EventLogError {
        EventLogError(kind: kind, operation: operation, detail: text)
    }

    /// Takes over an error object; nil means success.
    static func take(_ error: OpaquePointer?) -> KafkaCode? {
        guard let error = unsafe error else { return nil }
        defer { unsafe rd_kafka_error_destroy(error) }
        return unsafe KafkaCode(rd_kafka_error_code(error))
    }
}
