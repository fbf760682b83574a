import AegisTestKit
import Foundation
import Testing

/// What SIGHUP takes up and what it refuses as a whole, and how a service ends.
@Suite struct SignalTests {
    @Test(arguments: [
        ("id: com.example.app", "id: com.example.other", "apps: com.example.app, com.example.other"),
        ("127.0.0.1:9", "127.0.0.1:10", "apps: com.example.app"),
        ("{production: ", "{sandbox: {}, production: ", "apps: com.example.app"),
        ("key_id: ABC123DEFG", "key_id: ABC123DEFH", "apps: com.example.app"),
        ("team_id: DEF123GHIJ", "team_id: DEF123GHIK", "apps: com.example.app"),
        ("entitlements: [time-sensitive]", "entitlements: [time-sensitive, critical-alerts]", "apps: com.example.app"),
        ("    entitlements:", "    badge: client\n    entitlements:", "apps: com.example.app"),
        ("properties: {}", "group: other", "kafka"),
        ("http: {", "delivery: {rate_limit: 7}\nhttp: {", "delivery"),
    ])
    func `a reload that would need a restart changes nothing and says what`(
        part: String, replacement: String, changed: String
    ) async throws {
        let folder = try ServiceFolder()
        let service = try await folder.running()
        try folder.configure(replacing: [part: replacement])
        service.signal(SIGHUP)
        try await Wait.until("it refuses", within: .seconds(120)) { service.text.contains("Reload refused") }
        #expect(service.text.contains("changes what only a restart can"), "\(service.text)")
        #expect(service.text.contains(#""changed":"\#(changed)""#), "\(service.text)")
        #expect(!service.text.contains("were reloaded"))

        // It goes on, and takes up what it can once the rest is as it was.
        try folder.configure(replacing: [:])
        service.signal(SIGHUP)
        try await Wait.until("it reloads", within: .seconds(120)) { service.text.contains("were reloaded") }
        service.signal(SIGTERM)
        #expect(try await service.exitCode() == 0, "\(service.text)")
    }

    @Test func `a new key in the same file and a catalog in another place are taken up`() async throws {
        let folder = try ServiceFolder()
        let service = try await folder.running()
        let catalog = ServiceHarness.repository.appending(path: "catalog.yaml").path(percentEncoded: false)
        try folder.write(try String(contentsOfFile: catalog, encoding: .utf8), to: "other.yaml")
        try folder.configure(replacing: [catalog: "other.yaml"])
        try folder.write(Self.otherKey, to: "key.p8")
        service.signal(SIGHUP)
        try await Wait.until("it reloads", within: .seconds(120)) { service.text.contains("were reloaded") }
        #expect(!service.text.contains("Reload refused"), "\(service.text)")

        try folder.write("no key", to: "key.p8")
        service.signal(SIGHUP)
        try await Wait.until("it refuses", within: .seconds(120)) { service.text.contains("Reload refused") }
        #expect(service.text.contains("aegis.yaml:10: apps[0].auth.token.key_file"), "\(service.text)")
        service.signal(SIGTERM)
        #expect(try await service.exitCode() == 0, "\(service.text)")
    }

    @Test func `a stop right after a start ends with its own code, whatever its threads are at`() async throws {
        for _ in 0..<12 {
            let folder = try ServiceFolder()
            let service = try await folder.running()
            service.signal(SIGTERM)
            #expect(try await service.exitCode() == 0, "\(service.text)")
        }
    }

    /// Made for this test alone.
    private static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgaU1pvXpcWhQg3m+H
        xPfza58cKlAbTuplr6EinEPi6hehRANCAAStgRyvl25NDQn6YA9jziwrqOizTB3W
        n4Dzkx4oca6U9Fc4K38j2l2P9tfZtWd45NTlvuCXi5peOjA/N3y8FgvA
        -----END PRIVATE KEY-----

        """
}
