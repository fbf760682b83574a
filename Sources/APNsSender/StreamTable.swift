import AegisCore
import AegisPorts

/// The requests on one connection, and what nghttp2's callbacks have reported and nobody has read yet.
///
/// The context of the callbacks: ``HTTP2Session`` owns it and outlives them.
final class StreamTable {
    /// How a request ended, before anything is read into it.
    enum End {
        case response(status: Int, body: [UInt8], retryAfter: String?)
        case notProcessed
        case unknown(UnknownFate)
    }

    struct Finished {
        let ticket: UInt64
        let handedOver: MonotonicTime
        let end: End
    }

    struct GoAway {
        let lastStreamID: Int32
        let errorCode: UInt32
        let debugData: [UInt8]
    }

    struct Stream {
        let ticket: UInt64
        let handedOver: MonotonicTime
        var id: Int32 = 0
        var payload: [UInt8]
        var sentBytes = 0
        /// How much the session had written when it came to this request; nil before.
        var outputStart: Int64?
        var status = 0
        var body: [UInt8] = []
        var retryAfter: String?
        var isAnswered = false
    }

    private(set) var slots: [Stream?] = []
    private var free: [Int] = []
    /// Streams that count against the peer's limit: answered ones too, until they are closed.
    private(set) var openCount = 0
    /// Bytes that the session has given out so far.
    var produced: Int64 = 0

    private(set) var finished: [Finished] = []
    var goAways: [GoAway] = []
    var hasSettings = false
    var isPingAcknowledged = false

    func add(_ stream: Stream) -> Int {
        openCount += 1
        if let slot = free.popLast() {
            slots[slot] = stream
            return slot
        }
        slots.append(stream)
        return slots.count - 1
    }

    func remove(_ slot: Int) {
        guard slots.indices.contains(slot), slots[slot] != nil else { return }
        slots[slot] = nil
        free.append(slot)
        openCount -= 1
    }

    func update(_ slot: Int, _ change: (inout Stream) -> Void) {
        guard slots.indices.contains(slot) else { return }
        slots[slot].mutate(change)
    }

    /// Answers a request once; what comes later changes nothing.
    func answer(_ slot: Int, _ end: End) {
        guard slots.indices.contains(slot), let stream = slots[slot], !stream.isAnswered else { return }
        finished.append(Finished(ticket: stream.ticket, handedOver: stream.handedOver, end: end))
        update(slot) {
            $0.isAnswered = true
            $0.payload = []
        }
    }

    /// Answers with the response as far as it has come; false when there is none.
    ///
    /// An interim response (RFC 9110 section 15.2) is none.
    func answerWithResponse(_ slot: Int) -> Bool {
        guard slots.indices.contains(slot), let stream = slots[slot], stream.status >= 200 else { return false }
        answer(slot, .response(status: stream.status, body: stream.body, retryAfter: stream.retryAfter))
        return true
    }

    func takeFinished() -> [Finished] {
        guard !finished.isEmpty else { return [] }
        defer { finished = [] }
        return finished
    }

    /// Answers all that is open when the connection is gone, of whose output the transport took `written` bytes.
    func answerAll(written: Int64) {
        for slot in slots.indices {
            guard let stream = slots[slot], !stream.isAnswered else { continue }
            // The end of an accepted push has no more to tell than its status.
            if stream.status == 200, answerWithResponse(slot) { continue }
            let isUntouched = stream.outputStart.map { $0 >= written } ?? true
            answer(slot, isUntouched ? .notProcessed : .unknown(.connectionLost))
        }
    }

    /// The requests handed over at `limit` or before that have no answer yet.
    func overdue(handedOverUntil limit: MonotonicTime) -> [Int] {
        slots.indices.filter { slot in
            guard let stream = slots[slot] else { return false }
            return !stream.isAnswered && stream.handedOver <= limit
        }
    }
}

extension Optional {
    /// Changes the wrapped value in place.
    fileprivate mutating func mutate(_ change: (inout Wrapped) -> Void) {
        guard var value = take() else { return }
        change(&value)
        self = value
    }
}
