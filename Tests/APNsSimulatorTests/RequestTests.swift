import APNsSimulator
import Testing

@Suite struct RequestTests {
    @Test func `a method other than POST gets 405 before any authentication`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect()
        #expect(try client.response(client.push(method: "GET", payload: [])).outcome == "405 MethodNotAllowed")
    }

    @Test(arguments: ["/3/devices/abcd", "/2/device/abcd", "/", "/4/broadcasts/apps/com.example.app"])
    func `another path gets 404`(path: String) throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect()
        #expect(try client.response(client.push(path: path)).outcome == "404 BadPath")
    }

    @Test func `a path without a token gets MissingDeviceToken`() throws {
        #expect(try SimulatorFixture().outcome(token: "") == "400 MissingDeviceToken")
    }

    @Test func `without a topic it is MissingTopic, with a malformed one BadTopic`() throws {
        let fixture = try SimulatorFixture()
        #expect(try fixture.outcome(topic: nil) == "400 MissingTopic")
        #expect(try fixture.outcome(topic: "com example") == "400 BadTopic")
    }

    @Test(arguments: [
        ("alert", "com.example.app", "200"),
        ("background", "com.example.app", "200"),
        ("voip", "com.example.app.voip", "200"),
        ("liveactivity", "com.example.app.push-type.liveactivity", "200"),
        ("location", "com.example.app.location-query", "200"),
        ("fileprovider", "com.example.app.pushkit.fileprovider", "200"),
        ("complication", "com.example.app.complication", "200"),
        ("pushtotalk", "com.example.app.voip-ptt", "200"),
        ("widgets", "com.example.app.push-type.widgets", "200"),
        ("controls", "com.example.app.push-type.controls", "200"),
        ("mdm", "com.apple.mgmt.External.1", "200"),
        ("alert", "com.example.app.voip", "400 InvalidPushType"),
        ("voip", "com.example.app", "400 InvalidPushType"),
        ("liveactivity", "com.example.app.push-type.widgets", "400 InvalidPushType"),
        ("Alert", "com.example.app", "400 InvalidPushType"),
        ("telegram", "com.example.app", "400 InvalidPushType"),
    ])
    func `push type and topic suffix must agree`(type: String, topic: String, expected: String) throws {
        #expect(try SimulatorFixture().outcome(topic: topic, [("apns-push-type", type)]) == expected)
    }

    @Test(arguments: [64, 108, 160, 200]) func `tokens of any even length and either case pass`(digits: Int) throws {
        let fixture = try SimulatorFixture()
        let token = String(repeating: "aB", count: digits / 2)
        #expect(try fixture.outcome(token: token) == "200")
        #expect(fixture.simulator.notifications(token: token.uppercased()).map(\.token) == [token.lowercased()])
    }

    @Test(arguments: ["abc", "zz", "<a1b2>", String(repeating: "a", count: 514)])
    func `odd length, other characters and absurd length are BadDeviceToken`(token: String) throws {
        #expect(try SimulatorFixture().outcome(token: token) == "400 BadDeviceToken")
    }

    @Test func `an unknown token is BadDeviceToken, one of another topic DeviceTokenNotForTopic`() throws {
        let fixture = try SimulatorFixture { $0.acceptAnyToken = false }
        #expect(try fixture.outcome() == "400 BadDeviceToken")
        fixture.simulator.registerDevice(token: WireClient.token.uppercased(), topic: "com.example.other")
        #expect(try fixture.outcome() == "400 DeviceTokenNotForTopic")
        fixture.simulator.registerDevice(token: WireClient.token, topic: "com.example.app")
        #expect(try fixture.outcome() == "200")
    }

    @Test func `an unregistered token gets 410 with milliseconds, until it registers again`() throws {
        let fixture = try SimulatorFixture()
        let gone = fixture.clock.milliseconds
        fixture.simulator.setDevice(
            WireClient.token, DeviceScript(status: 410, reason: "Unregistered", timestamp: gone))
        let client = try fixture.connect()
        let response = try client.response(client.push(authorization: fixture.bearer()))
        #expect(response.status == 410)
        #expect(response.text == #"{"reason":"Unregistered","timestamp":\#(gone)}"#)
        fixture.clock.advance(seconds: 1)
        fixture.simulator.registerDevice(token: WireClient.token, topic: "com.example.app")
        #expect(try fixture.outcome() == "200")
    }

    @Test func `an expired token gets 410 with and without timestamp`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.connect()
        for (timestamp, suffix) in [(nil, ""), (Int64(1_779_999_999_999), #","timestamp":1779999999999"#)] {
            fixture.simulator.setDevice(
                WireClient.token, DeviceScript(status: 410, reason: "ExpiredToken", timestamp: timestamp))
            let response = try client.response(client.push(authorization: fixture.bearer()))
            #expect(response.text == #"{"reason":"ExpiredToken"\#(suffix)}"#)
        }
    }

    @Test func `a scripted device is normal again after so many answers`() throws {
        let fixture = try SimulatorFixture()
        fixture.simulator.setDevice(
            WireClient.token, DeviceScript(status: 503, reason: "ServiceUnavailable", remaining: 2))
        let outcomes = try (0..<3).map { _ in try fixture.outcome() }
        #expect(outcomes == ["503 ServiceUnavailable", "503 ServiceUnavailable", "200"])
        #expect(try fixture.outcome(token: "abcd") == "200")
    }

    @Test func `apns-id is echoed, made if absent, and made anew for one that is no UUID`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
        let bearer = try fixture.bearer()
        #expect(try client.response(client.push(authorization: bearer, [("apns-id", id)])).headers["apns-id"] == id)
        let made = try client.response(client.push(authorization: bearer)).headers["apns-id"]
        #expect(made?.utf8.count == 36)
        #expect(made == made?.lowercased())
        let bad = try client.response(client.push(authorization: bearer, [("apns-id", "123")]))
        #expect(bad.outcome == "400 BadMessageId")
        #expect(bad.headers["apns-id"]?.utf8.count == 36)

        var faults = Faults()
        faults.upperCaseAPNsID = true
        fixture.simulator.setFaults(faults)
        let upper = try client.response(client.push(authorization: bearer, [("apns-id", id)]))
        #expect(upper.headers["apns-id"] == id.uppercased())
    }

    @Test func `apns-unique-id comes in the sandbox alone`() throws {
        let fixture = try SimulatorFixture()
        for (environment, isThere) in [(SimulatedEnvironment.sandbox, true), (.production, false)] {
            let client = try fixture.connect(environment)
            let response = try client.response(client.push(authorization: fixture.bearer()))
            #expect((response.headers["apns-unique-id"] != nil) == isThere)
        }
    }

    @Test(arguments: [
        ("0", "200"), ("1780000300", "200"), ("300", "200"), ("soon", "400 BadExpirationDate"),
        ("", "400 BadExpirationDate"), ("1.5", "400 BadExpirationDate"),
        ("99999999999999999999", "400 BadExpirationDate"),
    ])
    func `an expiration is a whole number`(value: String, expected: String) throws {
        #expect(try SimulatorFixture().outcome([("apns-expiration", value)]) == expected)
    }

    @Test(arguments: [
        ("10", "200"), ("5", "200"), ("1", "200"), ("7", "400 BadPriority"), ("", "400 BadPriority"),
        ("05", "400 BadPriority"),
    ])
    func `a priority is 1, 5 or 10`(value: String, expected: String) throws {
        #expect(try SimulatorFixture().outcome([("apns-priority", value)]) == expected)
    }

    @Test func `background with priority 10 is an error whose name can be set`() throws {
        let headers = [("apns-push-type", "background"), ("apns-priority", "10")]
        #expect(try SimulatorFixture().outcome(headers) == "400 BadPriority")
        let named = try SimulatorFixture { $0.backgroundPriorityReason = "InvalidPushType" }
        #expect(try named.outcome(headers) == "400 InvalidPushType")
        #expect(try SimulatorFixture { $0.backgroundPriorityReason = nil }.outcome(headers) == "200")
    }

    @Test func `a collapse id has at most 64 bytes of UTF-8`() throws {
        let fixture = try SimulatorFixture()
        #expect(try fixture.outcome([("apns-collapse-id", String(repeating: "c", count: 64))]) == "200")
        #expect(try fixture.outcome([("apns-collapse-id", String(repeating: "é", count: 32))]) == "200")
        let long = String(repeating: "é", count: 32) + "c"
        #expect(try fixture.outcome([("apns-collapse-id", long)]) == "400 BadCollapseId")
        #expect(try fixture.outcome([("apns-collapse-id", "")]) == "400 BadCollapseId")
        #expect(try SimulatorFixture { $0.acceptEmptyCollapseID = true }.outcome([("apns-collapse-id", "")]) == "200")
    }

    @Test(arguments: [
        "apns-topic", "apns-id", "apns-priority", "apns-push-type", "apns-expiration", "apns-collapse-id",
    ])
    func `a header that stands twice is DuplicateHeaders`(name: String) throws {
        let values = [
            "apns-topic": "com.example.app", "apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b", "apns-priority": "5",
            "apns-push-type": "alert", "apns-expiration": "0", "apns-collapse-id": "c",
        ]
        let value = try #require(values[name])
        #expect(try SimulatorFixture().outcome(topic: nil, [(name, value), (name, value)]) == "400 DuplicateHeaders")
    }

    @Test func `a payload has from 1 byte to the limit of its push type`() throws {
        let fixture = try SimulatorFixture()
        let voip = [("apns-push-type", "voip")]
        func outcome(_ count: Int, _ headers: [(String, String)] = [], topic: String = "com.example.app") throws
            -> String
        {
            try fixture.outcome(topic: topic, headers, payload: [UInt8](repeating: 0x20, count: count))
        }
        #expect(try outcome(0) == "400 PayloadEmpty")
        #expect(try outcome(1) == "200")
        #expect(try outcome(4096) == "200")
        #expect(try outcome(4097) == "413 PayloadTooLarge")
        #expect(try outcome(5120, voip, topic: "com.example.app.voip") == "200")
        #expect(try outcome(5121, voip, topic: "com.example.app.voip") == "413 PayloadTooLarge")
    }

    @Test func `a success is HEADERS that end the stream, an error is HEADERS and then DATA`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        let good = try client.response(client.push(authorization: fixture.bearer()))
        #expect(good.endedWithHeaders && good.dataFrames == 0)
        let bad = try client.response(client.push(authorization: fixture.bearer(), [("apns-priority", "7")]))
        #expect(!bad.endedWithHeaders && bad.dataFrames == 1)
        #expect(bad.text == #"{"reason":"BadPriority"}"#)
    }

    @Test func `every request is kept verbatim`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        fixture.simulator.clearNotifications()
        let bearer = try fixture.bearer()
        let payload = Array(#"{"aps":{"alert":"Grüße"},"x":"\u0000"}"#.utf8)
        let extra = [("apns-id", "EABEAE54-14a8-11e5-b60b-1697f925ec7b"), ("x-other", "kept")]
        #expect(try client.response(client.push(authorization: bearer, extra, payload: payload)).status == 200)
        _ = try client.response(client.push(authorization: bearer, [("apns-priority", "7")]))
        let accepted = try #require(fixture.simulator.notifications(token: nil).first)
        #expect(fixture.simulator.notifications().count == 1)
        #expect(accepted.payload == payload)
        #expect(accepted.apnsID == "EABEAE54-14a8-11e5-b60b-1697f925ec7b")
        #expect(accepted.topic == "com.example.app")
        #expect(accepted.acceptedAt == fixture.clock.milliseconds)
        #expect(accepted.connection == 1)
        #expect(accepted.answered)
        #expect(accepted.header(":path") == "/3/device/" + WireClient.token)
        #expect(accepted.header("authorization") == bearer)
        #expect(accepted.headers.map(\.name).suffix(2) == ["apns-id", "x-other"])
        #expect(fixture.simulator.requests().map(\.status) == [200, 400])
        #expect(!"\(accepted)".contains(WireClient.token))
    }

    @Test func `an apns-id that was accepted before counts as a duplicate`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        for id in ["eabeae54-14a8-11e5-b60b-1697f925ec7b", "EABEAE54-14A8-11E5-B60B-1697F925EC7B"] {
            let stream = try client.push(authorization: fixture.bearer(), [("apns-id", id)])
            #expect(try client.response(stream).status == 200)
        }
        #expect(fixture.simulator.stats().duplicates == 1)
        #expect(fixture.simulator.stats().accepted == 3)
    }

    @Test func `the same seed makes the same ids`() throws {
        func firstID(seed: UInt64) throws -> String? {
            let fixture = try SimulatorFixture { $0.seed = seed }
            let client = try fixture.connect()
            return try client.response(client.push(authorization: fixture.bearer())).headers["apns-id"]
        }
        #expect(try firstID(seed: 7) == firstID(seed: 7))
        #expect(try firstID(seed: 7) != firstID(seed: 8))
    }
}
