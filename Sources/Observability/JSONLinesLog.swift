package import AegisPorts
import Runtime

/// The service's log: one line for each event that matters to an operator, by default on standard error.
///
/// A warning or an error that repeats is written ``Sampling/burst`` times a ``Sampling/period``; the rest is counted and
/// told in one line, `repeated`, with the exact number, as soon as anything is written after the period, or by ``flush()``.
package final class JSONLinesLog: Log {
    /// How a line looks.
    package enum Format: String, Hashable, Sendable, CaseIterable {
        /// One JSON object a line.
        case json
        /// For eyes: time, level, message, `name=value`.
        case text
    }

    /// How often one message may stand in the log.
    package struct Sampling: Hashable, Sendable {
        package var burst: Int
        package var period: Duration

        package init(burst: Int = 10, period: Duration = .seconds(60)) {
            self.burst = burst
            self.period = period
        }
    }

    private struct Subject: Hashable {
        let level: LogLevel
        let message: String
    }

    private struct Window {
        let start: MonotonicTime
        var written = 0
        var withheld = 0
    }

    package let level: LogLevel
    private let format: Format
    private let clock: any TimeSource
    private let sampling: Sampling
    private let windows = Lock<[Subject: Window]>([:])
    /// Lines of two threads must not mix, and a line longer than a pipe takes at once is written in parts.
    private let output: Lock<@Sendable ([UInt8]) -> Void>

    /// - Parameter sink: gets one whole line with its newline at a time, never two at once.
    package init(
        level: LogLevel, format: Format, clock: any TimeSource, sampling: Sampling = Sampling(),
        sink: @escaping @Sendable ([UInt8]) -> Void = StandardError.write
    ) {
        self.level = level
        self.format = format
        self.clock = clock
        self.sampling = sampling
        output = Lock(sink)
    }

    package func write(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue>) {
        guard level >= self.level else { return }
        let now = clock.uptime()
        let (reports, isWithheld) = windows.withLock { windows in
            let reports = close(&windows, startedBefore: now, by: sampling.period)
            switch level {
            case .debug, .info:
                return (reports, false)
            case .warning, .error:
                let subject = Subject(level: level, message: message)
                var window = windows[subject] ?? Window(start: now)
                let isWithheld = window.written >= sampling.burst
                if isWithheld {
                    window.withheld += 1
                } else {
                    window.written += 1
                }
                windows[subject] = window
                return (reports, isWithheld)
            }
        }
        report(reports)
        guard !isWithheld else { return }
        emit(level, message, fields.map { ($0.key, $0.value) })
    }

    /// Tells what was withheld and not told yet, though its period may not be over: the last act before the process ends.
    package func flush() {
        let now = clock.uptime()
        report(windows.withLock { close(&$0, startedBefore: now, by: .zero) })
    }

    /// Ends the windows that are older than `age` and returns those that withheld something, in a fixed order.
    private func close(
        _ windows: inout [Subject: Window], startedBefore now: MonotonicTime, by age: Duration
    ) -> [(subject: Subject, count: Int)] {
        var closed: [(subject: Subject, count: Int)] = []
        for (subject, window) in windows where window.start.duration(to: now) >= age {
            windows[subject] = nil
            if window.withheld > 0 { closed.append((subject, window.withheld)) }
        }
        return closed.sorted { ($0.subject.level, $0.subject.message) < ($1.subject.level, $1.subject.message) }
    }

    private func report(_ repeated: [(subject: Subject, count: Int)]) {
        for (subject, count) in repeated {
            emit(
                subject.level, "repeated",
                [("message", .text(subject.message)), ("count", .number(Int64(clamping: count)))])
        }
    }

    private func emit(_ level: LogLevel, _ message: String, _ fields: [(String, LogValue)]) {
        var line = LogLine(format: format, time: clock.now(), level: level, message: message)
        for (name, value) in fields { line.append(name, value) }
        let bytes = line.finished()
        output.withLock { $0(bytes) }
    }
}
