import AegisCore
import AegisPorts
import Runtime

/// One thread's turn after turn over the lanes it has.
///
/// Made and run by that thread alone.
final class GatewayEventLoop {
    /// The inbox's number with the poller; connections have higher ones.
    static let wakeNumber: UInt64 = 0
    /// A turn at least this often, whatever the deadlines say.
    private static let longestWait = Duration.seconds(60)

    private let context: LoopContext
    private let signals: Mailbox<GatewaySignal>
    private var lanes: [AppKey: AppLane] = [:]
    private var closers: [@Sendable () -> Void] = []
    private var isClosing = false

    init(context: LoopContext, apps: [AppKey], signals: Mailbox<GatewaySignal>) {
        self.context = context
        self.signals = signals
        let now = context.clock.uptime()
        for app in apps {
            guard let endpoint = context.settings.endpoints[app] else { continue }
            lanes[app] = AppLane(key: app, endpoint: endpoint, loop: context, now: now)
        }
    }

    /// Returns once closed.
    func run() {
        var now = context.clock.uptime()
        while !isClosing {
            for lane in lanes.values { lane.turn(at: now) }
            tell()
            let ready = context.poller.wait(milliseconds: wait(from: now))
            now = context.clock.uptime()
            for number in ready {
                if number == Self.wakeNumber {
                    context.inbox.wake.reset()
                } else if let app = context.numbers[number] {
                    lanes[app]?.handleEvent(number, at: now)
                }
            }
            for command in context.inbox.take() { carryOut(command, at: now) }
        }
        for command in context.inbox.close() { carryOut(command, at: now) }
        for lane in lanes.values { lane.close(at: now) }
        tell()
        for closer in closers { closer() }
    }

    private func carryOut(_ command: GatewayInbox.Command, at now: MonotonicTime) {
        switch command {
        case .send(let pushes, let handedOver):
            for push in pushes {
                if let lane = lanes[push.app] {
                    lane.enqueue(push, handedOver: handedOver)
                } else {
                    context.reports.append(
                        PushReport(
                            ticket: push.ticket, answer: .unsendable(reason: "\(push.app) is not configured"),
                            duration: .zero))
                }
            }
        case .reload(let apps):
            for app in apps { lanes[app]?.reload(at: now) }
        case .prepared(let app, let attempt, let result):
            lanes[app]?.prepared(attempt, result, at: now)
        case .close(let closer):
            isClosing = true
            closers.append(closer)
        }
    }

    /// Hands over what the turn brought, in one piece.
    private func tell() {
        guard !context.reports.isEmpty || !context.signals.isEmpty else { return }
        var news: [GatewaySignal] = []
        if !context.reports.isEmpty { news.append(.answered(context.reports)) }
        news.append(contentsOf: context.signals)
        context.reports = []
        context.signals = []
        signals.put(news)
    }

    /// Milliseconds until something is due, rounded up so that it is due then.
    private func wait(from now: MonotonicTime) -> Int32 {
        let deadlines = lanes.values.compactMap { $0.nextDeadline(after: now) }
        let wait = deadlines.min().map { now.duration(to: $0) } ?? Self.longestWait
        let bounded = max(.zero, min(wait, Self.longestWait))
        return bounded == .zero ? 0 : Int32(clamping: bounded.wholeMilliseconds + 1)
    }
}
