import APNsSimulator
import Testing

@Suite struct FaultInjectionTests {
    private func faults(_ adjust: (inout Faults) -> Void) -> Faults {
        var faults = Faults()
        adjust(&faults)
        return faults
    }

    @Test func `a scripted status strikes every n-th request, so many times`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(
            faults {
                $0.status = 503
                $0.reason = "ServiceUnavailable"
                $0.every = 2
                $0.count = 2
                $0.retryAfter = 3
            })
        let responses = try (0..<6).map { _ in try client.response(client.push(authorization: fixture.bearer())) }
        #expect(responses.map(\.status) == [200, 503, 200, 503, 200, 200])
        #expect(responses[1].headers["retry-after"] == "3")
        #expect(responses[0].headers["retry-after"] == nil)
        #expect(fixture.simulator.stats().count(503, "ServiceUnavailable") == 2)
    }

    @Test func `a scripted status without a reason has no body, and passes with its time`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(
            faults {
                $0.status = 500
                $0.durationMs = 5000
            })
        let broken = try client.response(client.push(authorization: fixture.bearer()))
        #expect(broken.status == 500)
        #expect(broken.endedWithHeaders)
        fixture.clock.advance(seconds: 5)
        #expect(try fixture.outcome() == "200")
    }

    @Test(arguments: [
        (Faults.Body.split, #"{"reason":"BadPriority"}"#, 5), (.empty, "", 0),
        (.notJSON, "<html><body>Bad Gateway</body></html>", 1),
        (.unknownReason, #"{"reason":"ReasonFromTheFuture"}"#, 1),
        (.extraKeys, #"{"detail":{"code":[1,null]},"reason":"BadPriority","retriable":false}"#, 1),
    ])
    func `error bodies take every odd shape`(body: Faults.Body, text: String, frames: Int) throws {
        let fixture = try SimulatorFixture()
        fixture.simulator.setFaults(faults { $0.body = body })
        let client = try fixture.connect()
        let response = try client.response(client.push(authorization: fixture.bearer(), [("apns-priority", "7")]))
        #expect(response.status == 400)
        #expect(response.text == text)
        #expect(response.dataFrames == frames)
    }

    @Test func `too many pushes to one token get 429, others do not notice`() throws {
        let fixture = try SimulatorFixture()
        fixture.simulator.setFaults(
            faults {
                $0.tokenRateLimit = 2
                $0.tokenRateWindowMs = 1000
            })
        let outcomes = try (0..<3).map { _ in try fixture.outcome() }
        #expect(outcomes == ["200", "200", "429 TooManyRequests"])
        #expect(try fixture.outcome(token: "abcd") == "200")
        fixture.clock.advance(seconds: 1)
        #expect(try fixture.outcome() == "200")
    }

    @Test func `a stalled request is never answered, later ones are`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(
            faults {
                $0.stall = true
                $0.count = 1
            })
        let stalled = try client.push(authorization: fixture.bearer())
        #expect(try client.response(client.push(authorization: fixture.bearer())).status == 200)
        try client.synchronise()
        #expect(!client.hasAnswer(stalled))
        #expect(fixture.simulator.stats().stalled == 1)
    }

    @Test func `jitter answers out of order`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(faults { $0.jitterMs = 60 })
        let streams = try (0..<30).map { _ in try client.push(authorization: fixture.bearer()) }
        for stream in streams { #expect(try client.response(stream).status == 200) }
        let answered = client.received(WireClient.Kind.headers).map(\.stream).suffix(30)
        #expect(Set(answered) == Set(streams))
        #expect(Array(answered) != streams)
        let arrivals = fixture.simulator.notifications().map(\.arrival)
        #expect(arrivals != arrivals.sorted())
    }

    @Test func `a stream can be reset, refused ones leave no trace`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(
            faults {
                $0.streamReset = 7
                $0.count = 1
            })
        #expect(try client.response(client.push(authorization: fixture.bearer())).resetCode == 7)
        #expect(try client.response(client.push(authorization: fixture.bearer())).status == 200)
        #expect(fixture.simulator.notifications().count == 2)
    }

    @Test func `a lowered limit is announced and refuses the newest open streams`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(faults { $0.delayMs = 300 })
        let streams = try (0..<3).map { _ in try client.push(authorization: fixture.bearer()) }
        try client.synchronise()
        fixture.simulator.setFaults(
            faults {
                $0.maxConcurrentStreams = 1
                $0.refusesExcessStreams = true
            })
        #expect(try client.response(streams[1]).resetCode == 7)
        #expect(try client.response(streams[2]).resetCode == 7)
        #expect(try client.response(streams[0]).status == 200)
        #expect(client.limits == [1, 1000, 1])
        fixture.simulator.clearFaults()
        try client.read { client.limits.count == 4 }
        #expect(client.limits.last == 1000)
    }

    @Test func `rejections lower the limit to 1 until the next 200, a 410 does not`() throws {
        let fixture = try SimulatorFixture { $0.penalties.dropsStreamLimit = true }
        let client = try fixture.openConnection()
        fixture.simulator.setDevice("abcd", DeviceScript(status: 410, reason: "Unregistered"))
        #expect(try client.response(client.push(token: "abcd", authorization: fixture.bearer())).status == 410)
        try client.synchronise()
        #expect(client.limits == [1, 1000])
        #expect(
            try client.response(client.push(authorization: fixture.bearer(), [("apns-priority", "7")])).status == 400)
        try client.read { client.limits.count == 3 }
        #expect(try client.response(client.push(authorization: fixture.bearer())).status == 200)
        try client.read { client.limits.count == 4 }
        #expect(client.limits == [1, 1000, 1, 1000])
    }

    @Test func `bad device tokens end a connection sooner than other rejections, 410 never does`() throws {
        let fixture = try SimulatorFixture { options in
            options.penalties.goAwayAfterRejections = 4
            options.penalties.goAwayAfterBadDeviceTokens = 2
        }
        fixture.simulator.setDevice("abcd", DeviceScript(status: 410, reason: "Unregistered"))
        func answers(_ count: Int, token: String, priority: String) throws -> WireClient {
            let client = try fixture.openConnection()
            for _ in 0..<count {
                let stream = try client.push(
                    token: token, authorization: fixture.bearer(), [("apns-priority", priority)])
                _ = try client.response(stream)
            }
            try client.synchronise()
            return client
        }
        let gone = try answers(6, token: "abcd", priority: "10")
        #expect(gone.received(WireClient.Kind.goAway).isEmpty)
        let others = try answers(3, token: WireClient.token, priority: "7")
        #expect(others.received(WireClient.Kind.goAway).isEmpty)
        let bad = try answers(2, token: "abc", priority: "10")
        try bad.readToEnd()
        #expect(bad.received(WireClient.Kind.goAway).last?.goAway.debug == #"{"reason":"BadDeviceToken"}"#)
    }

    @Test func `a graceful GOAWAY names 2^31-1, then the real stream, and answers what it names`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(
            faults {
                $0.goAwayAfter = 2
                $0.goAwayGraceMs = 100
                $0.delayMs = 300
            })
        let before = try client.push(authorization: fixture.bearer())
        try client.read { client.received(WireClient.Kind.goAway).count == 1 }
        let between = try client.push(authorization: fixture.bearer())
        try client.read { client.received(WireClient.Kind.goAway).count == 2 }
        let after = try client.push(authorization: fixture.bearer())
        #expect(try client.response(before).status == 200)
        #expect(try client.response(between).status == 200)
        #expect(try client.readToEnd() == .endOfFile)
        #expect(!client.hasAnswer(after))
        let goAways = client.received(WireClient.Kind.goAway).map { $0.goAway }
        #expect(goAways.map(\.last) == [UInt32(Int32.max), UInt32(between)])
        #expect(fixture.simulator.notifications().map(\.streamID) == [1, before, between].map { Int($0) })
    }

    @Test func `an abrupt GOAWAY names stream 0 with a reason, comes twice and ends the file`() throws {
        let fixture = try SimulatorFixture()
        fixture.simulator.setFaults(
            faults {
                $0.goAwayAfter = 1
                $0.goAwayMode = .abrupt
                $0.goAwayReason = "BadCertificateEnvironment"
            })
        let client = try fixture.connect()
        let stream = try client.push(authorization: fixture.bearer())
        #expect(try client.readToEnd() == .endOfFile)
        let goAways = client.received(WireClient.Kind.goAway).map { $0.goAway }
        #expect(goAways.map(\.last) == [0, 0])
        #expect(goAways.map(\.code) == [0, 0])
        #expect(goAways.map(\.debug) == [#"{"reason":"BadCertificateEnvironment"}"#, ""])
        #expect(!client.hasAnswer(stream))
        #expect(fixture.simulator.requests().isEmpty)
    }

    @Test func `a reset loses answers of pushes that were delivered`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(
            faults {
                $0.delayMs = 60_000
                $0.resetAfter = 9
                $0.resetDeliveredPercent = 50
            })
        for _ in 0..<8 { try client.push(authorization: fixture.bearer()) }
        #expect(try client.readToEnd() == .reset)
        let unanswered = fixture.simulator.notifications().filter { !$0.answered }
        #expect((1...7).contains(unanswered.count))
        #expect(fixture.simulator.notifications().filter(\.answered).count == 1)
    }

    @Test func `connections can be ended from outside, gracefully, abruptly and by reset`() throws {
        let fixture = try SimulatorFixture()
        let ends = try [ConnectionClosing.graceful, .abrupt, .reset].map { closing in
            let client = try fixture.openConnection()
            fixture.simulator.closeConnections(closing)
            let end = try client.readToEnd()
            return "\(end) \(client.received(WireClient.Kind.goAway).map { $0.goAway.last })"
        }
        #expect(ends == ["endOfFile [2147483647, 1]", "endOfFile [1, 1]", "reset []"])
    }

    @Test(arguments: [true, false]) func `an idle connection is closed, with or without GOAWAY`(saysSo: Bool) throws {
        let fixture = try SimulatorFixture()
        fixture.simulator.setFaults(
            faults {
                $0.idleCloseMs = 50
                $0.idleGoAway = saysSo
            })
        let client = try fixture.connect()
        #expect(try client.readToEnd() == .endOfFile)
        #expect(
            client.received(WireClient.Kind.goAway).map { $0.goAway.debug }
                == (saysSo ? [#"{"reason":"IdleTimeout"}"#] : []))
    }

    @Test func `figures count connections, streams and answers`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.setFaults(faults { $0.delayMs = 100 })
        let streams = try (0..<5).map { _ in try client.push(authorization: fixture.bearer()) }
        for stream in streams { _ = try client.response(stream) }
        let stats = fixture.simulator.stats()
        #expect(stats.accepted == 6)
        #expect(stats.connectionsOpened == 1)
        #expect(stats.connectionsOpen == 1)
        #expect(stats.peakStreams == 5)
    }
}
