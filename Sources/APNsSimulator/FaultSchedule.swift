/// Counts requests against the faults in force and says which one a request meets.
struct FaultSchedule {
    enum Strike {
        case none
        case reject(Rejection)
        case stall
        case resetStream(UInt32)
    }

    let faults: Faults
    private let since: Int64
    private var seen = 0
    private var struck = 0

    init(_ faults: Faults, since: Int64) {
        self.faults = faults
        self.since = since
    }

    /// Called once for each request that passed the checks.
    mutating func next(at now: Int64) -> Strike {
        guard faults.stall || faults.status != nil || faults.streamReset != nil else { return .none }
        if let duration = faults.durationMs, now - since >= Int64(duration) { return .none }
        seen &+= 1
        guard seen % max(1, faults.every) == 0, struck < faults.count ?? .max else { return .none }
        struck &+= 1
        if let code = faults.streamReset { return .resetStream(code) }
        if faults.stall { return .stall }
        guard let status = faults.status else { return .none }
        return .reject(Rejection(status, faults.reason, timestamp: faults.timestamp))
    }

    func delayMs(using generator: inout SeededGenerator) -> Int {
        let jitter = faults.jitterMs > 0 ? Int.random(in: 0...faults.jitterMs, using: &generator) : 0
        return max(0, faults.delayMs) &+ jitter
    }
}
