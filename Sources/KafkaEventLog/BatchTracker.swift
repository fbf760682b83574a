import AegisPorts

/// Batches on their way to the broker, each with one caller that waits for all of its records.
///
/// Belongs to the producer's thread.
struct BatchTracker {
    typealias Caller = CheckedContinuation<EventLogError?, Never>

    private struct Batch {
        var outstanding: Int
        var failure: EventLogError?
        let caller: Caller
    }

    private var batches: [UInt: Batch] = [:]
    // Zero would be the null pointer, which the client takes for no context.
    private var lastID: UInt = 0

    mutating func add(count: Int, for caller: Caller) -> UInt {
        lastID &+= 1
        batches[lastID] = Batch(outstanding: count, caller: caller)
        return lastID
    }

    /// So many records of a batch have their answer; the caller resumes with the last of them, with the first failure.
    mutating func settle(_ id: UInt, count: Int = 1, failure: EventLogError? = nil) {
        guard var batch = batches[id] else { return }
        batch.outstanding -= count
        batch.failure = batch.failure ?? failure
        batches[id] = batch
        guard batch.outstanding <= 0 else { return }
        batches[id] = nil
        batch.caller.resume(returning: batch.failure)
    }

    mutating func failAll(_ error: EventLogError) {
        for id in Array(batches.keys) { settle(id, count: .max, failure: error) }
    }
}
