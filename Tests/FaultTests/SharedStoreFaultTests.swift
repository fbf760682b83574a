import AegisCore
import AegisTestKit
import Foundation
import IdentityDigests
import KafkaEventLog
import SQLiteStore
import Testing

/// Two services in one group on one SQLite file, each of which ends under load and comes back.
@Suite(.serialized, .enabled(if: BrokerProcess.part.isToBeTested, "\(BrokerProcess.part.reason)"))
struct SharedStoreFaultTests {
    private static let users = 200
    private static let events = 2_000
    private static let partitions = 4
    private static let inFlight = 300
    /// A batch of 500 events, for two devices each, is claimed whole while the limit is not reached.
    private static let uncertain = inFlight + 1_000
    /// The broker process loses a member's JoinGroup where another starts the next round at once, as the cooperative protocol
    /// makes it do.
    private static let properties = "{partition.assignment.strategy: range, heartbeat.interval.ms: \"500\"}"

    /// One event for one device.
    private struct Pair: Hashable {
        let event: String
        let token: String
    }

    @Test func `two services on one SQLite file lose nothing and name no push twice while each ends and comes back`()
        async throws
    {
        let harness = try await ServiceHarness(
            delivery: "{max_in_flight: \(Self.inFlight), rate_limit: 100000, burst: 100000}")
        do {
            try await run(harness)
        } catch {
            try await harness.remove()
            throw error
        }
        try await harness.remove()
    }

    private func run(_ harness: ServiceHarness) async throws {
        try await KafkaTopics(brokers: harness.broker.brokers).create([
            ServiceHarness.topic: Self.partitions, "aegis.dead-letter": 1,
        ])
        let expected = try await register(harness)
        let one = try await ServiceInstance("one", of: harness, properties: Self.properties)
        let two = try await ServiceInstance("two", of: harness, properties: Self.properties)
        try await waitUntilShared(one, two)
        await harness.simulate("PUT", "/faults", body: #"{"delay_ms":60,"jitter_ms":20}"#)
        #expect(try await harness.publish(Self.lines()).code == 0)

        try await waitUntilAccepted(expected.count / 5, harness)
        let ended = try await one.restart(after: SIGTERM)
        #expect(ended.code == 0, "\(ended.text.suffix(2_000))")
        try await waitUntilAccepted(expected.count / 2, harness)
        let killed = try await two.restart(after: SIGKILL)
        #expect(killed.code == SIGKILL + 128)

        try await Wait.until("every pair arrived", within: .seconds(180)) {
            guard try await harness.acceptedCount() >= expected.count else { return false }
            return Set(try await harness.accepted().map { Pair(event: $0.event, token: $0.token) }).count
                >= expected.count
        }
        try await Wait.until("nothing lags", within: .seconds(60)) {
            let lag = await one.lag(of: ServiceHarness.topic).merging(await two.lag(of: ServiceHarness.topic)) {
                $0 + $1
            }
            return lag.count == Self.partitions && lag.values.allSatisfy { $0 == 0 }
        }
        let pushes = try await harness.accepted()
        var ids: [Pair: Set<String>] = [:]
        for push in pushes { ids[Pair(event: push.event, token: push.token), default: []].insert(push.id) }
        #expect(ids == expected, "each pair, under the one name that its event, user and device give it")
        // The kill leaves uncertain what the one service had in flight, and nothing else does.
        #expect(pushes.count - expected.count <= Self.uncertain)
        for text in [ended.text, killed.text, one.program.text, two.program.text] {
            #expect(!text.contains("database is locked"), "the file's lock is waited for")
        }
    }

    /// Registers two devices a user, before any service runs.
    ///
    /// - Returns: the names that pushes of all events must have.
    private func register(_ harness: ServiceHarness) async throws -> [Pair: Set<String>] {
        let path = harness.folder.appending(path: "aegis.db").path(percentEncoded: false)
        let store = try await SQLiteStore.open(path: path)
        let digests = OpenSSLDigests(hashKey: [])
        let now = UnixTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000))
        var expected: [Pair: Set<String>] = [:]
        for number in 0..<Self.users {
            let user = try UserID("user-\(number)")
            for device in 0..<2 {
                let registration = DeviceRegistration.sample(
                    user: user, installation: "device-\(device)", token: .sample(number * 2 + device))
                _ = try await store.register(registration, sharesToken: false, at: now)
            }
            let devices = try await store.devices(of: user)
            for event in stride(from: number, to: Self.events, by: Self.users) {
                let identity = EventIdentity(source: ServiceHarness.topic, id: "e-\(event)")
                for device in devices {
                    let id = digests.pushID(for: identity, user: user, device: device.id)
                    expected[Pair(event: identity.id, token: device.registration.token.hex)] = ["\(id)"]
                }
            }
        }
        await store.close()
        #expect(expected.count == Self.events * 2)
        return expected
    }

    private static func lines() -> [String] {
        let now = Date.now.ISO8601Format()
        return (0..<events).map { number in
            """
            {"id":"e-\(number)","type":"order_confirmed","occurred_at":"\(now)",\
            "recipient":"user-\(number % users)","data":{"order_id":"o-\(number)","order_number":"\(number)"}}
            """
        }
    }

    private func waitUntilAccepted(_ count: Int, _ harness: ServiceHarness) async throws {
        try await Wait.until("\(count) pushes are accepted", within: .seconds(90)) {
            try await harness.acceptedCount() >= count
        }
    }

    private func waitUntilShared(_ one: ServiceInstance, _ two: ServiceInstance) async throws {
        try await Wait.until("both hold partitions", within: .seconds(60)) {
            let first = await one.lag(of: ServiceHarness.topic).keys
            let second = await two.lag(of: ServiceHarness.topic).keys
            return !first.isEmpty && !second.isEmpty && first.count + second.count == Self.partitions
        }
    }
}
