import AegisPorts

/// Batches on their way to the broker, each with one caller that waits for all of its records.
///
/// Belongs to the producer's thread.
struct BatchTracker {
    /// One answer a record, in order; nil is an acknowledgement.
    typealias Caller = CheckedContinuation<[EventLogError?], Never>

    /// Names one record of a batch, in a pointer's width: what the client hands back with its delivery report.
    struct RecordTag: Hashable, Sendable {
        /// Zero would be the null pointer, which the client takes for no context; batches count from 1.
        let number: UInt

        init(number: UInt) {
            self.number = number
        }

        init(batch: UInt, index: Int) {
            number = batch << Self.indexBits | UInt(truncatingIfNeeded: index)
        }

        var batch: UInt { number >> Self.indexBits }
        var index: Int { Int(number & (1 << Self.indexBits - 1)) }

        private static let indexBits: UInt = 32
    }

    private enum Answer {
        case awaited
        case acknowledged
        case failed(EventLogError)
    }

    private struct Batch {
        var answers: [Answer]
        var outstanding: Int
        let caller: Caller
    }

    private var batches: [UInt: Batch] = [:]
    private var lastID: UInt = 0

    /// - Parameter count: at least 1.
    mutating func add(count: Int, for caller: Caller) -> UInt {
        lastID &+= 1
        batches[lastID] = Batch(
            answers: Array(repeating: .awaited, count: count), outstanding: count, caller: caller)
        return lastID
    }

    /// A record has its answer; the caller resumes with the last of them.
    mutating func settle(_ tag: RecordTag, failure: EventLogError?) {
        guard batches[tag.batch]?.answers.indices.contains(tag.index) == true else { return }
        batches[tag.batch]?.answers[tag.index] = failure.map { .failed($0) } ?? .acknowledged
        batches[tag.batch]?.outstanding -= 1
        guard let batch = batches[tag.batch], batch.outstanding <= 0 else { return }
        batches[tag.batch] = nil
        Self.resume(batch, awaited: nil)
    }

    /// Whatever has no answer gets this one.
    mutating func failAll(_ error: EventLogError) {
        let all = batches.values
        batches = [:]
        for batch in all { Self.resume(batch, awaited: error) }
    }

    private static func resume(_ batch: Batch, awaited: EventLogError?) {
        batch.caller.resume(
            returning: batch.answers.map { answer in
                switch answer {
                case .awaited: awaited
                case .acknowledged: nil
                case .failed(let error): error
                }
            })
    }
}
