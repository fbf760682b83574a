import AegisCore
import AegisPipeline
import AegisPorts
import Foundation

/// Plays the events one after the other, each to its end, so that badges and order are the same in every run.
struct DemoPlay {
    let scenario: DemoScenario
    let stage: DemoStage

    /// How long an event may take before its rows count as missing.
    private static let patience = Duration.seconds(20)

    func run() async throws -> DemoResult {
        let began = stage.clock.uptime()
        for (index, event) in scenario.events.enumerated() {
            for answer in scenario.answers where answer.beforeEvent != nil && answer.beforeEvent == event.id {
                stage.script(answer)
            }
            try await stage.publish(event)
            await settle(index, rows: max(1, event.expected.count))
        }
        var result = DemoResult(duration: began.duration(to: stage.clock.uptime()), latencies: stage.recorder.latencies)
        for (index, event) in scenario.events.enumerated() {
            result.events.append(
                DemoResult.Event(
                    number: index + 1, about: event.about,
                    rows: compare(stage.recorder.rows(of: index), with: event.expected)))
        }
        for device in scenario.people.flatMap(\.devices) {
            result.hashes[device.installation] = stage.hash(ofToken: device.hexToken)
        }
        return result
    }

    private func settle(_ index: Int, rows: Int) async {
        let deadline = stage.clock.uptime().advanced(by: Self.patience)
        while stage.clock.uptime() < deadline {
            let isIdle = await stage.pipeline.isIdle
            if isIdle, stage.recorder.rows(of: index).count >= rows { return }
            try? await stage.clock.sleep(until: stage.clock.uptime().advanced(by: .milliseconds(2)))
        }
    }

    /// Pairs what happened with what was declared; the order of devices means nothing.
    private func compare(_ actual: [DemoRow], with expected: [DemoRow]) -> [DemoResult.Row] {
        var missing = expected
        var rows: [DemoResult.Row] = []
        for row in actual.sorted(by: { ($0.user, $0.device) < ($1.user, $1.device) }) {
            if let index = missing.firstIndex(of: row) {
                missing.remove(at: index)
                rows.append(DemoResult.Row(row: row, verdict: .asDeclared))
            } else {
                rows.append(DemoResult.Row(row: row, verdict: .unexpected))
            }
        }
        rows.append(contentsOf: missing.map { DemoResult.Row(row: $0, verdict: .missing) })
        return rows
    }
}
