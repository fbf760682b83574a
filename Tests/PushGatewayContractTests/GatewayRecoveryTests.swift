import APNsSender
import APNsSimulator
import AegisCore
import AegisPorts
import Glibc
import ProviderToken
import Testing

/// A path that leads to one file and then to another, as a mounted secret does.
private final class SwitchedFile: Sendable {
    private let directory: String
    let path: String

    init(target: String) throws {
        var template = Array("/tmp/aegis-ca-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        path = directory + "/ca.pem"
        point(to: target)
    }

    deinit {
        unsafe unlink(path)
        unsafe rmdir(directory)
    }

    func point(to target: String) {
        unsafe unlink(path)
        unsafe symlink(target, path)
    }
}

@Suite(.serialized) struct GatewayRecoveryTests {
    @Test func `an outage by a wrong certificate ends when the right one is there`() async throws {
        let other = try APNsSimulator()
        defer { other.stop() }
        let authority = try SwitchedFile(target: other.certificateAuthorityPEMPath)
        let bench = try GatewayBench { $0.endpoints[GatewayBench.app]?.caFile = authority.path }
        try await bench.wait(for: "the failure") { bench.unreachable.first?.kind == .tls }
        authority.point(to: bench.simulator.certificateAuthorityPEMPath)
        #expect(try await bench.send([GatewayBench.push(1)]) == [.accepted])
        await bench.stop()
    }

    @Test func `a host that restarts is connected to again`() async throws {
        let authority = try SwitchedFile(target: "/nowhere")
        let bench = try GatewayBench { $0.endpoints[GatewayBench.app]?.caFile = authority.path }
        try await bench.wait(for: "the failure") { bench.unreachable.first?.kind == .configuration }
        authority.point(to: bench.simulator.certificateAuthorityPEMPath)
        try await bench.warmUp()
        let port = UInt16(bench.simulator.port)
        bench.simulator.stop()
        try await bench.wait(for: "no window") { bench.windows.last == 0 }
        var options = SimulatorOptions()
        options.port = port
        options.verifyJWT = false
        let successor = try APNsSimulator(options)
        defer { successor.stop() }
        authority.point(to: successor.certificateAuthorityPEMPath)
        #expect(try await bench.send([GatewayBench.push(1)]) == [.accepted])
        #expect(successor.stats().accepted == 1)
        await bench.stop()
    }

    @Test func `the family that does not answer is passed over`() async throws {
        var options = SimulatorOptions()
        options.serverNames = ["localhost"]
        let bench = try GatewayBench(options: options) { $0.endpoints[GatewayBench.app]?.host = "localhost" }
        #expect(try await bench.send([GatewayBench.push(1)]) == [.accepted])
        await bench.stop()
    }

    @Test func `a certificate for another name is refused`() async throws {
        var options = SimulatorOptions()
        options.host = "127.0.0.2"
        options.serverNames = ["push.example.com"]
        let bench = try GatewayBench(options: options) { $0.endpoints[GatewayBench.app]?.host = "127.0.0.2" }
        try await bench.wait(for: "a word on the connection") {
            !bench.unreachable.isEmpty || bench.windows.contains(1)
        }
        if let error = bench.unreachable.first {
            #expect(error.kind == .tls)
            #expect(error.detail.contains("mismatch"))
        } else {
            Issue.record("connected to a host whose certificate is for another")
        }
        await bench.stop()
    }

    @Test func `a name without an address is unreachable and tried again`() async throws {
        let bench = try GatewayBench { $0.endpoints[GatewayBench.app]?.host = "no-such-host.invalid" }
        try await bench.wait(for: "the failure") { bench.unreachable.first?.kind == .resolve }
        bench.gateway.send([try GatewayBench.push(1)])
        await bench.stop()
        #expect(bench.answer(to: 1) == .notProcessed)
    }

