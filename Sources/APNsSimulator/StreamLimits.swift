/// How many streams one connection may have: what was announced, what the client confirmed, what is due next.
struct StreamLimits {
    private let full: UInt32
    private var cap: UInt32?
    /// The full number is allowed; before that, one stream.
    private var isRaised: Bool
    /// What the newest SETTINGS say.
    private(set) var announced: UInt32
    /// What the client has confirmed; the default of HTTP/2 before that.
    private(set) var acknowledged: UInt32 = .max
    private var unacknowledged: [UInt32]

    /// The limit of the first SETTINGS.
    let first: UInt32
    /// That of a second right behind them.
    let second: UInt32?

    init(options: SimulatorOptions, isCertified: Bool, cap: UInt32?) {
        full = options.maxConcurrentStreams
        self.cap = cap
        let all = min(full, cap ?? .max)
        switch isCertified ? .full : options.streamLimitPolicy {
        case .full:
            (isRaised, first, second) = (true, all, nil)
        case .raiseAfterFirstSuccess:
            (isRaised, first, second) = (false, min(1, all), nil)
        case .dropThenRaise:
            (isRaised, first, second) = (false, all, min(1, all))
        }
        announced = second ?? first
        unacknowledged = [first] + (second.map { [$0] } ?? [])
    }

    mutating func acknowledge() {
        guard !unacknowledged.isEmpty else { return }
        acknowledged = unacknowledged.removeFirst()
    }

    mutating func raise() { isRaised = true }

    mutating func drop() { isRaised = false }

    mutating func setCap(_ cap: UInt32?) { self.cap = cap }

    /// The limit to announce now, if it is another than the last.
    mutating func takeDue() -> UInt32? {
        let all = min(full, cap ?? .max)
        let due = isRaised ? all : min(1, all)
        guard due != announced else { return nil }
        announced = due
        unacknowledged.append(due)
        return due
    }
}
