/// The system's chance, as a value that has a size: the thread sanitizer faults at an `inout` one that has none.
package struct SystemChance: RandomNumberGenerator, Sendable {
    private var drawn: UInt64 = 0

    package init() {}

    package mutating func next() -> UInt64 {
        drawn &+= 1
        return .random(in: .min ... .max)
    }
}
