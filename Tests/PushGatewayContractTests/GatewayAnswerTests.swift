import APNsSender
import APNsSimulator
import AegisCore
import AegisPorts
import Testing

@Suite(.serialized) struct GatewayAnswerTests {
    @Test func `one push goes first, then as many as the peer allows`() async throws {
        let bench = try GatewayBench()
        try await bench.wait(for: "the first window") { bench.windows.last == 1 }
        let answers = try await bench.send(GatewayBench.pushes(0..<500))
        #expect(answers.allSatisfy { $0 == .accepted })
        #expect(bench.windows == [0, 1, 1_000])
        #expect(bench.simulator.stats().refusedStreams == 0)
        await bench.stop()
    }

    @Test func `twenty thousand pushes are each answered once`() async throws {
        let bench = try GatewayBench {
            $0.connections = 2
            // More is handed over at once than the window allows: what waits for its turn must not run out of time.
            $0.requestDeadline = .seconds(60)
        }
        let pushes = try GatewayBench.pushes(0..<20_000)
        for start in stride(from: 0, to: pushes.count, by: 500) {
            bench.gateway.send(Array(pushes[start..<start + 500]))
        }
        try await bench.wait(for: "all answers") { bench.answerCount == 20_000 }
        let answers = bench.answers
        #expect(answers.count == 20_000)
        #expect(answers.values.allSatisfy { $0 == [.accepted] })
        #expect(bench.simulator.stats().accepted == 20_000)
        #expect(bench.simulator.stats().duplicates == 0)
        await bench.stop()
    }

    @Test func `a push arrives with its headers and body as they were given`() async throws {
        let bench = try GatewayBench()
        var push = try GatewayBench.push(7)
        push.expiration = .at(UnixTime(milliseconds: 1_900_000_000_999))
        push.collapseID = "order-7 ü"
        push.priority = .powerAware
        #expect(try await bench.send([push]) == [.accepted])
        let received = try #require(bench.simulator.notifications().first)
        #expect(received.token == push.token.hex)
        #expect(received.header("apns-id") == push.id.description)
        #expect(received.header("apns-expiration") == "1900000000")
        #expect(received.header("apns-collapse-id") == "order-7 ü")
        #expect(received.header("apns-priority") == "5")
        #expect(received.header("apns-push-type") == "alert")
        #expect(received.header("apns-topic") == "com.example.app")
        #expect(received.payload == push.payload)
        await bench.stop()
    }

    @Test func `a 410 comes with its time in milliseconds`() async throws {
        let bench = try GatewayBench()
        let push = try GatewayBench.push(3)
        bench.simulator.setDevice(
            push.token.hex,
            DeviceScript(status: 410, reason: "Unregistered", timestamp: 1_754_000_000_123))
        let expected = APNsResponse(
            status: 410, reason: APNsReason("Unregistered"),
            timestamp: UnixTime(milliseconds: 1_754_000_000_123))
        #expect(try await bench.send([push]) == [.response(expected)])
        await bench.stop()
    }

    @Test func `retry-after is read from an answer`() async throws {
        let bench = try GatewayBench()
        var faults = Faults()
        faults.status = 503
        faults.reason = "ServiceUnavailable"
        faults.retryAfter = 2
        bench.simulator.setFaults(faults)
        let expected = APNsResponse(
            status: 503, reason: APNsReason("ServiceUnavailable"), retryAfter: .seconds(2))
        #expect(try await bench.send([GatewayBench.push(1)]) == [.response(expected)])
        await bench.stop()
    }

    @Test(arguments: [Faults.Body.split, .empty, .notJSON, .extraKeys])
    func `a body of any shape gives an answer`(body: Faults.Body) async throws {
        let bench = try GatewayBench()
        var faults = Faults()
        faults.status = 400
        faults.reason = "BadTopic"
        faults.body = body
        bench.simulator.setFaults(faults)
        let answer = try await bench.send([GatewayBench.push(1)]).first
        guard case .response(let response)? = answer else {
            Issue.record("no response but \(String(describing: answer))")
            return
        }
        #expect(response.status == 400)
        let hasReason = body == .split || body == .extraKeys
        #expect(response.reason == (hasReason ? APNsReason("BadTopic") : nil))
        await bench.stop()
    }

    @Test func `a push that cannot be a request is unsendable and harms no other`() async throws {
        let bench = try GatewayBench()
        var empty = try GatewayBench.push(1)
        empty.payload = []
        var longCollapse = try GatewayBench.push(2)
        longCollapse.collapseID = String(repeating: "x", count: 65)
        var badTopic = try GatewayBench.push(3)
        badTopic.topic = "com.example\r\napns-priority: 1"
        var longTopic = try GatewayBench.push(4)
        longTopic.topic = String(repeating: "t", count: 8_000)
        var foreign = try GatewayBench.push(5)
        foreign.app = AppKey(app: AppID("com.example.other"), environment: .production)
        let answers = try await bench.send(
            [empty, longCollapse, badTopic, longTopic, foreign, GatewayBench.push(6)])
        for answer in answers.dropLast() {
            guard case .unsendable = answer else {
                Issue.record("\(answer)")
                continue
            }
        }
        #expect(answers.last == .accepted)
        #expect(bench.simulator.stats().accepted == 1)
        await bench.stop()
    }

    @Test(arguments: [1, 2])
    func `each environment has its own host, on one thread or two`(eventLoops: Int) async throws {
        var options = SimulatorOptions()
        options.sandboxPort = 0
        let bench = try GatewayBench(options: options) { $0.eventLoops = eventLoops }
        let pushes = try GatewayBench.pushes(0..<100).map { push in
            var push = push
            if push.ticket % 2 == 1 { push.app = GatewayBench.sandbox }
            return push
        }
        let answers = try await bench.send(pushes)
        #expect(answers.allSatisfy { $0 == .accepted })
        let received = bench.simulator.notifications()
        #expect(received.count == 100)
        for notification in received {
            let isOdd = Int(notification.token.suffix(2), radix: 16).map { $0 % 2 == 1 }
            #expect(isOdd == (notification.environment == .sandbox))
        }
        await bench.stop()
    }

    @Test func `nothing secret is logged`() async throws {
        let bench = try GatewayBench()
        let push = try GatewayBench.push(0xABCDEF, payload: #"{"aps":{"alert":"planted-text"}}"#)
        var faults = Faults()
        faults.goAwayAfter = 1
        bench.simulator.setFaults(faults)
        try await bench.send([push])
        try await bench.wait(for: "a line about the GOAWAY") { bench.log.text.contains("GOAWAY") }
        #expect(!bench.log.text.contains(push.token.hex))
        #expect(!bench.log.text.contains("planted-text"))
        #expect(!bench.log.text.contains("eyJ"))
        await bench.stop()
    }
}
