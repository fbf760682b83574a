import Runtime

/// The wish to end: asked for once, awaited by whoever has to stop.
final class Termination: Sendable {
    private struct State {
        var isRequested = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// - Returns: false when it was requested before.
    func request() -> Bool {
        let (isFirst, waiters) = state.withLock { state in
            defer {
                state.isRequested = true
                state.waiters = []
            }
            return (!state.isRequested, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return isFirst
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isRequested = state.withLock { state in
                if !state.isRequested { state.waiters.append(continuation) }
                return state.isRequested
            }
            if isRequested { continuation.resume() }
        }
    }
}
