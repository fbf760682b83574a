import AegisTestKit
import Foundation
import Testing

/// The verbs that need no other process.
@Suite struct VerbTests {
    private static let examples = ServiceHarness.repository.appending(path: "examples").path(percentEncoded: false)

    @Test func `the demo shows what its samples declare`() async throws {
        let table = try await ChildProgram.run(["demo", "--examples", Self.examples])
        #expect(table.code == 0, "\(table.text)")
        #expect(table.text.contains("Every row is as examples/demo declares it."))

        let json = try await ChildProgram.run(["demo", "--json", "--examples", Self.examples])
        let document = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
        let summary = document?["summary"] as? [String: Any]
        #expect(json.code == 0)
        #expect(summary?["mismatches"] as? Int == 0)
        #expect(summary?["events"] as? Int ?? 0 >= 25)
    }

    @Test func `the demo fails when one row differs`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aegis-samples-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: ServiceHarness.repository.appending(path: "examples"), to: folder.appending(path: "examples"))
        try FileManager.default.copyItem(
            at: ServiceHarness.repository.appending(path: "catalog.yaml"), to: folder.appending(path: "catalog.yaml"))
        let file = folder.appending(path: "examples/demo/events.json")
        let samples = try String(contentsOf: file, encoding: .utf8)
        try samples.replacing(#""reason": "type_off""#, with: #""reason": "muted""#).write(
            to: file, atomically: true, encoding: .utf8)
        let result = try await ChildProgram.run([
            "demo", "--examples", folder.appending(path: "examples").path(percentEncoded: false),
        ])
        #expect(result.code == 1)
        #expect(result.text.contains("<- not declared"))
        #expect(result.text.contains("<- declared and missing"))
    }

    @Test(arguments: ["serve", "demo", "check", "migrate", "publish", "preview", "apns-simulator", "bench"])
    func `every verb explains itself`(verb: String) async throws {
        let result = try await ChildProgram.run([verb, "--help"])
        #expect(result.code == 0)
        #expect(result.text.contains("Usage: aegis \(verb)"))
    }

    @Test func `wrong words are answered with the nearest right one`() async throws {
        let verb = try await ChildProgram.run(["serv"])
        #expect(verb.code == 2)
        #expect(verb.text.contains(#"did you mean "serve"?"#))
        let flag = try await ChildProgram.run(["serve", "--confg", "x"])
        #expect(flag.code == 2)
        #expect(flag.text.contains("did you mean --config?"))
    }

    @Test func `every mistake of a configuration is told at once, with its line`() async throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "aegis.yaml")
        try """
        kafka:
          broker: localhost:9092
          topics: [{name: domain.events, lane: fast}]
        store: {url: "mysql://x"}
        catalog: nowhere.yaml
        apps: []
        """.write(to: file, atomically: true, encoding: .utf8)
        let result = try await ChildProgram.run(["serve", "--config", file.path(percentEncoded: false)])
        #expect(result.code == 2)
        #expect(result.text.contains(#"aegis.yaml:2: kafka.broker"#), "\(result.text)")
        #expect(result.text.contains(#"did you mean "brokers"?"#))
        #expect(result.text.contains("aegis.yaml:3:"))
        #expect(result.text.contains("aegis.yaml:4:"))
    }

    @Test(arguments: [
        ("", "AuthKey_X.p8"),
        ("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n", "EC PRIVATE KEY"),
        ("not a key at all", "AuthKey_X.p8"),
    ])
    func `a key that cannot sign ends the start with one message`(key: String, named: String) async throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        if !key.isEmpty {
            try key.write(to: folder.appending(path: "AuthKey_X.p8"), atomically: true, encoding: .utf8)
        }
        let file = folder.appending(path: "aegis.yaml")
        try """
        kafka:
          brokers: localhost:1
          group: aegis
          topics: [{name: domain.events}]
          dead_letter_topic: aegis.dead-letter
        store: {url: "sqlite:aegis.db"}
        catalog: "\(ServiceHarness.repository.appending(path: "catalog.yaml").path(percentEncoded: false))"
        apps:
          - id: com.example.app
            environments: {production: {endpoint: production}}
            auth: {token: {key_file: AuthKey_X.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}
            entitlements: [time-sensitive]
        """.write(to: file, atomically: true, encoding: .utf8)
        let result = try await ChildProgram.run(["serve", "--config", file.path(percentEncoded: false)])
        #expect(result.code == 2)
        #expect(result.text.contains("apps[0].auth.token.key_file"), "\(result.text)")
        #expect(result.text.contains(named))
        #expect(result.text.split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "aegis.db").path(percentEncoded: false)))
    }

    private static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aegis-verbs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
