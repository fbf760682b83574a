import AegisCore
import AegisPorts
import Runtime

/// A push, and when it was handed over.
struct QueuedPush: Sendable {
    let push: Push
    let handedOver: MonotonicTime
}

/// What other threads ask of an event loop: one wake-up for whatever came together.
final class GatewayInbox: Sendable {
    enum Command: Sendable {
        case send([Push], at: MonotonicTime)
        case reload(Set<AppKey>)
        case prepared(app: AppKey, attempt: UInt64, Result<Resolver.Route, GatewayError>)
        case close(@Sendable () -> Void)
    }

    private struct State {
        var commands: [Command] = []
        var isClosed = false
    }

    private let state = Lock(State())
    let wake: WakeDescriptor

    /// - Throws: ``SystemError`` when the process has no descriptor left.
    init() throws(SystemError) {
        wake = try WakeDescriptor()
    }

    /// False once closed: the command is not carried out.
    @discardableResult
    func put(_ command: Command) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            return (true, state.commands.count == 1)
        }
        if isFirst { wake.signal() }
        return isTaken
    }

    func take() -> [Command] {
        state.withLock { state in
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Takes no more; what is left is the loop's to answer.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}
