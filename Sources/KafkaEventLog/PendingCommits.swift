import AegisCore
import AegisPorts

/// Commits whose callers wait: under way, or to be tried again.
///
/// Belongs to the poll thread; told the time.
struct PendingCommits {
    struct Commit {
        let positions: [CommitPosition]
        let caller: CheckedContinuation<EventLogError?, Never>
        let deadline: MonotonicTime
        /// Nil while it is under way.
        var retryAt: MonotonicTime?
        var lastAnswer: KafkaCode?
    }

    private(set) var commits: [UInt: Commit] = [:]
    // Zero would be the null pointer, which the client takes for no context.
    private var lastID: UInt = 0

    mutating func add(
        _ positions: [CommitPosition], for caller: CheckedContinuation<EventLogError?, Never>,
        until deadline: MonotonicTime
    ) -> UInt {
        lastID &+= 1
        commits[lastID] = Commit(positions: positions, caller: caller, deadline: deadline)
        return lastID
    }

    /// The caller's continuation resumes, once: the commit is forgotten.
    mutating func finish(_ id: UInt, _ error: EventLogError?) {
        commits.removeValue(forKey: id)?.caller.resume(returning: error)
    }

    mutating func retry(_ id: UInt, at moment: MonotonicTime, after answer: KafkaCode) {
        commits[id]?.retryAt = moment
        commits[id]?.lastAnswer = answer
    }

    mutating func started(_ id: UInt) {
        commits[id]?.retryAt = nil
    }

    /// Those to try again now; those whose time is over are answered.
    mutating func due(at now: MonotonicTime) -> [UInt] {
        guard !commits.isEmpty else { return [] }
        for (id, commit) in commits where now >= commit.deadline {
            let error =
                commit.lastAnswer?.error(during: "commit")
                ?? EventLogError(kind: .unreachable, operation: "commit", detail: "not acknowledged in time")
            finish(id, error)
        }
        return commits.filter { $0.value.retryAt.map { now >= $0 } ?? false }.map(\.key).sorted()
    }

    mutating func failAll(_ error: EventLogError) {
        for id in Array(commits.keys) { finish(id, error) }
    }
}
