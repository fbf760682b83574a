package import AegisCore
package import AegisPorts
import Runtime

/// A clock that a test moves.
///
/// Sleepers wake when it passes their deadline.
package final class ManualClock: TimeSource {
    private struct Sleeper {
        let deadline: MonotonicTime
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now: UnixTime
        var uptime = MonotonicTime(nanoseconds: 0)
        var sleepers: [UInt64: Sleeper] = [:]
        var nextID: UInt64 = 0
    }

    private let state: Lock<State>

    package init(now: UnixTime = UnixTime(milliseconds: 1_764_504_000_000)) {
        state = Lock(State(now: now))
    }

    package func now() -> UnixTime { state.withLock { $0.now } }

    package func uptime() -> MonotonicTime { state.withLock { $0.uptime } }

    /// Moves both clocks and wakes whoever's time has come.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            state.uptime = state.uptime.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.uptime }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume(returning: true) }
    }

    /// When the next sleeper wants to wake; nil while nobody sleeps.
    package var nextDeadline: MonotonicTime? {
        state.withLock { $0.sleepers.values.map(\.deadline).min() }
    }

    package func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let slept = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if deadline <= state.uptime { return true }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(returning: false)
        }
        guard slept else { throw CancellationError() }
    }
}
