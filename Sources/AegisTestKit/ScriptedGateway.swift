package import AegisCore
package import AegisPorts
import Runtime

/// A push gateway in memory: answers as a test has scripted it, and remembers what was sent.
///
/// Answers come at once, or when the test asks for them (``holdAnswers()``). A token without a script, or whose script has
/// run out, is accepted with status 200.
package final class ScriptedGateway: PushGateway {
    private struct State {
        var scripts: [DeviceToken: [PushAnswer]] = [:]
        var sent: [Push] = []
        var waiting: [Push] = []
        var isHolding = false
        var reloaded: [Set<AppKey>] = []
        var isClosed = false
    }

    private let state = Lock(State())
    private let signalBox = Mailbox<GatewaySignal>()

    /// - Parameter windows: told first of all, in the order of the apps' names.
    package init(windows: [AppKey: Int] = [:]) {
        let ordered = windows.sorted { $0.key.description < $1.key.description }
        signalBox.put(ordered.map { GatewaySignal.window($0.key, $0.value) })
    }

    // MARK: - What a test says

    /// The answers to the next pushes to a token, one each.
    package func script(_ token: DeviceToken, _ answers: [PushAnswer]) {
        state.withLock { $0.scripts[token, default: []].append(contentsOf: answers) }
    }

    package func setWindow(of app: AppKey, to size: Int) {
        signalBox.put(.window(app, size))
    }

    /// Tells anything else, an unreachable host for instance.
    package func tell(_ signal: GatewaySignal) {
        signalBox.put(signal)
    }

    /// Keeps answers back from now on.
    package func holdAnswers() {
        state.withLock { $0.isHolding = true }
    }

    /// Answers at once from now on, the pushes that wait first.
    package func releaseAnswers() {
        state.withLock { $0.isHolding = false }
        answerNext(.max)
    }

    /// Answers up to `count` of the pushes that wait, in the order in which they were sent; returns how many.
    @discardableResult
    package func answerNext(_ count: Int = 1) -> Int {
        let reports = state.withLock { state in
            let answered = Array(state.waiting.prefix(max(0, count)))
            state.waiting.removeFirst(answered.count)
            return answered.map { Self.report(on: $0, in: &state) }
        }
        if !reports.isEmpty { signalBox.put(.answered(reports)) }
        return reports.count
    }

    // MARK: - What a test asks

    /// Everything that was sent, in order.
    package var sent: [Push] { state.withLock { $0.sent } }
    /// What was sent and has no answer yet.
    package var waiting: [Push] { state.withLock { $0.waiting } }
    /// The apps of each reload of credentials, in order.
    package var reloaded: [Set<AppKey>] { state.withLock { $0.reloaded } }
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: - The port

    package func send(_ pushes: [Push]) {
        let isHolding = state.withLock { state in
            guard !state.isClosed else { return true }
            state.sent.append(contentsOf: pushes)
            state.waiting.append(contentsOf: pushes)
            return state.isHolding
        }
        if !isHolding { answerNext(.max) }
    }

    package func signals() async -> [GatewaySignal]? {
        await signalBox.take()
    }

    package func reloadCredentials(of apps: Set<AppKey>) {
        state.withLock { $0.reloaded.append(apps) }
    }

    package func close() async {
        let reports = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting.map {
                PushReport(ticket: $0.ticket, answer: .unknown(.connectionLost), duration: .zero)
            }
        }
        if !reports.isEmpty { signalBox.put(.answered(reports)) }
        signalBox.close()
    }

    private static func report(on push: Push, in state: inout State) -> PushReport {
        var answer = PushAnswer.response(APNsResponse(status: 200))
        if let next = state.scripts[push.token]?.first {
            answer = next
            state.scripts[push.token]?.removeFirst()
        }
        return PushReport(ticket: push.ticket, answer: answer, duration: .milliseconds(1))
    }
}
