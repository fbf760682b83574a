import APNsSender
import APNsSimulator
import AegisCore
import AegisPorts
import Testing

@Suite(.serialized) struct GatewayFaultTests {
    @Test func `a graceful GOAWAY loses nothing and repeats nothing`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        var faults = Faults()
        faults.goAwayAfter = 200
        faults.goAwayMode = .graceful
        faults.count = 1
        bench.simulator.setFaults(faults)
        let answers = try await bench.send(GatewayBench.pushes(0..<1_000))
        let refused = answers.filter { $0 == .notProcessed }.count
        #expect(answers.filter { $0 == .accepted }.count + refused == 1_000)
        // Each accepted one was answered, and what was called not processed never arrived.
        #expect(bench.simulator.stats().accepted == 1_001 - refused)
        try await bench.wait(for: "a new connection") { bench.simulator.stats().connectionsOpened >= 2 }
        #expect(try await bench.send([GatewayBench.push(5_000)]) == [.accepted])
        await bench.stop()
    }

    @Test func `a GOAWAY with a credential reason is told`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        var faults = Faults()
        faults.goAwayAfter = 1
        faults.goAwayMode = .abrupt
        faults.goAwayReason = "BadCertificateEnvironment"
        bench.simulator.setFaults(faults)
        _ = try await bench.send([GatewayBench.push(1)])
        try await bench.wait(for: "the refusal") {
            bench.refused.contains(APNsReason("BadCertificateEnvironment"))
        }
        await bench.stop()
    }

    @Test func `after a TCP reset what was written is unknown`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        var faults = Faults()
        faults.resetAfter = 100
        faults.resetDeliveredPercent = 100
        faults.count = 1
        bench.simulator.setFaults(faults)
        let pushes = try GatewayBench.pushes(0..<400)
        let answers = try await bench.send(pushes)
        #expect(answers.contains(.unknown(.connectionLost)))
        // Whatever arrived was not called unprocessed.
        let arrived = Set(bench.simulator.requests().map(\.token))
        for (push, answer) in zip(pushes, answers) where answer == .notProcessed {
            #expect(!arrived.contains(push.token.hex))
        }
        bench.simulator.clearFaults()
        #expect(try await bench.send([GatewayBench.push(5_000)]) == [.accepted])
        await bench.stop()
    }

    @Test func `a refused stream was not processed, another reset is unknown`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        var faults = Faults()
        faults.streamReset = 7
        bench.simulator.setFaults(faults)
        #expect(try await bench.send([GatewayBench.push(1)]) == [.notProcessed])
        faults.streamReset = 2
        bench.simulator.setFaults(faults)
        #expect(try await bench.send([GatewayBench.push(2)]) == [.unknown(.streamReset)])
        bench.simulator.clearFaults()
        #expect(try await bench.send([GatewayBench.push(3)]) == [.accepted])
        await bench.stop()
    }

    @Test func `a push without an answer ends at its deadline and frees its place`() async throws {
        let bench = try GatewayBench { $0.requestDeadline = .milliseconds(300) }
        try await bench.warmUp()
        var faults = Faults()
        faults.stall = true
        bench.simulator.setFaults(faults)
        #expect(try await bench.send([GatewayBench.push(1)]) == [.unknown(.deadline)])
        bench.simulator.clearFaults()
        #expect(try await bench.send([GatewayBench.push(2)]) == [.accepted])
        await bench.stop()
    }

    @Test func `a connection that does not acknowledge a PING is replaced`() async throws {
        let bench = try GatewayBench {
            $0.pingInterval = .milliseconds(100)
            $0.pingDeadline = .milliseconds(200)
        }
        try await bench.warmUp()
        var faults = Faults()
        faults.ignoresPings = true
        faults.stall = true
        bench.simulator.setFaults(faults)
        #expect(try await bench.send([GatewayBench.push(1)]) == [.unknown(.connectionLost)])
        bench.simulator.clearFaults()
        #expect(try await bench.send([GatewayBench.push(2)]) == [.accepted])
        #expect(bench.simulator.stats().pingsReceived >= 1)
        await bench.stop()
    }

    @Test func `a lowered stream limit is followed`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        var faults = Faults()
        faults.maxConcurrentStreams = 3
        bench.simulator.setFaults(faults)
        try await bench.send(GatewayBench.pushes(0..<10))
        try await bench.wait(for: "the small window") { bench.windows.last == 3 }
        let answers = try await bench.send(GatewayBench.pushes(100..<200))
        #expect(answers.allSatisfy { $0 == .accepted })
        await bench.stop()
    }

    @Test func `a connection without stream ids left is replaced`() async throws {
        let bench = try GatewayBench { $0.lastStreamID = 41 }
        let answers = try await bench.send(GatewayBench.pushes(0..<100))
        #expect(answers.allSatisfy { $0 == .accepted })
        #expect(bench.simulator.stats().connectionsOpened >= 5)
        await bench.stop()
    }

    @Test func `a peer whose certificate is not trusted is unreachable`() async throws {
        let other = try APNsSimulator()
        defer { other.stop() }
        let bench = try GatewayBench {
            $0.endpoints[GatewayBench.app]?.caFile = other.certificateAuthorityPEMPath
        }
        try await bench.wait(for: "the failure") { !bench.unreachable.isEmpty }
        #expect(bench.unreachable.first?.kind == .tls)
        try await bench.wait(for: "several tries") { bench.simulator.stats().failedHandshakes >= 3 }
        // Told once, however often it is tried.
        #expect(bench.unreachable.count == 1)
        #expect(bench.windows == [0])
        await bench.stop()
    }

    @Test func `a host that comes back is connected to again`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        bench.simulator.closeConnections(.reset)
        try await bench.wait(for: "no window") { bench.windows.filter { $0 == 0 }.count == 2 }
        #expect(try await bench.send([GatewayBench.push(1)]) == [.accepted])
        await bench.stop()
    }

    @Test func `closing answers everything`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        var faults = Faults()
        faults.stall = true
        bench.simulator.setFaults(faults)
        bench.gateway.send(try GatewayBench.pushes(0..<2_000))
        try await bench.wait(for: "stalled requests") { bench.simulator.stats().stalled > 0 }
        await bench.stop()
        let answers = bench.answers
        #expect(answers.count == 2_001)
        #expect(answers.values.allSatisfy { $0.count == 1 })
        #expect(answers.values.contains([.unknown(.connectionLost)]))
        // More were sent than the window allowed: those never left.
        #expect(answers.values.contains([.notProcessed]))
    }

    @Test func `reloaded credentials are used on new connections`() async throws {
        let bench = try GatewayBench()
        try await bench.warmUp()
        bench.gateway.reloadCredentials(of: [GatewayBench.app])
        try await bench.wait(for: "a second connection") {
            bench.simulator.stats().connectionsOpened == 2
        }
        #expect(try await bench.send([GatewayBench.push(1)]) == [.accepted])
        await bench.stop()
    }
}
