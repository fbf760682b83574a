import AegisPorts
import CMicroHTTPD
import Runtime

/// One request from its first byte to the last of its answer.
///
///     receiving ── body is whole ──▶ waiting (connection suspended) ── first answer ──▶ answered
///     receiving ── refused ──▶ answered
final class Exchange: Sendable {
    private enum Phase {
        case receiving
        case waiting(SuspendedConnection)
        case answered(Response)
    }

    private struct State {
        var phase = Phase.receiving
        var body: [UInt8] = []
        /// What arrived, kept or not.
        var received = 0
        var task: Task<Void, Never>?
    }

    /// What the server does with a request whose body is whole.
    enum Step {
        case suspended
        case send(Response)
    }

    let number: UInt64
    let method: String
    let admission: Router.Admission
    let startedAt: MonotonicTime
    private let bodyLimit: Int
    private let state = Lock(State())

    init(number: UInt64, method: String, admission: Router.Admission, startedAt: MonotonicTime, bodyLimit: Int) {
        self.number = number
        self.method = method
        self.admission = admission
        self.startedAt = startedAt
        self.bodyLimit = bodyLimit
    }

    /// What a client sends beyond the limit, or to be refused, is read and dropped up to this, so that it reads the answer
    /// rather than a reset connection.
    static let discardLimit = 1_048_576

    /// Takes a part of the body; false ends the connection.
    func receive(_ part: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            state.received += part.count
            switch admission {
            case .perform:
                if state.received <= bodyLimit {
                    unsafe state.body.append(contentsOf: part)
                } else {
                    state.body = []
                }
            case .refuse:
                break
            }
            return state.received <= Self.discardLimit
        }
    }

    /// The body is whole, or the connection was resumed.
    ///
    /// Runs on the library's thread; suspends the connection before the work starts, as it may be done at once.
    func proceed(_ connection: SuspendedConnection) -> Step {
        let call: (Route, Call)? = state.withLock { state in
            switch state.phase {
            case .answered, .waiting:
                return nil
            case .receiving:
                switch admission {
                case .refuse(let response, _):
                    state.phase = .answered(response)
                    return nil
                case .perform(let route, var call):
                    guard state.received <= bodyLimit else {
                        state.phase = .answered(Problem.tooLarge(limit: bodyLimit).response)
                        return nil
                    }
                    call.body = state.body
                    state.body = []
                    connection.suspend()
                    state.phase = .waiting(connection)
                    return (route, call)
                }
            }
        }
        if let (route, call) = call {
            let task = Task {
                do throws(Problem) {
                    self.answer(try await route.handle(call))
                } catch {
                    self.answer(error.response)
                }
            }
            state.withLock { $0.task = task }
            return .suspended
        }
        return state.withLock { state in
            switch state.phase {
            case .receiving, .waiting: .suspended
            case .answered(let response): .send(response)
            }
        }
    }

    /// The first answer counts, and resumes the connection; another changes nothing.
    func answer(_ response: Response) {
        let connection: SuspendedConnection? = state.withLock { state in
            guard case .waiting(let connection) = state.phase else { return nil }
            state.phase = .answered(response)
            return connection
        }
        connection?.resume()
    }

    /// Ends the work, and answers in its place; a request that is still arriving will start none.
    func giveUp() {
        let response = Problem.shuttingDown.response
        let task = state.withLock { state in
            if case .receiving = state.phase { state.phase = .answered(response) }
            return state.task
        }
        task?.cancel()
        answer(response)
    }

    /// For the log; nil while there is none.
    var status: Int? {
        state.withLock { state in
            switch state.phase {
            case .receiving, .waiting: nil
            case .answered(let response): response.status
            }
        }
    }
}

/// A connection on which nothing happens until it is resumed.
///
/// `@unchecked Sendable`: libmicrohttpd lets any thread resume a connection, and frees none while it is suspended; an
/// ``Exchange`` resumes it once.
@safe struct SuspendedConnection: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    func suspend() { unsafe MHD_suspend_connection(handle) }

    func resume() { unsafe MHD_resume_connection(handle) }
}
