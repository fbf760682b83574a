/// Runs an actor on one dedicated thread, so that its blocking calls never reach the cooperative pool.
///
/// The thread and its queue live until ``shutDown()``: the actor's owner calls it after the actor's last work.
package final class ThreadExecutor: SerialExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isClosing = false
    }

    private let queue = Condition(Queue())

    /// - Throws: ``ThreadError`` when the system gives no thread.
    package init(name: String) throws(ThreadError) {
        // The thread keeps the executor alive until it is shut down, as jobs run on it by reference.
        _ = try DedicatedThread(name: name) { self.run() }
    }

    private func run() {
        while true {
            let (jobs, isClosing) = queue.waitAndUpdate(until: { !$0.jobs.isEmpty || $0.isClosing }) { queue in
                let taken = queue.jobs
                queue.jobs = []
                return (taken, queue.isClosing)
            }
            for job in jobs {
                unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            }
            if isClosing, jobs.isEmpty { return }
        }
    }

    /// Ends the thread once the jobs enqueued so far have run.
    ///
    /// Nothing may be enqueued afterwards.
    package func shutDown() {
        queue.update { $0.isClosing = true }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        queue.update { $0.jobs.append(unowned) }
    }
}
