import AegisTestKit
import Foundation
import Testing

@testable import SQLiteStore

/// Mistakes that no waiting mends: they end a start at once, with 2 and the line to mend.
@Suite(.serialized) struct MistakeTests {
    /// One part of the configuration written wrongly, and what is said of it.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let part: String
        let replacement: String
        let line: Int
        let message: String

        init(_ part: String, _ replacement: String, line: Int, _ message: String) {
            self.part = part
            self.replacement = replacement
            self.line = line
            self.message = message
        }

        var testDescription: String { replacement }
    }

    private static let mistakes = [
        Mistake(
            "properties: {}", "properties: {sasl.mechansim: PLAIN}", line: 4,
            #"kafka.properties.sasl.mechansim: librdkafka has no such property; did you mean "sasl.mechanism"?"#),
        Mistake(
            "properties: {}", "properties: {security.protocol: hunter2}", line: 4,
            "kafka.properties.security.protocol: librdkafka does not take this value"),
        Mistake(
            "properties: {}", "properties: {security.protocol: SSL, ssl.ca.location: FOLDER/absent.pem}", line: 4,
            "kafka.properties: ssl.ca.location failed"),
        Mistake(
            "properties: {}", "properties: {acks: 1}", line: 4,
            "kafka.properties.acks: is set by Aegis itself; every replica acknowledges"),
        Mistake("sqlite:aegis.db", "sqlite://FOLDER", line: 5, "store.url: FOLDER: is a folder; name a file in it"),
        Mistake(
            "sqlite:aegis.db", "sqlite:absent/aegis.db", line: 5,
            "store.url: FOLDER/absent/aegis.db: the folder FOLDER/absent does not exist"),
        Mistake(
            "sqlite:aegis.db", "sqlite:key.p8", line: 5, "store.url: FOLDER/key.p8: is not a database file of SQLite"),
        Mistake(
            "sqlite:aegis.db", "sqlite:key.p8/aegis.db", line: 5, "store.url: FOLDER/key.p8/aegis.db: cannot be reached"
        ),
        Mistake(
            #"{endpoint: "https://127.0.0.1:9"}"#, "{ca_file: absent.pem}", line: 9,
            "apps[0].environments.production.ca_file: FOLDER/absent.pem: cannot be read as PEM certificates"),
        Mistake(
            #"{endpoint: "https://127.0.0.1:9"}"#, "{ca_file: key.p8}", line: 9,
            "apps[0].environments.production.ca_file: FOLDER/key.p8: cannot be read as PEM certificates"),
        Mistake(
            "127.0.0.1:0", "nowhere.invalid:0", line: 12, "http.listen: nowhere.invalid is no address to listen on"),
        // Kept for documentation (RFC 5737): no machine has it.
        Mistake("127.0.0.1:0", "192.0.2.1:0", line: 12, "http.listen: listen on 192.0.2.1, port 0"),
        Mistake(
            "key.p8", "absent.p8", line: 10, "apps[0].auth.token.key_file: FOLDER/absent.p8: cannot be read (No such"),
        Mistake(
            "key.p8", "aegis.yaml", line: 10, "apps[0].auth.token.key_file: FOLDER/aegis.yaml: not a PEM file"),
        Mistake(
            "key_id: ABC123DEFG", "key_id: ABC-123-DEFG", line: 10,
            "apps[0].auth.token: the key id must be the ten letters and digits"),
    ]

    @Test(arguments: mistakes, ["serve", "check"])
    func `a mistake that stays ends a start with its line`(mistake: Mistake, verb: String) async throws {
        let folder = try ServiceFolder(replacing: [mistake.part: mistake.replacement])
        let flag = verb == "serve" ? "--ephemeral" : "--offline"
        let program = try ChildProgram([verb, flag, "--config", folder.file("aegis.yaml")])
        #expect(try await program.exitCode(within: .seconds(120)) == 2, "\(program.text)")
        let expected =
            "\(folder.file("aegis.yaml")):\(mistake.line): "
            + mistake.message.replacing("FOLDER", with: folder.path)
        try await Wait.until("it says \(expected)", within: .seconds(60)) { program.text.contains(expected) }
        let errors = program.text.split(separator: "\n").filter { !$0.contains("warning: ") }
        #expect(errors.count == 1, "\(program.text)")
        #expect(!program.text.contains("hunter2"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("aegis.db")))
    }

    @Test func `every such mistake is told in one run, those of one stage by line`() async throws {
        let folder = try ServiceFolder(replacing: [
            "properties: {}": "properties: {no.such: 1}", "key.p8": "absent.p8",
            #"{endpoint: "https://127.0.0.1:9"}"#: "{ca_file: absent.pem}",
        ])
        let result = try await ChildProgram.run(["check", "--config", folder.file("aegis.yaml")])
        #expect(result.code == 2)
        let lines = result.text.split(separator: "\n").map { $0.dropFirst(folder.file("aegis.yaml:").count).prefix(3) }
        #expect(lines == ["4: ", "9: ", "10:"], "\(result.text)")
    }

    @Test func `a store named by the environment is told by its variable`() async throws {
        let folder = try ServiceFolder()
        let result = try await ChildProgram.run(
            ["serve", "--ephemeral", "--config", folder.file("aegis.yaml")],
            environment: ["AEGIS_STORE_URL": "sqlite://\(folder.path)"])
        #expect(result.code == 2)
        #expect(result.text.contains("environment: AEGIS_STORE_URL: \(folder.path): is a folder"), "\(result.text)")
        let migration = try await ChildProgram.run(
            ["migrate", "--config", folder.file("aegis.yaml")],
            environment: ["AEGIS_STORE_URL": "sqlite://\(folder.path)"])
        #expect(migration.code == 2)
        #expect(migration.text.contains("environment: AEGIS_STORE_URL: \(folder.path): is a folder"))
    }

    @Test func `a port that is taken ends a start with 1, since it may be free later`() async throws {
        let first = try ServiceFolder()
        let service = try await first.running()
        let port = try #require(service.text.firstMatch(of: #/"http_port":([0-9]+)/#)?.output.1)
        let second = try ServiceFolder(replacing: ["127.0.0.1:0": "127.0.0.1:\(port)"])
        let refused = try second.serve()
        #expect(try await refused.exitCode() == 1)
        #expect(refused.text.contains("port \(port)"), "\(refused.text)")
        service.signal(SIGTERM)
        #expect(try await service.exitCode() == 0)
    }

    @Test func `a store of a later release ends a start with 1 instead of waiting`() async throws {
        let folder = try ServiceFolder()
        #expect(try await ChildProgram.run(["migrate", "--config", folder.file("aegis.yaml")]).code == 0)
        let store = try SQLiteConnection(path: folder.file("aegis.db"))
        try store.execute("INSERT INTO schema_migrations VALUES (\(Migration.latest + 2), 0)")
        let service = try folder.serve()
        #expect(try await service.exitCode(within: .seconds(120)) == 1)
        #expect(service.text.contains("run a newer release"), "\(service.text)")
        #expect(!service.text.contains("Waiting at start"))
    }
}
