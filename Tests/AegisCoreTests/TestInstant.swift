/// A moment of a clock that only tests move, counted from an arbitrary start.
struct TestInstant: InstantProtocol, Sendable {
    var offset: Duration = .zero

    static let start = TestInstant()

    func advanced(by duration: Duration) -> TestInstant { TestInstant(offset: offset + duration) }

    func duration(to other: TestInstant) -> Duration { other.offset - offset }

    static func < (left: TestInstant, right: TestInstant) -> Bool { left.offset < right.offset }

    static func + (instant: TestInstant, duration: Duration) -> TestInstant { instant.advanced(by: duration) }
}
