/// Which device tokens exist, for which topic, in which environment, and what some of them answer.
struct DeviceRegistry {
    private struct RateWindow {
        var start: Int64
        var pushes: Int
    }

    private struct Address: Hashable {
        let environment: SimulatedEnvironment
        let token: String
    }

    /// The topics of each token; a token of the other environment is simply not here.
    private var topics: [Address: Set<String>] = [:]
    private var scripts: [String: DeviceScript] = [:]
    private var windows: [Address: RateWindow] = [:]

    static func key(_ token: ArraySlice<UInt8>) -> String {
        unsafe String(unsafeUninitializedCapacity: token.count) { buffer in
            var count = 0
            for byte in token {
                let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
                unsafe buffer[count] = isUpper ? byte | 0x20 : byte
                count += 1
            }
            return count
        }
    }

    static func key(_ token: String) -> String {
        key(Array(token.utf8)[...])
    }

    /// A registration after the moment at which the token was found invalid makes it valid again.
    mutating func register(_ token: String, topic: String, environment: SimulatedEnvironment, at now: Int64) {
        let key = Self.key(token)
        topics[Address(environment: environment, token: key), default: []].insert(topic)
        if let script = scripts[key], script.status == 410, now >= script.timestamp ?? .min { scripts[key] = nil }
    }

    mutating func setScript(_ script: DeviceScript?, for token: String) {
        scripts[Self.key(token)] = script
    }

    mutating func removeAll() {
        self = DeviceRegistry()
    }

    /// What the device answers to a request that is otherwise in order.
    mutating func verdict(
        on token: ArraySlice<UInt8>, topic: String, environment: SimulatedEnvironment, acceptAny: Bool,
        faults: Faults, at now: Int64
    ) -> Rejection? {
        guard !acceptAny || !scripts.isEmpty || faults.tokenRateLimit != nil else { return nil }
        let address = Address(environment: environment, token: Self.key(token))
        if !acceptAny {
            guard let known = topics[address] else { return .badDeviceToken }
            guard known.contains(topic) else { return .deviceTokenNotForTopic }
        }
        if let limit = faults.tokenRateLimit, exceeds(limit, window: Int64(faults.tokenRateWindowMs), address, at: now)
        {
            return .tooManyRequests
        }
        guard var script = scripts[address.token] else { return nil }
        if let remaining = script.remaining {
            guard remaining > 0 else {
                scripts[address.token] = nil
                return nil
            }
            script.remaining = remaining - 1
            scripts[address.token] = script
        }
        if script.status == 200 { return nil }
        return Rejection(script.status, script.reason, timestamp: script.timestamp)
    }

    private mutating func exceeds(_ limit: Int, window: Int64, _ address: Address, at now: Int64) -> Bool {
        var current = windows[address] ?? RateWindow(start: now, pushes: 0)
        if now - current.start >= window { current = RateWindow(start: now, pushes: 0) }
        current.pushes += 1
        windows[address] = current
        return current.pushes > limit
    }
}
