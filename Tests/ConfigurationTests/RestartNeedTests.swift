import AegisCore
import Configuration
import Testing

@Suite struct RestartNeedTests {
    private func configuration(_ text: String) throws -> AegisConfiguration {
        try folder.load(text, catalog: Samples.catalog).configuration
    }

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        _ = try folder.write(Samples.catalog, to: "other.yaml")
    }

    @Test func `the same text and another place of the catalog need none`() throws {
        let old = try configuration(Samples.configuration)
        #expect(old.needsRestart(for: try configuration(Samples.configuration)).isEmpty)
        let moved = try configuration(Samples.configuration + "\ncatalog: other.yaml")
        #expect(moved.catalogPath != old.catalogPath)
        #expect(old.needsRestart(for: moved).isEmpty)
    }

    @Test func `the order of apps needs none, an app more or less does`() throws {
        func app(_ id: String) -> String {
            """

              - id: \(id)
                environments: {production: {}}
                auth: {token: {key_file: key.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}
            """
        }
        let head = String(
            Samples.configuration.prefix(
                upTo: try #require(Samples.configuration.firstRange(of: "\n  - id")).lowerBound))
        let one = try configuration(head + app("com.example.one") + app("com.example.two"))
        let other = try configuration(head + app("com.example.two") + app("com.example.one"))
        #expect(one.needsRestart(for: other).isEmpty)
        let fewer = try configuration(head + app("com.example.two"))
        #expect(one.needsRestart(for: fewer) == ["apps: com.example.one"])
        #expect(fewer.needsRestart(for: one) == ["apps: com.example.one"])
    }

    @Test(arguments: [
        ("brokers: localhost:9092", "brokers: elsewhere:9092", "kafka"),
        ("sqlite:aegis.db", "sqlite:other.db", "store"),
        ("sqlite:aegis.db\"", "sqlite:aegis.db\", retention: 31d", "store"),
        ("production: {}", "production: {endpoint: \"https://relay\"}", "apps: com.example.app"),
        ("key.p8", "other.p8", "apps: com.example.app"),
        ("apps:", "delivery: {retry: {base: 1s}}\napps:", "delivery"),
        ("apps:", "http: {listen: \"127.0.0.1:81\"}\napps:", "http"),
        ("apps:", "log: {level: debug}\napps:", "log"),
    ])
    func `a setting that is read at start alone needs one`(part: String, replacement: String, place: String) throws {
        let old = try configuration(Samples.configuration)
        let newer = try configuration(Samples.configuration.replacing(part, with: replacement))
        #expect(old.needsRestart(for: newer) == [place])
    }
}
