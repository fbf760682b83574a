import AegisTestKit
import Foundation
import KafkaEventLog
import Testing

/// The service against a broker and a simulator in other processes.
@Suite(.serialized, .enabled(if: BrokerProcess.part.isToBeTested, "\(BrokerProcess.part.reason)"))
struct ServiceTests {
    private static func order(_ id: String, for user: String) -> String {
        """
        {"id":"\(id)","type":"order_confirmed","occurred_at":"\(Date.now.ISO8601Format())","recipient":"\(user)",\
        "data":{"order_id":"o-\(id)","order_number":"1007"}}
        """
    }

    private func withHarness(
        delivery: String = "{}", topics: [String: Int] = [ServiceHarness.topic: 2, "aegis.dead-letter": 1],
        _ body: (ServiceHarness) async throws -> Void
    ) async throws {
        let harness = try await ServiceHarness(delivery: delivery)
        do {
            if !topics.isEmpty { try await KafkaTopics(brokers: harness.broker.brokers).create(topics) }
            try await body(harness)
        } catch {
            try await harness.remove()
            throw error
        }
        try await harness.remove()
    }

    @Test func `registrations, preferences and the badge change what is sent`() async throws {
        try await withHarness { harness in
            let service = try harness.serve()
            try await harness.waitUntilReady()
            try await harness.registerDevice("anna", "phone", token: String(repeating: "a1", count: 32))

            let published = try await harness.publish([Self.order("e-1", for: "anna")])
            #expect(published.code == 0, "\(published.text)")
            try await Wait.until("the first push arrived", within: .seconds(120)) {
                try await harness.acceptedCount() == 1
            }
            #expect(try await harness.accepted().map(\.badge) == [1])
            #expect(try await harness.accepted().map(\.title) == ["Order confirmed"])

            #expect(
                await harness.call("POST", "/v1/users/anna/opened", body: #"{"app":"com.example.app"}"#).status < 300)
            _ = try await harness.publish([Self.order("e-2", for: "anna"), Self.order("e-1", for: "anna")])
            try await Wait.until("the second push arrived", within: .seconds(120)) {
                try await harness.acceptedCount() == 2
            }
            #expect(try await harness.accepted().last?.badge == 1)

            let off = await harness.call(
                "PUT", "/v1/users/anna/preferences", body: #"{"types":{"order_confirmed":{"enabled":false}}}"#)
            #expect(off.status < 300, "\(off)")
            _ = try await harness.publish([Self.order("e-3", for: "anna")])
            let series = #"aegis_notifications_total{type="order_confirmed",outcome="suppressed",reason="type_off"}"#
            try await Wait.until("it was suppressed", within: .seconds(120)) { await harness.metric(series) == 1 }
            #expect(try await harness.acceptedCount() == 2)

            let explained = try await ChildProgram.run(["explain", "--config", harness.configuration, "e-1"])
            #expect(explained.code == 0, "\(explained.text)")
            #expect(explained.text.contains("accepted 200"))
            #expect(explained.text.contains("repeats    1"))
            #expect(!explained.text.contains("anna"))
            let suppressed = try await ChildProgram.run(
                ["explain", "--config", harness.configuration, "--user", "anna", "--json", "e-3"])
            #expect(suppressed.text.contains(#""why":"type: switched off""#))
            let unknown = try await ChildProgram.run(["explain", "--config", harness.configuration, "e-9"])
            #expect(unknown.code == 3)
            #expect(await harness.metric(#"aegis_opt_outs_total{type="order_confirmed"}"#) == 1)

            let event = harness.folder.appending(path: "event.json").path(percentEncoded: false)
            try Self.order("e-4", for: "anna").write(toFile: event, atomically: true, encoding: .utf8)
            let preview = try await ChildProgram.run(["preview", "--config", harness.configuration, event])
            #expect(preview.code == 0)
            #expect(preview.text.contains("suppressed: type_off"))

            let check = try await ChildProgram.run(["check", "--config", harness.configuration])
            #expect(check.code == 0, "\(check.text)")

            service.signal(SIGTERM)
            #expect(try await service.exitCode() == 0, "\(service.text)")
            let schema = try await ChildProgram.run(["migrate", "--config", harness.configuration, "--status"])
            #expect(schema.code == 0)
            #expect(!schema.text.contains("schema 0"))
            #expect(!service.text.contains(String(repeating: "a1", count: 32)))
        }
    }

    @Test func `SIGHUP takes up a new catalog and refuses a broken one`() async throws {
        try await withHarness { harness in
            let service = try harness.serve()
            try await harness.waitUntilReady()
            try await harness.registerDevice("ben", "phone", token: String(repeating: "b1", count: 32))
            let file = harness.folder.appending(path: "catalog.yaml").path(percentEncoded: false)
            let shipped = try String(contentsOfFile: file, encoding: .utf8)

            try shipped.replacing("title: Order confirmed", with: "title: Thank you").write(
                toFile: file, atomically: true, encoding: .utf8)
            service.signal(SIGHUP)
            try await Wait.until("it was reloaded", within: .seconds(120)) { service.text.contains("were reloaded") }
            _ = try await harness.publish([Self.order("e-1", for: "ben")])
            try await Wait.until("the push arrived", within: .seconds(120)) { try await harness.acceptedCount() == 1 }
            #expect(try await harness.accepted().map(\.title) == ["Thank you"], "\(service.text)")

            try shipped.replacing("priority: critical", with: "priority: dire").write(
                toFile: file, atomically: true, encoding: .utf8)
            service.signal(SIGHUP)
            try await Wait.until("it was refused", within: .seconds(120)) { service.text.contains("Reload refused") }
            _ = try await harness.publish([Self.order("e-2", for: "ben")])
            try await Wait.until("the second push arrived", within: .seconds(120)) {
                try await harness.acceptedCount() == 2
            }
            #expect(try await harness.accepted().map(\.title) == ["Thank you", "Thank you"])
        }
    }

    @Test func `without its dead-letter topic it refuses to start and says what to do`() async throws {
        try await withHarness(topics: [ServiceHarness.topic: 1]) { harness in
            let service = try harness.serve()
            #expect(try await service.exitCode() == 1)
            #expect(service.text.contains(#"the dead-letter topic "aegis.dead-letter" does not exist"#))
        }
    }

    @Test func `an unreachable broker is waited for, and check names it`() async throws {
        try await withHarness { harness in
            try await harness.broker.stop()
            let check = try await ChildProgram.run(["check", "--config", harness.configuration, "--offline"])
            #expect(check.code == 1)
            #expect(check.text.contains("FAIL  kafka"))
            #expect(check.text.contains("ok    store"))

            let service = try harness.serve()
            try await Wait.until("it tells why it is not ready", within: .seconds(30)) {
                let answer = await harness.call("GET", "/readyz")
                return answer.status == 503 && answer.body.contains("Kafka")
            }
            #expect(service.text.components(separatedBy: "Waiting at start").count - 1 <= 1)
            try await harness.broker.start()
            try await harness.waitUntilReady()
        }
    }

    @Test func `a second SIGTERM ends it at once`() async throws {
        try await withHarness(delivery: "{drain_timeout: 10m}") { harness in
            let service = try harness.serve()
            try await harness.waitUntilReady()
            try await harness.registerDevice("cara", "phone", token: String(repeating: "c1", count: 32))
            await harness.simulate("PUT", "/faults", body: #"{"stall":true}"#)
            _ = try await harness.publish([Self.order("e-1", for: "cara")])
            try await Wait.until("a push is in flight", within: .seconds(120)) {
                await harness.metric(#"aegis_in_flight_deliveries{lane="standard"}"#) == 1
            }
            service.signal(SIGTERM)
            try await Wait.until("it drains", within: .seconds(10)) { service.text.contains("Aegis is draining") }
            service.signal(SIGTERM)
            #expect(try await service.exitCode(within: .seconds(60)) == 1)
        }
    }
}
