import AegisPorts
import Runtime

/// A thread for questions to the broker that block, so that the poll thread never waits.
final class QueryThread: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isEnding = false
    }

    private let state: Condition<State>
    private let thread: DedicatedThread

    /// - Throws: ``ThreadError`` when the system gives no thread.
    init() throws(ThreadError) {
        let state = Condition(State())
        self.state = state
        thread = try DedicatedThread(name: "kafka-queries") {
            while true {
                let (jobs, isEnding) = state.waitAndUpdate(until: { !$0.jobs.isEmpty || $0.isEnding }) { state in
                    defer { state.jobs = [] }
                    return (state.jobs, state.isEnding)
                }
                for job in jobs { job() }
                if isEnding, jobs.isEmpty { return }
            }
        }
    }

    func ask(_ job: @escaping @Sendable () -> Void) {
        state.update { $0.jobs.append(job) }
    }

    /// Ends the thread once what was asked is answered, and waits for it; called by one thread, once.
    func end() {
        state.update { $0.isEnding = true }
        thread.join()
    }
}
