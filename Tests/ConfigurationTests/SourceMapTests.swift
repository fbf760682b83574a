import Configuration
import Testing

@Suite struct SourceMapTests {
    private func place(_ path: String, environment: [String: String] = [:]) throws -> String {
        let folder = try ScratchFolder()
        let text = Samples.configuration.replacing("  topics:", with: "  properties:\n    a.b: c\n  topics:")
        let problem = try folder.load(text, environment: environment).sources.problem("is wrong", at: path)
        return problem.description.replacing(folder.path + "/", with: "")
    }

    @Test(arguments: [
        ("kafka.properties.a.b", 4), ("kafka.topics[0].name", 5), ("store.url", 6),
        ("apps[0].auth.token.key_file", 10), ("store.retention", 6),
    ])
    func `a setting is found at its line, a default at that of its section`(path: String, line: Int) throws {
        #expect(try place(path) == "aegis.yaml:\(line): \(path): is wrong")
    }

    @Test func `a setting of the environment is found at its variable, and one that is nowhere has no line`() throws {
        #expect(
            try place("store.url", environment: ["AEGIS_STORE_URL": "sqlite:x.db"])
                == "environment: AEGIS_STORE_URL: is wrong")
        #expect(try place("kafka.no_such") == "aegis.yaml: kafka.no_such: is wrong")
    }
}
