import AegisCore
import AegisPorts
import Runtime

/// The requests that are open, and what the library's callbacks need to open another.
final class ExchangeRegistry: Sendable {
    private struct State {
        var open: [UInt64: Exchange] = [:]
        var last: UInt64 = 0
        var isDraining = false
    }

    let router: Router
    let settings: HTTPServerSettings
    let connections: ConnectionTable
    private let state = Lock(State())
    /// Closed once nothing is open after ``drain(limit:)`` began.
    private let drained = Mailbox<Never>()

    init(router: Router, settings: HTTPServerSettings) {
        self.router = router
        self.settings = settings
        connections = ConnectionTable(limit: settings.connectionsBorne)
    }

    var clock: any TimeSource { router.service.clock }

    /// Once draining, no connection may be suspended any more: an open one gets a refusal for its next request.
    func open(method: String, admission: Router.Admission) -> Exchange {
        state.withLock { state in
            let admission =
                state.isDraining ? .refuse(Problem.shuttingDown.response, route: admission.route) : admission
            state.last &+= 1
            let exchange = Exchange(
                number: state.last, method: method, admission: admission, startedAt: clock.uptime(),
                bodyLimit: settings.bodyLimit)
            state.open[state.last] = exchange
            return exchange
        }
    }

    /// The answer is sent, or the connection is gone.
    func close(_ exchange: Exchange, wasSent: Bool) {
        let isLast = state.withLock { state in
            state.open[exchange.number] = nil
            return state.isDraining && state.open.isEmpty
        }
        if isLast { drained.close() }
        log(exchange, wasSent: wasSent)
    }

    /// Waits until nothing is open, up to a limit; then gives up what is left, and waits for that to be sent.
    func drain(limit: Duration) async {
        let isEmpty = state.withLock { state in
            state.isDraining = true
            return state.open.isEmpty
        }
        guard !isEmpty else { return }
        await wait(limit)
        let left = state.withLock { Array($0.open.values) }
        guard !left.isEmpty else { return }
        for exchange in left { exchange.giveUp() }
        await wait(.seconds(1))
    }

    private func wait(_ limit: Duration) async {
        let deadline = clock.uptime().advanced(by: limit)
        await withTaskGroup { group in
            group.addTask { [drained] in _ = await drained.take() }
            group.addTask { [clock] in
                do throws(CancellationError) {
                    try await clock.sleep(until: deadline)
                } catch {
                    return
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// The pattern stands for the path, which may hold a user id.
    private func log(_ exchange: Exchange, wasSent: Bool) {
        let log = router.service.log
        let duration = exchange.startedAt.duration(to: clock.uptime()).wholeMilliseconds
        guard wasSent, let status = exchange.status else {
            log.debug(
                "request given up",
                ["route": .text(exchange.admission.route ?? "none"), "duration_ms": .number(duration)])
            return
        }
        // Probes come every few seconds and say nothing new.
        let level: LogLevel = exchange.admission.isProbe && status < 400 ? .debug : .info
        log.write(
            level, "request",
            [
                "method": .text(exchange.method), "route": .text(exchange.admission.route ?? "none"),
                "status": .number(Int64(status)), "duration_ms": .number(duration),
            ])
    }
}
