import APNsSimulator
import Runtime

/// A simulator with one provider key and a clock that tests set, stopped when the fixture goes.
final class SimulatorFixture {
    let simulator: APNsSimulator
    let signer: ProviderSigner
    let clock: SetClock
    private var bearers: [Int64: String] = [:]

    init(_ adjust: (inout SimulatorOptions) throws -> Void = { _ in }) throws {
        signer = try ProviderSigner()
        let clock = SetClock()
        self.clock = clock
        var options = SimulatorOptions()
        options.sandboxPort = 0
        options.clock = { clock.milliseconds }
        options.providerKeys = [try signer.providerKey]
        try adjust(&options)
        simulator = try APNsSimulator(options)
    }

    deinit { simulator.stop() }

    func connect(
        _ environment: SimulatedEnvironment = .production, certificate: PushCertificate? = nil
    ) throws -> WireClient {
        let port = environment == .production ? simulator.port : simulator.sandboxPort ?? 0
        return try WireClient(
            TLSConnection(port: port, authority: simulator.certificateAuthorityPEMPath, certificate: certificate))
    }

    /// A token issued so many seconds before now; for one second always the same, as providers share theirs.
    func bearer(age: Int64 = 0) throws -> String {
        let issuedAt = clock.milliseconds / 1000 - age
        if let known = bearers[issuedAt] { return known }
        let made = try signer.bearer(issuedAt: issuedAt)
        bearers[issuedAt] = made
        return made
    }

    /// A connection whose first push was accepted, so that its limit is raised.
    func openConnection(_ environment: SimulatedEnvironment = .production) throws -> WireClient {
        let client = try connect(environment)
        let response = try client.response(try client.push(authorization: try bearer()))
        guard response.status == 200 else { throw TestFailure("the first push was refused") }
        try client.read { client.limits.count >= 2 }
        try client.synchronise()
        return client
    }

    /// Status and reason of one push on a connection of its own.
    func outcome(
        token: String = WireClient.token, topic: String? = "com.example.app", _ extra: [(String, String)] = [],
        payload: [UInt8] = Array(#"{"aps":{"alert":"hi"}}"#.utf8), environment: SimulatedEnvironment = .production
    ) throws -> String {
        let client = try connect(environment)
        let stream = try client.push(
            token: token, authorization: try bearer(), topic: topic, extra, payload: payload)
        return try client.response(stream).outcome
    }
}

/// Wall clock of a simulator under test; starts in 2026.
final class SetClock: Sendable {
    private let value = Lock<Int64>(1_780_000_000_000)

    var milliseconds: Int64 { value.withLock { $0 } }

    func advance(seconds: Int64) {
        value.withLock { $0 += seconds * 1000 }
    }
}

extension WireClient.Response {
    /// `200`, or the status with the reason of the body.
    var outcome: String {
        guard let status else { return "no status" }
        let pieces = text.split(separator: "\"")
        guard let place = pieces.firstIndex(of: "reason"), place + 2 < pieces.count else { return "\(status)" }
        return "\(status) \(pieces[place + 2])"
    }
}
