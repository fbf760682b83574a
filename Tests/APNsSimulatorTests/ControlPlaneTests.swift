import APNsSimulator
import Foundation
import Glibc
import Testing

@Suite struct ControlPlaneTests {
    private func call(_ method: String, _ path: String, _ body: String = "", port: Int) throws -> (Int, String) {
        let socket = try TLSConnection.connect(port: port)
        defer { close(socket) }
        let request = Array(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                .utf8)
        #expect(unsafe write(socket, request, request.count) == request.count)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var count = unsafe Glibc.read(socket, &buffer, buffer.count)
        while count > 0 {
            received += buffer.prefix(count)
            count = unsafe Glibc.read(socket, &buffer, buffer.count)
        }
        let text = String(decoding: received, as: UTF8.self)
        let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let start = text.range(of: "\r\n\r\n")?.upperBound ?? text.endIndex
        return (status, String(text[start...]))
    }

    private func start() throws -> (fixture: SimulatorFixture, port: Int) {
        let fixture = try SimulatorFixture { $0.controlPort = 0 }
        return (fixture, try #require(fixture.simulator.controlPort))
    }

    @Test func `accepted notifications are listed, filtered and forgotten`() throws {
        let (fixture, port) = try start()
        #expect(try fixture.outcome() == "200")
        #expect(try fixture.outcome(token: "abcd") == "200")
        let (status, text) = try call("GET", "/notifications?token=ABCD", port: port)
        #expect(status == 200)
        let list = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        #expect(list.count == 1)
        #expect(list.first?["token"] as? String == "abcd")
        #expect(list.first?["topic"] as? String == "com.example.app")
        #expect(list.first?["headers"] is [[String]])
        #expect(list.first?["payload"] is [String: Any])
        #expect(try call("DELETE", "/notifications", port: port).0 == 200)
        #expect(try call("GET", "/notifications", port: port).1 == "[]")
        #expect(fixture.simulator.stats().accepted == 2)
    }

    @Test func `a device is scripted and made normal again`() throws {
        let (fixture, port) = try start()
        let body = #"{"status":410,"reason":"Unregistered","timestamp":1780000000123}"#
        #expect(try call("PUT", "/devices/\(WireClient.token)", body, port: port).0 == 200)
        #expect(try fixture.outcome() == "410 Unregistered")
        #expect(try call("DELETE", "/devices/\(WireClient.token)", port: port).0 == 200)
        #expect(try fixture.outcome() == "200")
    }

    @Test func `faults are set, counted and cleared`() throws {
        let (fixture, port) = try start()
        let body = #"""
            {"delay_ms":1,"jitter_ms":1,"status":503,"reason":"ServiceUnavailable","every":1,"count":100,
            "max_concurrent_streams":100,"retry_after":2,"goaway_after":1000,"reset_after":500,"stall":false}
            """#
        #expect(try call("PUT", "/faults", body, port: port).0 == 200)
        #expect(try fixture.outcome() == "503 ServiceUnavailable")
        #expect(try call("DELETE", "/faults", port: port).0 == 200)
        #expect(try fixture.outcome() == "200")
        let (_, text) = try call("GET", "/stats", port: port)
        let stats = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(stats["accepted"] as? Int == 1)
        #expect(stats["connections_opened"] as? Int == 2)
        let responses = try #require(stats["responses"] as? [[String: Any]])
        #expect(responses.map { $0["status"] as? Int } == [200, 503])
    }

    @Test func `connections are ended`() throws {
        let (fixture, port) = try start()
        let client = try fixture.openConnection()
        #expect(try call("DELETE", "/connections", #"{"how":"reset"}"#, port: port).0 == 200)
        #expect(try client.readToEnd() == .reset)
    }

    @Test(arguments: [
        ("PUT", "/faults", "no json", 400), ("PUT", "/faults", #"{"delay":1}"#, 400),
        ("PUT", "/faults", #"{"every":0}"#, 400), ("PUT", "/faults", #"{"status":"503"}"#, 400),
        ("PUT", "/devices/ab", "{}", 400), ("PUT", "/devices/ab", #"{"status":999}"#, 400),
        ("POST", "/stats", "", 405), ("GET", "/other", "", 404),
    ])
    func `what it does not understand is refused`(method: String, path: String, body: String, status: Int) throws {
        let (fixture, port) = try start()
        #expect(try call(method, path, body, port: port).0 == status)
        fixture.simulator.stop()
    }
}
