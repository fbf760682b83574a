import APNsSimulator
import COpenSSL
import Glibc
import Testing

@Suite struct TransportTests {
    @Test func `a client that can only TLS 1-1 is refused, one with 1-2 is served`() throws {
        let fixture = try SimulatorFixture()
        let port = fixture.simulator.port
        let authority = fixture.simulator.certificateAuthorityPEMPath
        #expect(throws: TestFailure.self) {
            try TLSConnection(port: port, authority: authority, highestVersion: TLS1_1_VERSION)
        }
        let client = try WireClient(TLSConnection(port: port, authority: authority, highestVersion: TLS1_2_VERSION))
        #expect(try client.response(client.push(authorization: fixture.bearer())).status == 200)
    }

    @Test func `a client that does not offer h2 is refused`() throws {
        let fixture = try SimulatorFixture()
        let port = fixture.simulator.port
        let authority = fixture.simulator.certificateAuthorityPEMPath
        #expect(throws: TestFailure.self) {
            try TLSConnection(port: port, authority: authority, protocols: ["http/1.1"])
        }
        // Without the extension the handshake itself succeeds, but not a byte of an answer follows.
        let silent = try TLSConnection(port: port, authority: authority, protocols: [])
        #expect(silent.receive() == .endOfFile)
    }

    @Test func `HTTP 1-1 in the clear is closed without a response`() throws {
        let fixture = try SimulatorFixture()
        let socket = try TLSConnection.connect(port: fixture.simulator.port)
        defer { close(socket) }
        let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        #expect(unsafe write(socket, request, request.count) == request.count)
        var byte: UInt8 = 0
        #expect(unsafe read(socket, &byte, 1) <= 0)
        #expect(byte == 0)
    }

    @Test func `a client certificate is asked for but not required`() throws {
        let fixture = try SimulatorFixture()
        let certified = try fixture.connect(certificate: PushCertificate(uid: "com.example.app"))
        // A certificate only arrives where the server requested one.
        #expect(try certified.response(certified.push()).status == 200)
        let bare = try fixture.connect()
        #expect(try bare.response(bare.push(authorization: fixture.bearer())).status == 200)
    }

    @Test func `the first frame is SETTINGS with the values of the real service`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect()
        try client.read { !client.frames.isEmpty }
        let first = try #require(client.frames.first)
        #expect(first.type == WireClient.Kind.settings)
        #expect(first.settings == [1: 4096, 3: 1, 4: 65_535, 5: 16_384, 6: 8000])
    }

    @Test func `INITIAL_WINDOW_SIZE can be left out`() throws {
        let fixture = try SimulatorFixture { $0.omitsInitialWindowSize = true }
        let client = try fixture.connect()
        try client.read { !client.frames.isEmpty }
        #expect(client.frames.first?.settings == [1: 4096, 3: 1, 5: 16_384, 6: 8000])
    }

    @Test func `the stream limit is 1 until the first 200 and 1000 after it`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect()
        let refused = try client.push(authorization: fixture.bearer(), [("apns-priority", "7")])
        #expect(try client.response(refused).status == 400)
        try client.synchronise()
        #expect(client.limits == [1])
        let accepted = try client.push(authorization: fixture.bearer())
        #expect(try client.response(accepted).status == 200)
        try client.read { client.limits.count == 2 }
        #expect(client.limits == [1, 1000])
        let answer = try #require(client.frames.lastIndex { $0.type == WireClient.Kind.headers })
        let raise = try #require(
            client.frames.lastIndex { $0.type == WireClient.Kind.settings && !$0.isAcknowledgement })
        #expect(answer < raise)
    }

    @Test func `the other observed way is a full limit, dropped to 1 and raised again`() throws {
        let fixture = try SimulatorFixture { $0.streamLimitPolicy = .dropThenRaise }
        let client = try fixture.connect()
        #expect(try client.response(client.push(authorization: fixture.bearer())).status == 200)
        try client.read { client.limits.count == 3 }
        #expect(client.limits == [1000, 1, 1000])
    }

    @Test func `a certificate gets the full limit from the start`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect(certificate: PushCertificate(uid: "com.example.app"))
        try client.read { !client.limits.isEmpty }
        #expect(client.limits == [1000])
        #expect(try client.response(client.push()).status == 200)
        try client.synchronise()
        #expect(client.limits == [1000])
    }

    @Test func `streams beyond the limit are refused and leave no trace in the log`() throws {
        let fixture = try SimulatorFixture()
        var slow = Faults()
        slow.delayMs = 200
        fixture.simulator.setFaults(slow)
        let client = try fixture.connect()
        let first = try client.push(authorization: fixture.bearer())
        let second = try client.push(authorization: fixture.bearer())
        #expect(try client.response(second).resetCode == 7)
        #expect(try client.response(first).status == 200)
        #expect(fixture.simulator.notifications().count == 1)
        #expect(fixture.simulator.stats().refusedStreams == 1)
    }

    @Test func `a strict simulator ends the connection of a client that exceeds a confirmed limit`() throws {
        let fixture = try SimulatorFixture { $0.punishesExcessStreams = true }
        var stalled = Faults()
        stalled.stall = true
        fixture.simulator.setFaults(stalled)
        let client = try fixture.connect()
        try client.synchronise()
        try client.push(authorization: fixture.bearer())
        try client.push(authorization: fixture.bearer())
        try client.read { !client.received(WireClient.Kind.goAway).isEmpty }
        #expect(client.received(WireClient.Kind.goAway).first?.goAway.debug == "Maximum active streams violated")
    }

    @Test func `a PING is answered and counted, and left alone when told so`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect()
        try client.send(WireClient.Kind.ping, stream: 0, Array("12345678".utf8))
        try client.read { !client.received(WireClient.Kind.ping).isEmpty }
        let answer = try #require(client.received(WireClient.Kind.ping).first)
        #expect(answer.isAcknowledgement)
        #expect(answer.payload == Array("12345678".utf8))
        #expect(fixture.simulator.stats().pingsReceived == 1)

        var deaf = Faults()
        deaf.ignoresPings = true
        fixture.simulator.setFaults(deaf)
        try client.send(WireClient.Kind.ping, stream: 0, Array("87654321".utf8))
        #expect(try client.response(client.push(authorization: fixture.bearer())).status == 200)
        #expect(client.received(WireClient.Kind.ping).count == 1)
        #expect(fixture.simulator.stats().pingsReceived == 2)
    }

    @Test func `PRIORITY is ignored, padding and CONTINUATION are accepted`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect()
        let stream = client.takeStream()
        try client.send(WireClient.Kind.priority, stream: stream, [0, 0, 0, 0, 15])
        let fields =
            WireClient.pseudoHeaders()
            + [("authorization", try fixture.bearer()), ("apns-topic", "com.example.app")]
        let block = WireClient.encoded(fields)
        // PADDED on HEADERS and DATA; the block goes on in two CONTINUATION frames.
        try client.send(WireClient.Kind.headers, flags: 8, stream: stream, [4] + block.prefix(50) + [0, 0, 0, 0])
        try client.send(WireClient.Kind.continuation, stream: stream, Array(block[50..<100]))
        try client.send(WireClient.Kind.continuation, flags: 4, stream: stream, Array(block[100...]))
        try client.send(WireClient.Kind.data, flags: 9, stream: stream, [3] + Array("{}".utf8) + [0, 0, 0])
        #expect(try client.response(stream).status == 200)
        #expect(fixture.simulator.notifications().first?.payload == Array("{}".utf8))
    }

    @Test func `a header list over 8000 bytes is rejected, one of 8000 passes`() throws {
        let fixture = try SimulatorFixture()
        let base: [(String, String)] =
            WireClient.pseudoHeaders()
            + [("authorization", try fixture.bearer()), ("apns-topic", "com.example.app"), ("x-filling", "")]
        let size = base.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
        for (total, status) in [(8000, 200), (8001, 431)] {
            let client = try fixture.connect()
            let filling = String(repeating: "x", count: total - size)
            let stream = try client.push(authorization: fixture.bearer(), [("x-filling", filling)])
            #expect(try client.response(stream).status == status)
        }
    }

    @Test func `two ports are two environments with disjoint registries`() throws {
        let fixture = try SimulatorFixture { $0.acceptAnyToken = false }
        let token = String(repeating: "0b", count: 32)
        fixture.simulator.registerDevice(token: token, topic: "com.example.app", environment: .sandbox)
        #expect(try fixture.outcome(token: token, environment: .sandbox) == "200")
        #expect(try fixture.outcome(token: token, environment: .production) == "400 BadDeviceToken")
        #expect(fixture.simulator.notifications().map(\.environment) == [.sandbox])
    }

    @Test func `an address in use, a bad host and a bad key are errors at the start`() throws {
        let fixture = try SimulatorFixture()
        let changes: [(inout SimulatorOptions) -> Void] = [
            { options in options.port = UInt16(fixture.simulator.port) },
            { options in options.host = "nowhere.invalid" },
            { options in options.providerKeys = [ProviderKey(keyID: "A", teamID: "B", publicKeyPEM: "none")] },
        ]
        let kinds = changes.map { change -> APNsSimulatorError.Kind? in
            var options = SimulatorOptions()
            change(&options)
            do {
                try APNsSimulator(options).stop()
                return nil
            } catch let error as APNsSimulatorError {
                return error.kind
            } catch {
                return nil
            }
        }
        #expect(kinds == [APNsSimulatorError.Kind.socket, .options, .options])
    }

    @Test func `stopping ends connections and removes the certificate`() throws {
        let fixture = try SimulatorFixture()
        let path = fixture.simulator.certificateAuthorityPEMPath
        let client = try fixture.connect()
        try client.synchronise()
        #expect(unsafe access(path, F_OK) == 0)
        fixture.simulator.stop()
        #expect(try client.readToEnd() != .timeout)
        #expect(unsafe access(path, F_OK) != 0)
        #expect(fixture.simulator.stats().connectionsOpen == 0)
    }
}
