import APNsSender
import APNsSimulator
import AegisCore
import AegisPorts
import ProviderToken
import Runtime
import Testing

/// A log that keeps the lines for a test to search.
final class MemoryLog: Log {
    private let lines = Lock<[String]>([])

    var level: LogLevel { .debug }

    func write(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue>) {
        let line =
            "\(level) \(message) " + fields.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        lines.withLock { $0.append(line) }
    }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
}

/// A gateway and the simulator it talks to, with everything the gateway has said.
final class GatewayBench: Sendable {
    static let app = AppKey(app: AppID("com.example.app"), environment: .production)
    static let sandbox = AppKey(app: AppID("com.example.app"), environment: .sandbox)
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"

    let gateway: HTTP2PushGateway
    let simulator: APNsSimulator
    let signer: ES256Signer
    let log: MemoryLog

    private struct Heard {
        var answers: [UInt64: [PushAnswer]] = [:]
        var answerCount = 0
        var windows: [Int] = []
        var unreachable: [GatewayError] = []
        var refused: [APNsReason] = []
        var isClosed = false
    }

    private let heard: Condition<Heard>
    private let reader: Task<Void, Never>

    /// - Parameter adjust: changes the settings, which are quick for tests: back-off from 20 ms.
    init(
        options: SimulatorOptions = SimulatorOptions(), key: P256PrivateKey? = nil,
        adjust: (inout GatewaySettings) -> Void = { _ in }
    ) throws {
        let key = try key ?? P256PrivateKey.generate()
        var options = options
        if options.providerKeys.isEmpty {
            let pem = String(decoding: try key.publicPEM(), as: UTF8.self)
            options.providerKeys = [
                ProviderKey(keyID: Self.keyID, teamID: Self.teamID, publicKeyPEM: pem)
            ]
        }
        let simulator = try APNsSimulator(options)
        let signer = try ES256Signer(key: key, keyID: Self.keyID, teamID: Self.teamID)
        let endpoint = GatewaySettings.Endpoint(
            host: "127.0.0.1", port: UInt16(simulator.port), caFile: simulator.certificateAuthorityPEMPath
        )
        var settings = GatewaySettings(endpoints: [Self.app: endpoint]) { _ in signer }
        if let sandboxPort = simulator.sandboxPort {
            settings.endpoints[Self.sandbox] = GatewaySettings.Endpoint(
                host: "127.0.0.1", port: UInt16(sandboxPort), caFile: simulator.certificateAuthorityPEMPath)
        }
        settings.connections = 1
        settings.requestDeadline = .seconds(30)
        settings.firstBackoff = .milliseconds(20)
        settings.longestBackoff = .milliseconds(200)
        adjust(&settings)
        let log = MemoryLog()
        let gateway = try HTTP2PushGateway(settings: settings, clock: SystemClock(), log: log)
        let heard = Condition(Heard())
        self.simulator = simulator
        self.signer = signer
        self.log = log
        self.gateway = gateway
        self.heard = heard
        reader = Task {
            while let signals = await gateway.signals() {
                heard.update { heard in
                    for signal in signals { Self.note(signal, in: &heard) }
                }
            }
            heard.update { $0.isClosed = true }
        }
    }

    private static func note(_ signal: GatewaySignal, in heard: inout Heard) {
        switch signal {
        case .answered(let reports):
            for report in reports { heard.answers[report.ticket, default: []].append(report.answer) }
            heard.answerCount += reports.count
        case .window(_, let size): heard.windows.append(size)
        case .unreachable(_, let error): heard.unreachable.append(error)
        case .refused(_, let reason): heard.refused.append(reason)
        }
    }

    func stop() async {
        await gateway.close()
        await reader.value
        simulator.stop()
    }

    var windows: [Int] { heard.read { $0.windows } }
    var unreachable: [GatewayError] { heard.read { $0.unreachable } }
    var refused: [APNsReason] { heard.read { $0.refused } }
    var answerCount: Int { heard.read { $0.answerCount } }
    var answers: [UInt64: [PushAnswer]] { heard.read { $0.answers } }

    func answer(to ticket: UInt64) -> PushAnswer? { heard.read { $0.answers[ticket]?.first } }

    /// Waits until `condition` holds, at most 40 seconds.
    func wait(
        for what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(40)
        while !condition() {
            guard ContinuousClock.now < deadline else {
                Issue.record("never happened: \(what)", sourceLocation: sourceLocation)
                throw CancellationError()
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Sends and waits for the answer to each.
    @discardableResult
    func send(_ pushes: [Push], sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> [PushAnswer]
    {
        gateway.send(pushes)
        try await wait(for: "an answer to each push", sourceLocation: sourceLocation) {
            let answers = self.answers
            return pushes.allSatisfy { answers[$0.ticket] != nil }
        }
        let answers = self.answers
        return pushes.compactMap { answers[$0.ticket]?.first }
    }

    /// One accepted push, after which the window is as large as the peer allows.
    func warmUp(expecting window: Int = 1_000) async throws {
        let answers = try await send([try Self.push(1_000_000)])
        #expect(answers == [.accepted])
        try await wait(for: "the full window") { windows.last == window }
    }

    /// A push to a token of its own.
    static func push(_ ticket: UInt64, payload: String = #"{"aps":{"alert":"Hi"}}"#) throws -> Push {
        let digits = String(ticket, radix: 16)
        let token = String(repeating: "0", count: 64 - digits.utf8.count) + digits
        return Push(
            ticket: ticket, app: app, token: try DeviceToken(hex: token),
            id: PushID(high: 0x5000, low: ticket),
            topic: "com.example.app", type: .alert, priority: .immediate, expiration: .absent,
            collapseID: nil,
            payload: Array(payload.utf8))
    }

    static func pushes(_ range: Range<UInt64>) throws -> [Push] {
        try range.map { try push($0) }
    }
}

extension PushAnswer {
    static let accepted = PushAnswer.response(APNsResponse(status: 200))

    var status: Int? {
        if case .response(let response) = self { return response.status }
        return nil
    }
}
