import AegisCore
import AegisPorts
import Runtime

/// A clock that stands until it is moved.
final class TestClock: TimeSource {
    private let elapsed = Lock(Duration.zero)

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }

    func now() -> UnixTime {
        UnixTime(milliseconds: 1_796_040_000_123).advanced(by: elapsed.withLock { $0 })
    }

    func uptime() -> MonotonicTime {
        MonotonicTime(nanoseconds: 5).advanced(by: elapsed.withLock { $0 })
    }

    func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        throw CancellationError()
    }
}

/// The lines a log wrote.
final class Lines: Sendable {
    private let lines = Lock<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var sink: @Sendable ([UInt8]) -> Void {
        { bytes in self.lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
    }
}
