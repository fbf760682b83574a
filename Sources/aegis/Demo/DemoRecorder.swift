import APNsSimulator
import AegisContent
import AegisCore
import AegisPipeline
import Foundation
import Runtime

/// Turns what the pipeline reports into rows, by the event they belong to.
final class DemoRecorder: PipelineObserver {
    private struct State {
        var rows: [Int: [DemoRow]] = [:]
        /// The event whose decision sent a notification, for the deliveries that follow.
        var senders: [NotificationKey: Int] = [:]
        var latencies: [Double] = []
    }

    private let state = Lock(State())
    private let installations: [String: String]
    private let simulator: APNsSimulator
    /// How far the demo's clock is ahead of Kafka's.
    private let offset: Duration

    /// - Parameter installations: by token.
    init(installations: [String: String], simulator: APNsSimulator, offset: Duration) {
        self.installations = installations
        self.simulator = simulator
        self.offset = offset
    }

    func rows(of event: Int) -> [DemoRow] {
        state.withLock { $0.rows[event] ?? [] }
    }

    /// In milliseconds, from the record's time in Kafka to the answer of APNs, ascending.
    var latencies: [Double] { state.withLock { $0.latencies.sorted() } }

    func saw(_ reports: [PipelineReport]) {
        state.withLock { state in
            for report in reports { add(report, to: &state) }
        }
    }

    private func add(_ report: PipelineReport, to state: inout State) {
        var row = DemoRow()
        switch report {
        case .ignored(let record, let reason):
            row.outcome = "ignored"
            row.reason = reason.rawValue
            state.rows[Int(record.offset), default: []].append(row)
        case .rejected(let record, _, let type, let user, let rejection):
            row.user = user?.text ?? ""
            row.type = type ?? ""
            row.outcome = "dead_letter"
            row.reason = rejection.kind.rawValue
            state.rows[Int(record.offset), default: []].append(row)
        case .decided(let report):
            guard let record = report.record else { return }
            if case .sent = report.outcome {
                state.senders[report.key] = Int(record.offset)
                return
            }
            row.user = report.key.user.text
            row.type = report.type
            row.outcome = report.outcome.name
            row.reason = report.outcome.reason
            state.rows[Int(record.offset), default: []].append(row)
        case .delivered(let result, let key, let type, let reason):
            guard let event = state.senders[key] else { return }
            let planned = result.delivery.planned
            row.user = key.user.text
            row.device = installations[planned.device.registration.token.hex] ?? "?"
            row.type = type
            row.title = planned.rendered.title ?? ""
            row.thread = planned.rendered.threadID ?? ""
            row.level = planned.type == .background ? "" : planned.level.rawValue
            row.outcome = result.outcome.name
            row.badge = badge(of: planned.pushID)
            row.reason = reason ?? (result.attempts > 1 ? "attempt \(result.attempts)" : "")
            state.rows[event, default: []].append(row)
            if result.response != nil {
                state.latencies.append(
                    max(0, (result.endedAt.since(result.delivery.recordedAt) - offset).seconds * 1_000))
            }
        }
    }

    /// What stood in the payload that APNs accepted.
    private func badge(of id: PushID) -> Int? {
        let text = id.description
        let notification = simulator.notifications().last { $0.apnsID.lowercased() == text }
        guard let payload = notification?.payload,
            let root = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        else { return nil }
        return (root["aps"] as? [String: Any])?["badge"] as? Int
    }
}
