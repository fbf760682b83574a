import AegisCore
import AegisPorts
import Foundation
import Observability
import Testing

@Suite struct JSONLinesLogTests {
    private let clock = TestClock()
    private let lines = Lines()

    private func makeLog(
        level: LogLevel = .debug, format: JSONLinesLog.Format = .json, sampling: JSONLinesLog.Sampling = .init()
    ) -> JSONLinesLog {
        JSONLinesLog(level: level, format: format, clock: clock, sampling: sampling, sink: lines.sink)
    }

    @Test func `a line is one JSON object with time, level, message and its fields`() {
        makeLog().info(
            "push accepted",
            [
                "event_id": .text("e-1"), "user": .user(UserHash(text: "u9")),
                "device": .device(DeviceHash(text: "d7")),
                "attempts": .number(-3),
            ])
        #expect(
            lines.all == [
                #"{"ts":"2026-11-30T12:00:00.123Z","level":"info","msg":"push accepted","event_id":"e-1","#
                    + #""user":"u9","device":"d7","attempts":-3}"# + "\n"
            ])
    }

    @Test func `only what JSON demands is escaped`() throws {
        let text = "q\" b\\ n\n r\r t\t nul\u{0} esc\u{1b} slash/ é 🎉 \u{2028}\u{7f}"
        makeLog().info("odd", ["text": .text(text)])
        let line = try #require(lines.all.first)
        #expect(line.hasSuffix(#""text":"q\" b\\ n\n r\r t\t nul\u0000 esc\u001b slash/ é 🎉 "# + "\u{2028}\u{7f}\"}\n"))
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["text"] as? String == text)
    }

    @Test func `the text format quotes what could be misread`() {
        makeLog(format: .text).warning(
            "disk is full",
            ["plain": .text("a/b"), "spaced": .text("a b\nERROR x"), "empty": .text(""), "n": .number(4)])
        #expect(
            lines.all == [
                #"2026-11-30T12:00:00.123Z WARNING disk is full plain=a/b spaced="a b\nERROR x" empty="" n=4"# + "\n"
            ])
    }

    @Test func `lines below the level are not written`() {
        let log = makeLog(level: .warning)
        log.debug("a")
        log.info("b")
        log.warning("c")
        log.error("d")
        #expect(lines.all.count == 2)
        #expect(log.level == .warning)
    }

    @Test func `a warning that repeats is written so often a minute and then counted exactly`() {
        let log = makeLog(format: .text, sampling: .init(burst: 3, period: .seconds(60)))
        for _ in 0..<10 { log.warning("APNs refused") }
        log.error("APNs refused")
        #expect(lines.all.count == 4, "three warnings, and the error is another line")
        clock.advance(by: .seconds(60))
        log.info("anything")
        #expect(
            lines.all.dropFirst(4) == [
                #"2026-11-30T12:01:00.123Z WARNING repeated message="APNs refused" count=7"# + "\n",
                "2026-11-30T12:01:00.123Z INFO anything\n",
            ])
        log.warning("APNs refused")
        #expect(lines.all.last?.contains("WARNING APNs refused") == true, "a new minute begins")
    }

    @Test func `information is never withheld`() {
        let log = makeLog(sampling: .init(burst: 1, period: .seconds(60)))
        for _ in 0..<50 { log.info("started") }
        #expect(lines.all.count == 50)
    }

    @Test func `flush tells what is withheld, once`() {
        let log = makeLog(format: .text, sampling: .init(burst: 1, period: .seconds(60)))
        for _ in 0..<5 { log.error("b") }
        for _ in 0..<3 { log.error("a") }
        log.flush()
        log.flush()
        #expect(lines.all.count == 4)
        #expect(lines.all[2].hasSuffix("ERROR repeated message=a count=2\n"))
        #expect(lines.all[3].hasSuffix("ERROR repeated message=b count=4\n"))
    }

    @Test func `lines of many threads stay whole and none is lost`() async {
        let log = makeLog(format: .text)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask { for count in 0..<200 { log.info("line", ["n": .number(Int64(task * 200 + count))]) } }
            }
        }
        let numbers = lines.all.compactMap { $0.split(separator: "=").last }.compactMap { Int($0.dropLast()) }
        #expect(numbers.sorted() == Array(0..<1_600))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
        (Int64.min, "0000-01-01T00:00:00.000Z"),
    ])
    func `a moment is written as RFC 3339`(milliseconds: Int64, text: String) {
        struct Fixed: TimeSource {
            let time: UnixTime
            func now() -> UnixTime { time }
            func uptime() -> MonotonicTime { MonotonicTime(nanoseconds: 0) }
            func sleep(until deadline: MonotonicTime) async throws(CancellationError) { throw CancellationError() }
        }
        let clock = Fixed(time: UnixTime(milliseconds: milliseconds))
        JSONLinesLog(level: .info, format: .text, clock: clock, sink: lines.sink).info("x")
        #expect(lines.all == ["\(text) INFO x\n"])
    }
}
