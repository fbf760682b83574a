import AegisCore
import AegisPipeline
import AegisPorts
import Foundation
import Glibc

/// `aegis demo`: the main job on embedded parts, row by row, held against what the samples declare.
enum DemoCommand: Command {
    static let name = "demo"
    static let summary = "Runs the whole service in one process on the sample events and shows each decision and push."
    static let usage = "[--json] [--examples DIR]"
    static let options = [
        Option(name: "json", value: nil, help: "One JSON document instead of the table."),
        Option(name: "examples", value: "DIR", help: "Where the samples are; default: examples."),
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        Glibc.signal(SIGPIPE, SIG_IGN)
        let examples = arguments.last("examples") ?? "examples"
        do {
            let scenario = try DemoScenario(folder: examples + "/demo")
            let stage = try await DemoStage(scenario: scenario, examples: examples)
            let running = Task { await stage.pipeline.run() }
            let play = DemoPlay(scenario: scenario, stage: stage)
            var result = try await play.run()
            await stage.stop()
            await running.value
            result.finish()
            if arguments.has("json") {
                print(result.json())
            } else {
                print(result.table(isColoured: isatty(STDOUT_FILENO) == 1 && getenvIsUnset("NO_COLOR")))
            }
            return result.mismatches == 0 ? ExitCode.success : ExitCode.failure
        } catch {
            writeError("aegis demo: \(error)\n")
            return ExitCode.failure
        }
    }

    private static func getenvIsUnset(_ name: String) -> Bool {
        ProcessInfo.processInfo.environment[name] == nil
    }
}
