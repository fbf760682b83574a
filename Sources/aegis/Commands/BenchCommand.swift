import AegisCore
import AegisPorts
import Foundation
import Glibc
import KafkaEventLog
import Runtime

/// `aegis bench`: what a delivery costs, stage by stage.
enum BenchCommand: Command {
    static let name = "bench"
    static let summary = "Measures CPU-µs per item of a part: decode, decide, render, plan, store, send, or the whole."
    static let usage = "PART [--events N] [--json]"
    static let options = [
        Option(name: "events", value: "N", help: "Events to run; default 20000, at most 1000000."),
        Option(name: "json", value: nil, help: "One JSON line a case."),
        Option(name: "examples", value: "DIR", help: "Where the samples are; default: examples."),
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let part = arguments.positional.first, arguments.positional.count == 1 else {
            writeError("aegis bench: name one part: decode, decide, render, plan, store, send, pipeline\n")
            return ExitCode.usage
        }
        guard let count = Int(arguments.last("events") ?? "20000"), (1...1_000_000).contains(count) else {
            writeError("aegis bench: --events takes a number from 1 to 1000000\n")
            return ExitCode.usage
        }
        Glibc.signal(SIGPIPE, SIG_IGN)
        let report = BenchReport(isJSON: arguments.has("json"))
        do {
            switch part {
            case "broker": return try await runBroker()
            case "decide":
                report.show(try ContentBench(count: count).decide())
                return ExitCode.success
            case "render":
                report.show(try ContentBench(count: count).render())
                return ExitCode.success
            default: break
            }
            let bench = try await Bench(count: count, examples: arguments.last("examples") ?? "examples")
            defer { bench.stop() }
            switch part {
            case "decode": report.show(try bench.decode())
            case "plan": report.show(try bench.plan())
            case "store": report.show(try await bench.store())
            case "send": report.show(try await bench.send())
            case "pipeline":
                report.show(try bench.decode())
                report.show(try bench.plan())
                report.show(try await bench.store())
                report.show(try await bench.send())
                report.show(try await bench.pipeline())
            default:
                writeError(
                    "aegis bench: no part \"\(part)\"; there are decode, decide, render, plan, store, send, pipeline\n")
                return ExitCode.usage
            }
            return ExitCode.success
        } catch {
            writeError("aegis bench: \(error)\n")
            return ExitCode.failure
        }
    }

    /// The broker of the other parts, in a process of its own so that its work is not counted: until standard input closes.
    private static func runBroker() async throws -> Int32 {
        let cluster = try EmbeddedCluster(topics: [DemoStage.topic: 4, DemoStage.deadLetterTopic: 1])
        print(cluster.brokers)
        fflush(nil)
        while readLine() != nil {}
        cluster.stop()
        return ExitCode.success
    }
}

/// One case's figures.
struct BenchResult {
    var part: String
    var name: String
    var count: Int
    var seconds: Double
    /// User and system time of this process alone.
    var cpuSeconds: Double

    var microsecondsPerItem: Double { count == 0 ? 0 : cpuSeconds * 1_000_000 / Double(count) }
}

struct BenchReport {
    let isJSON: Bool

    func show(_ results: [BenchResult]) {
        for result in results {
            let perSecond = result.seconds > 0 ? Double(result.count) / result.seconds : 0
            if isJSON {
                print(
                    String(
                        format:
                            "{\"bench\":\"%@\",\"case\":\"%@\",\"count\":%d,\"seconds\":%.3f,\"per_second\":%.0f,"
                            + "\"cpu_us_per_item\":%.2f,\"peak_rss_mib\":%.1f}",
                        result.part, result.name, result.count, result.seconds, perSecond,
                        result.microsecondsPerItem, ProcessCost.peakMemory()))
            } else {
                let title = "\(result.part) \(result.name)".padded(to: 22)
                print(
                    title
                        + String(
                            format: "%8d items  %8.3f s  %9.0f /s  %8.2f CPU-µs each  peak %6.1f MiB", result.count,
                            result.seconds, perSecond, result.microsecondsPerItem, ProcessCost.peakMemory()))
            }
        }
        fflush(nil)
    }
}

/// What this process has used so far.
enum ProcessCost {
    static func cpuSeconds() -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// In MiB.
    static func peakMemory() -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_maxrss) / 1_024
    }

    static func measure(
        _ part: String, _ name: String, count: Int, _ body: () async throws -> Void
    ) async rethrows -> BenchResult {
        let clock = SystemClock()
        let cpu = cpuSeconds()
        let began = clock.uptime()
        try await body()
        return BenchResult(
            part: part, name: name, count: count, seconds: began.duration(to: clock.uptime()).seconds,
            cpuSeconds: cpuSeconds() - cpu)
    }

    static func measure(_ part: String, _ name: String, count: Int, _ body: () throws -> Void) rethrows -> BenchResult {
        let clock = SystemClock()
        let cpu = cpuSeconds()
        let began = clock.uptime()
        try body()
        return BenchResult(
            part: part, name: name, count: count, seconds: began.duration(to: clock.uptime()).seconds,
            cpuSeconds: cpuSeconds() - cpu)
    }
}
