import AegisTestKit
import Foundation
import KafkaEventLog
import Testing

/// Kills, stops and outages in the middle of a load that flows from a real broker: nothing is lost, and nothing is sent twice
/// that the ledger could prevent.
@Suite(.serialized, .enabled(if: BrokerProcess.part.isToBeTested, "\(BrokerProcess.part.reason)"))
struct ServiceFaultTests {
    private static let users = 500
    private static let events = 5_000
    private static let inFlight = 1_000
    private static let expected = events * 2

    /// Seconds; longer by `AEGIS_OUTAGE_SECONDS`.
    private static var outage: Duration {
        .seconds(ProcessInfo.processInfo.environment["AEGIS_OUTAGE_SECONDS"].flatMap { Int($0) } ?? 10)
    }

    private func withLoad(_ body: (ServiceHarness, _ lines: [String]) async throws -> Void) async throws {
        let harness = try await ServiceHarness(
            delivery: "{max_in_flight: \(Self.inFlight), rate_limit: 100000, burst: 100000}")
        do {
            try await KafkaTopics(brokers: harness.broker.brokers).create([
                ServiceHarness.topic: 4, "aegis.dead-letter": 1,
            ])
            let now = Date.now.ISO8601Format()
            let lines = (0..<Self.events).map { number in
                """
                {"id":"e-\(number)","type":"order_confirmed","occurred_at":"\(now)",\
                "recipient":"user-\(number % Self.users)","data":{"order_id":"o-\(number)","order_number":"\(number)"}}
                """
            }
            try await body(harness, lines)
        } catch {
            try await harness.remove()
            throw error
        }
        try await harness.remove()
    }

    private func start(_ harness: ServiceHarness) async throws -> ChildProgram {
        let service = try harness.serve()
        try await harness.waitUntilReady()
        return service
    }

    private func register(_ harness: ServiceHarness) async throws {
        for user in 0..<Self.users {
            for (number, name) in ["phone", "tablet"].enumerated() {
                try await harness.registerDevice("user-\(user)", name, token: Self.token(user, number))
            }
        }
    }

    private static func token(_ user: Int, _ device: Int) -> String {
        let text = String(user * 2 + device, radix: 16)
        return String(repeating: "0", count: 64 - text.count) + text
    }

    /// Everything arrived, everything is committed.
    private func waitForEverything(_ harness: ServiceHarness) async throws {
        try await Wait.until("all pushes arrived", within: .seconds(180)) {
            try await harness.acceptedCount() >= Self.expected
        }
        try await Wait.until("nothing is in flight and nothing lags", within: .seconds(60)) {
            let inFlight = await harness.metric(#"aegis_in_flight_deliveries{lane="standard"}"#)
            guard inFlight == 0 else { return false }
            return await harness.hasNoLag()
        }
    }

    /// - Returns: how many pushes were repeats.
    private func expectEachOnce(_ harness: ServiceHarness) async throws -> Int {
        let pushes = try await harness.accepted()
        var ids: [String: Set<String>] = [:]
        for push in pushes { ids["\(push.event) \(push.token)", default: []].insert(push.id) }
        #expect(ids.count == Self.expected)
        #expect(ids.values.allSatisfy { $0.count == 1 }, "a repeat has the same apns-id")
        #expect(Set(pushes.map(\.id)).count == Self.expected, "each device of each event has an apns-id of its own")
        return pushes.count - Self.expected
    }

    @Test func `killed three times under load it loses nothing and repeats no more than was in flight`() async throws {
        try await withLoad { harness, lines in
            var service = try await start(harness)
            try await register(harness)
            await harness.simulate("PUT", "/faults", body: #"{"delay_ms":60,"jitter_ms":20}"#)
            _ = try await harness.publish(lines)
            for kill in 1...3 {
                try await Wait.until("some of it was sent", within: .seconds(60)) {
                    try await harness.acceptedCount() >= Self.expected * kill / 5
                }
                service.signal(SIGKILL)
                _ = try await service.exitCode()
                service = try await start(harness)
            }
            try await waitForEverything(harness)
            let repeats = try await expectEachOnce(harness)
            #expect(repeats <= 3 * Self.inFlight)
            #expect(await harness.metric(#"aegis_dead_letters_total{topic="domain.events",kind="delivery"}"#) == nil)
        }
    }

    @Test func `stopped by SIGTERM under load it loses nothing and repeats nothing`() async throws {
        try await withLoad { harness, lines in
            var service = try await start(harness)
            try await register(harness)
            await harness.simulate("PUT", "/faults", body: #"{"delay_ms":60,"jitter_ms":20}"#)
            _ = try await harness.publish(lines)
            for stop in 1...3 {
                try await Wait.until("some of it was sent", within: .seconds(60)) {
                    try await harness.acceptedCount() >= Self.expected * stop / 5
                }
                service.signal(SIGTERM)
                #expect(try await service.exitCode() == 0, "\(service.text.suffix(2_000))")
                service = try await start(harness)
            }
            try await waitForEverything(harness)
            #expect(try await expectEachOnce(harness) == 0)
        }
    }

    @Test func `while APNs answers 503 to everything it pauses, and then delivers`() async throws {
        try await withLoad { harness, lines in
            let service = try await start(harness)
            try await register(harness)
            await harness.simulate("PUT", "/faults", body: #"{"status":503,"reason":"ServiceUnavailable"}"#)
            _ = try await harness.publish(lines)
            try await Wait.until("partitions are paused", within: .seconds(30)) {
                let outage = await harness.metric(#"aegis_partitions_paused{reason="outage"}"#) ?? 0
                let inFlight = await harness.metric(#"aegis_partitions_paused{reason="in_flight"}"#) ?? 0
                return outage + inFlight == 4
            }
            try await ContinuousClock().sleep(for: Self.outage)
            let ready = await harness.call("GET", "/readyz")
            #expect(ready.status == 200)
            #expect(ready.body.contains("degraded"))
            #expect(ready.body.contains("ServiceUnavailable"))
            #expect(try await harness.acceptedCount() == 0)
            await harness.simulate("DELETE", "/faults")
            try await waitForEverything(harness)
            #expect(try await expectEachOnce(harness) == 0)
            #expect(await harness.metric(#"aegis_dead_letters_total{topic="domain.events",kind="delivery"}"#) == nil)
            #expect(!service.text.contains("Partitions were lost"))
        }
    }

    @Test func `while the broker is down it waits, and then goes on`() async throws {
        try await withLoad { harness, lines in
            let service = try await start(harness)
            try await register(harness)
            _ = try await harness.publish(Array(lines.prefix(Self.events / 2)))
            try await Wait.until("some of it was sent", within: .seconds(60)) {
                try await harness.acceptedCount() >= Self.expected / 5
            }
            try await harness.broker.stop()
            try await Wait.until("it says so", within: .seconds(30)) {
                await harness.call("GET", "/readyz").body.contains("Kafka cannot be reached")
            }
            try await ContinuousClock().sleep(for: Self.outage)
            #expect(service.isRunning)
            try await harness.broker.start()
            try await Wait.until("the rest is published", within: .seconds(60)) {
                try await harness.publish(Array(lines.suffix(Self.events / 2))).code == 0
            }
            try await waitForEverything(harness)
            #expect(try await expectEachOnce(harness) == 0)
        }
    }
}