    @Test func `an expired provider token is not minted again within the floor, nor the host stormed`() async throws {
        var options = SimulatorOptions()
        options.clock = {
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000 + 2 * 3_600_000
        }
        let bench = try GatewayBench(options: options) {
            $0.firstBackoff = .milliseconds(100)
            $0.longestBackoff = .seconds(10)
        }
        for ticket in 0..<3 as Range<UInt64> {
            let answers = try await bench.send([GatewayBench.push(ticket)])
            #expect(
                answers == [.response(APNsResponse(status: 403, reason: APNsReason("ExpiredProviderToken")))])
        }
        #expect(bench.signer.mintCount == 1)
        // Each refusal ends a connection, and each further one waits longer: 100, 200, 400 ms.
        #expect(bench.simulator.stats().connectionsOpened <= 4)
        await bench.stop()
    }

    @Test(arguments: [StreamLimitPolicy.raiseAfterFirstSuccess, .dropThenRaise, .full])
    func `whichever way the stream limit comes, it is never exceeded`(policy: StreamLimitPolicy) async throws {
        var options = SimulatorOptions()
        options.streamLimitPolicy = policy
        options.maxConcurrentStreams = 50
        options.punishesExcessStreams = true
        let bench = try GatewayBench(options: options)
        let answers = try await bench.send(GatewayBench.pushes(0..<1_000))
        #expect(answers.allSatisfy { $0 == .accepted })
        #expect(bench.simulator.stats().peakStreams <= 50)
        #expect(bench.simulator.stats().connectionsOpened == 1)
        await bench.stop()
    }

    @Test func `streams refused by a lowered limit were not processed`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        var faults = Faults()
        faults.jitterMs = 3_000
        bench.simulator.setFaults(faults)
        let pushes = try GatewayBench.pushes(0..<200)
        bench.gateway.send(pushes)
        try await bench.wait(for: "the first answers") { bench.simulator.stats().peakStreams >= 200 }
        faults.maxConcurrentStreams = 10
        faults.refusesExcessStreams = true
        bench.simulator.setFaults(faults)
        try await bench.wait(for: "all answers") { bench.answerCount == 201 }
        let answers = pushes.compactMap { bench.answer(to: $0.ticket) }
        let refused = answers.filter { $0 == .notProcessed }.count
        #expect(refused >= 100)
        #expect(answers.filter { $0 == .accepted }.count == 200 - refused)
        #expect(bench.simulator.stats().accepted == 201 - refused)
        await bench.stop()
    }

    @Test func `a limit that stays at one brings another connection`() async throws {
        let bench = try GatewayBench { $0.collapseTolerance = .milliseconds(50) }
        try await bench.warmUp()
        var faults = Faults()
        faults.maxConcurrentStreams = 1
        bench.simulator.setFaults(faults)
        try await bench.send(GatewayBench.pushes(0..<3))
        try await bench.wait(for: "another connection") { bench.simulator.stats().connectionsOpened == 2 }
        #expect(try await bench.send([GatewayBench.push(10)]) == [.accepted])
        await bench.stop()
    }

    @Test func `answers in any order, late, and of large bodies all find their pushes`() async throws {
        let bench = try GatewayBench {
            $0.connections = 3
            $0.requestDeadline = .seconds(60)
        }
        var faults = Faults()
        faults.jitterMs = 30
        bench.simulator.setFaults(faults)
        let text = String(repeating: "x", count: 4_000)
        let pushes = try (0..<2_000 as Range<UInt64>).map { ticket in
            try GatewayBench.push(ticket, payload: #"{"aps":{"alert":"\#(text)"}}"#)
        }
        for push in pushes where push.ticket % 3 == 0 {
            bench.simulator.setDevice(push.token.hex, DeviceScript(status: 410, reason: "Unregistered"))
        }
        let answers = try await bench.send(pushes)
        for (push, answer) in zip(pushes, answers) {
            #expect(answer.status == (push.ticket % 3 == 0 ? 410 : 200))
        }
        #expect(answers.count == 2_000)
        await bench.stop()
    }
}
