import AegisCore
import AegisPorts
import AegisTestKit
import Foundation
import SQLiteStore
import Testing

/// What ages out of the store while the service runs.
@Suite struct RetentionTests {
    @Test func `a device deleted longer ago than device_retention goes, a later one stays`() async throws {
        let folder = try ServiceFolder(replacing: [
            #""sqlite:aegis.db""#: #""sqlite:aegis.db", device_retention: 2d"#
        ])
        let store = try await SQLiteStore.open(path: folder.file("aegis.db"))
        let now = UnixTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000))
        var before: [String: DeviceID] = [:]
        for (number, (user, days)) in [("old", 3), ("recent", 1)].enumerated() {
            let registration = DeviceRegistration.sample(user: .sample(user), token: .sample(number))
            let then = now.advanced(by: .seconds(-86_400 * days))
            _ = try await store.register(registration, sharesToken: false, at: then)
            before[user] = try await store.devices(of: registration.user).first?.id
            _ = try await store.unregister(user: registration.user, installation: "installation-1", at: then)
        }

        let service = try await folder.running()
        try await Wait.until("it has dropped a device", within: .seconds(120)) {
            service.text.contains("Devices deleted long ago were dropped")
        }
        #expect(service.text.contains(#""devices":1"#), "\(service.text)")
        service.signal(SIGTERM)
        #expect(try await service.exitCode() == 0)

        for (number, user) in ["old", "recent"].enumerated() {
            _ = try await store.register(
                .sample(user: .sample(user), token: .sample(number)), sharesToken: false, at: now)
        }
        #expect(try await store.devices(of: .sample("recent")).map(\.id) == [before["recent"]])
        #expect(try await store.devices(of: .sample("old")).map(\.id) != [before["old"]])
        await store.close()
    }
}
