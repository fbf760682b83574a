import AegisTestKit
import Foundation

/// A folder with all that `aegis serve --ephemeral` needs, with no other process: the broker is the embedded one, and
/// nobody answers for APNs.
final class ServiceFolder: Sendable {
    static let configuration = """
        kafka:
          brokers: embedded
          topics: [{name: domain.events}]
          properties: {}
        store: {url: "sqlite:aegis.db"}
        catalog: "\(ServiceHarness.repository.appending(path: "catalog.yaml").path(percentEncoded: false))"
        apps:
          - id: com.example.app
            environments: {production: {endpoint: "https://127.0.0.1:9"}}
            auth: {token: {key_file: key.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}
            entitlements: [time-sensitive]
        http: {listen: "127.0.0.1:0"}
        """

    /// Made for these tests alone.
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8W62tSaI70KItz+d
        LqClJeFx5KCqlD0NXIZv72i/gxqhRANCAAQAL2zSkCrAQLeLpGt+MatcukgqsYbT
        AtCNRBvleOhL5FtX2bwQCPGfA8tYb751+6hMWr/ZGTR9i5Ia/tulxHam
        -----END PRIVATE KEY-----

        """

    struct NothingToReplace: Error {
        let part: String
    }

    /// Without a slash at its end.
    let path: String

    /// - Parameter parts: of the configuration, by what stands there instead; each has to be in it.
    init(replacing parts: [String: String] = [:]) throws {
        path = NSTemporaryDirectory() + "aegis-service-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try write(Self.key, to: "key.p8")
        try configure(replacing: parts)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
    }

    /// Writes the configuration anew; `FOLDER` stands for the folder.
    func configure(replacing parts: [String: String]) throws {
        var text = Self.configuration
        for (part, replacement) in parts {
            guard text.contains(part) else { throw NothingToReplace(part: part) }
            text = text.replacing(part, with: replacement.replacing("FOLDER", with: path))
        }
        try write(text, to: "aegis.yaml")
    }

    func serve() throws -> ChildProgram {
        try ChildProgram(["serve", "--ephemeral", "--config", file("aegis.yaml")])
    }

    /// Serves and waits until the pipeline runs.
    func running() async throws -> ChildProgram {
        let service = try serve()
        try await Wait.until("the service runs", within: .seconds(60)) { service.text.contains("Aegis is running") }
        return service
    }
}
