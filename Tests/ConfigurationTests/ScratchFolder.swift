import Configuration
import Foundation

/// A folder of files for one test, removed with it.
final class ScratchFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "aegis-configuration-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and answers with its path.
    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        return file
    }

    /// Loads a configuration beside a catalog.
    func load(
        _ configuration: String, catalog: String = Samples.catalog, environment: [String: String] = [:]
    ) throws -> LoadedConfiguration {
        _ = try write(catalog, to: "catalog.yaml")
        return try ConfigurationLoader.load(path: try write(configuration, to: "aegis.yaml"), environment: environment)
    }

    /// The problems of a configuration beside a catalog, without the folder in front; empty when it loads.
    func problems(
        _ configuration: String, catalog: String = Samples.catalog, environment: [String: String] = [:]
    ) throws -> [String] {
        let problems: [Problem]
        do {
            problems = try load(configuration, catalog: catalog, environment: environment).warnings
        } catch let error as ConfigurationProblems {
            problems = error.problems
        }
        return problems.map { $0.description.replacingOccurrences(of: path + "/", with: "") }
    }
}

/// Files that load without a problem.
enum Samples {
    static let configuration = """
        kafka:
          brokers: localhost:9092
          topics: [{name: domain.events}]
        store: {url: "sqlite:aegis.db"}
        apps:
          - id: com.example.app
            environments: {production: {}}
            auth: {token: {key_file: key.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}
        """

    static let catalog = """
        types:
          hello: {category: none, deep_link: none, content: {en: {title: Hello}}}
        """

    /// The repository's own folder.
    static let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
}
