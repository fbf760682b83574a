import AegisCore
import AegisPorts
import AegisTestKit
import Testing

@Suite struct ScriptedGatewayTests {
    private static let app = AppKey(app: AppID("com.example.app"), environment: .production)

    private static func push(_ ticket: UInt64) throws -> Push {
        Push(
            ticket: ticket, app: app, token: try DeviceToken(hex: "0\(ticket)"), id: PushID(high: 0, low: ticket),
            topic: "com.example.app", type: .alert, priority: .immediate, expiration: .absent, collapseID: nil,
            payload: Array("{}".utf8))
    }

    /// Tickets and answers of the signals that are there.
    private static func answers(from gateway: ScriptedGateway) async -> [UInt64: PushAnswer] {
        var answers: [UInt64: PushAnswer] = [:]
        for signal in await gateway.signals() ?? [] {
            guard case .answered(let reports) = signal else { continue }
            for report in reports { answers[report.ticket] = report.answer }
        }
        return answers
    }

    @Test func `a script is used up in order, then all is accepted`() async throws {
        let gateway = ScriptedGateway()
        let token = try DeviceToken(hex: "01")
        gateway.script(token, [.notProcessed, .unknown(.deadline)])
        for expected in [.notProcessed, .unknown(.deadline), .response(APNsResponse(status: 200))] as [PushAnswer] {
            gateway.send([try Self.push(1)])
            #expect(await Self.answers(from: gateway) == [1: expected])
        }
        #expect(gateway.sent.map(\.ticket) == [1, 1, 1])
    }

    @Test func `held answers come when asked for, and on close`() async throws {
        let gateway = ScriptedGateway()
        gateway.holdAnswers()
        gateway.send([try Self.push(1), try Self.push(2), try Self.push(3)])
        #expect(gateway.answerNext() == 1)
        #expect(await Self.answers(from: gateway).keys.sorted() == [1])
        #expect(gateway.waiting.map(\.ticket) == [2, 3])
        await gateway.close()
        #expect(await Self.answers(from: gateway) == [2: .unknown(.connectionLost), 3: .unknown(.connectionLost)])
        let afterClose = await gateway.signals()
        #expect(afterClose?.count == nil)
    }

    @Test func `windows are told first`() async {
        let gateway = ScriptedGateway(windows: [Self.app: 10])
        gateway.setWindow(of: Self.app, to: 0)
        var sizes: [Int] = []
        for signal in await gateway.signals() ?? [] {
            if case .window(Self.app, let size) = signal { sizes.append(size) }
        }
        #expect(sizes == [10, 0])
    }
}
