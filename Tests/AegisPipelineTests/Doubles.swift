import AegisCore
import AegisPipeline
import AegisPorts
import Runtime

/// The clock of the system, whose wall a test moves ahead.
final class ShiftingClock: TimeSource {
    private let system = SystemClock()
    private let shift = Lock(Duration.zero)

    func advance(by duration: Duration) { shift.withLock { $0 += duration } }

    func now() -> UnixTime { system.now().advanced(by: shift.withLock { $0 }) }
    func uptime() -> MonotonicTime { system.uptime().advanced(by: shift.withLock { $0 }) }

    func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        while uptime() < deadline {
            // In small steps, since the deadline may come nearer by a jump.
            let step = min(uptime().duration(to: deadline), .milliseconds(5))
            try await system.sleep(until: system.uptime().advanced(by: max(.zero, step)))
        }
        if Task.isCancelled { throw CancellationError() }
    }
}

/// Names that are as distinct as what they are made of.
struct PlainDigests: IdentityDigests {
    func pushID(for event: EventIdentity, user: UserID, device: DeviceID) -> PushID {
        PushID(high: Self.sum("\(event)|\(user.text)"), low: UInt64(bitPattern: device.number))
    }

    func collapseID(for event: EventIdentity, user: UserID) -> String { "\(Self.sum("\(event)|\(user.text)"))" }
    func collapseID(fitting text: String) -> String { String(text.prefix(64)) }
    func hash(of user: UserID) -> UserHash { UserHash(text: "user-\(Self.sum(user.text))") }
    func hash(of token: DeviceToken) -> DeviceHash { DeviceHash(text: "device-\(Self.sum(token.hex))") }

    private static func sum(_ text: String) -> UInt64 {
        text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

struct QuietLog: Log {
    let level = LogLevel.error
    func write(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue>) {}
}

final class CountingMeter: Meter {
    private let counts = Lock<[String: Int]>([:])
    private let gauges = Lock<[String: Double]>([:])
    private let sums = Lock<[String: Double]>([:])

    func add(_ amount: Int, to metric: Metric, _ labels: [String]) {
        counts.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))", default: 0] += amount }
    }

    func remove(_ metric: Metric, _ labels: [String]) {
        gauges.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))"] = nil }
    }

    func set(_ value: Double, of metric: Metric, _ labels: [String]) {
        gauges.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))"] = value }
    }

    func observe(_ seconds: [Double], in metric: Metric, _ labels: [String]) {
        let sum = seconds.reduce(0, +)
        sums.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))", default: 0] += sum }
    }

    func gauge(_ metric: Metric, _ labels: String...) -> Double? {
        gauges.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))"] }
    }

    func sum(_ metric: Metric, _ labels: String...) -> Double {
        sums.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))"] ?? 0 }
    }

    func count(_ metric: Metric, _ labels: String...) -> Int {
        counts.withLock { $0["\(metric.rawValue) \(labels.joined(separator: " "))"] ?? 0 }
    }
}

/// Remembers what the pipeline told.
final class Witness: PipelineObserver {
    private let reports = Lock<[PipelineReport]>([])

    func saw(_ reports: [PipelineReport]) { self.reports.withLock { $0 += reports } }

    var all: [PipelineReport] { reports.withLock { $0 } }

    var ends: [DeliveryOutcome] {
        all.compactMap {
            guard case .delivered(let result, _, _, _) = $0 else { return nil }
            return result.outcome
        }
    }

    var decisions: [NotificationReport.Outcome] {
        all.compactMap {
            guard case .decided(let report) = $0 else { return nil }
            return report.outcome
        }
    }
}

/// What ends a process: counts its steps towards the outside, and lets none through once it has blown.
final class Fuse: Sendable {
    enum Step { case pass, applyThenFail, fail }

    private struct State {
        var left: Int
        var appliesLast: Bool
        var isBlown = false
    }

    private let state: Lock<State>

    /// - Parameter appliesLast: whether the step at which it blows takes effect, though nobody hears of it.
    init(steps: Int = .max, appliesLast: Bool = false) {
        state = Lock(State(left: steps, appliesLast: appliesLast))
    }

    var isBlown: Bool { state.withLock { $0.isBlown } }

    func blow() { state.withLock { $0.isBlown = true } }

    func step() -> Step {
        state.withLock { state in
            guard !state.isBlown else { return .fail }
            guard state.left <= 0 else {
                state.left -= 1
                return .pass
            }
            state.isBlown = true
            return state.appliesLast ? .applyThenFail : .fail
        }
    }
}

/// The event log of a process that may end at any step.
struct FusedEventLog: EventLog {
    let log: any EventLog
    let fuse: Fuse

    func signals() async -> [IntakeSignal]? { await log.signals() }
    func setPaused(_ topics: Set<String>) async { await log.setPaused(topics) }

    func commit(_ positions: [CommitPosition]) async throws(EventLogError) {
        let dead = EventLogError(kind: .unreachable, operation: "commit", detail: "the process has ended")
        switch fuse.step() {
        case .pass: try await log.commit(positions)
        case .applyThenFail:
            try await log.commit(positions)
            throw dead
        case .fail: throw dead
        }
    }

    func release(_ assignments: [PartitionAssignment]) async {
        guard !fuse.isBlown else { return }
        await log.release(assignments)
    }

    func lag() async -> [TopicPartition: Int64] { await log.lag() }
    func close() async { await log.close() }
}

/// Dead letters that cannot be published for a while, or whose process ends.
final class FaultyDeadLetters: DeadLetters {
    private let letters: any DeadLetters
    private let fuse: Fuse
    private let isFailing = Lock(false)

    init(_ letters: any DeadLetters, fuse: Fuse) {
        self.letters = letters
        self.fuse = fuse
    }

    func setFailing(_ value: Bool) { isFailing.withLock { $0 = value } }

    func publish(_ batch: [DeadLetter], at now: UnixTime) async -> [EventLogError?] {
        let failure = EventLogError(kind: .other, operation: "produce", detail: "refused")
        let refused: [EventLogError?] = batch.map { _ in failure }
        guard !isFailing.withLock({ $0 }) else { return refused }
        switch fuse.step() {
        case .pass: return await letters.publish(batch, at: now)
        case .applyThenFail:
            _ = await letters.publish(batch, at: now)
            return refused
        case .fail: return refused
        }
    }
}

/// A gateway whose process may end: nothing is sent after that.
struct FusedGateway: PushGateway {
    let gateway: any PushGateway
    let fuse: Fuse

    func send(_ pushes: [Push]) {
        switch fuse.step() {
        case .pass, .applyThenFail: gateway.send(pushes)
        case .fail: break
        }
    }

    func signals() async -> [GatewaySignal]? { await gateway.signals() }
    func reloadCredentials(of apps: Set<AppKey>) { gateway.reloadCredentials(of: apps) }
    func close() async { await gateway.close() }
}
