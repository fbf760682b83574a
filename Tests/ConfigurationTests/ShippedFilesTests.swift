import AegisContent
import AegisCore
import Configuration
import Foundation
import Testing

@Suite struct ShippedFilesTests {
    @Test func `the example loads without a problem in an empty environment`() throws {
        let loaded = try ConfigurationLoader.load(path: Samples.repository + "/examples/aegis.yaml", environment: [:])
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.configuration.http.tokens.isEmpty)
        #expect(loaded.configuration.apps.first?.rules.environments == [.production, .sandbox])
    }

    @Test func `the example's token comes from the environment`() throws {
        let loaded = try ConfigurationLoader.load(
            path: Samples.repository + "/examples/aegis.yaml",
            environment: ["AEGIS_API_TOKEN": String(repeating: "a", count: 64)])
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.configuration.http.tokens.map(\.name) == ["backend"])
    }

    @Test func `the shipped catalog has the nine notifications, in English and German`() throws {
        let app = AppRules(id: AppID("com.example.app"), hasTimeSensitive: true)
        let (catalog, warnings) = try CatalogLoader.load(
            path: Samples.repository + "/catalog.yaml", apps: [app], retention: .seconds(30 * 86_400))
        #expect(warnings.isEmpty)
        #expect(catalog.categories.keys.sorted() == ["ACTION_APPROVAL", "DELIVERY_UPDATE", "MESSAGE"])
        #expect(catalog.categories["MESSAGE"]?.actions.contains { $0.options.contains("textInput") } == true)
        let priorities = catalog.types.filter { $0.value.rules.pushType == .alert }.mapValues(\.rules.priority)
        #expect(
            priorities == [
                "order_confirmed": .high, "item_received": .high, "action_failed": .critical,
                "security_alert": .critical, "account_verified": .medium, "price_alert": .low, "chat_message": .high,
            ])
        let silent = catalog.types.filter { $0.value.rules.pushType == .background }.keys.sorted()
        #expect(silent == ["content_update", "data_sync"])
        let chat = try #require(catalog.types["chat_message"]).rules
        #expect(chat.isChat && chat.badge == .none)
        for (name, type) in catalog.types where type.rules.pushType == .alert {
            #expect(Set(type.content.keys.map(\.text)) == ["en", "de"], "\(name)")
            #expect(Set(type.fallback.keys.map(\.text)) == ["en", "de"], "\(name)")
        }
    }

    @Test func `the README's catalog loads without a problem`() throws {
        let readme = try String(contentsOfFile: Samples.repository + "/README.md", encoding: .utf8)
        let block = try #require(readme.firstRange(of: "<!-- catalog -->\n```yaml\n"))
        let text = try #require(readme[block.upperBound...].components(separatedBy: "```").first)
        let folder = try ScratchFolder()
        let loaded = try CatalogLoader.load(path: try folder.write(text, to: "catalog.yaml"))
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.catalog.types["price_alert"]?.privacy == .amountsAllowed)
    }

    /// With `AEGIS_WRITE_DOCS=1` the file is written instead of compared.
    @Test func `the reference is what the tables say`() throws {
        let path = Samples.repository + "/docs/configuration.md"
        if ProcessInfo.processInfo.environment["AEGIS_WRITE_DOCS"] == "1" {
            try ConfigurationReference.markdown().write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == ConfigurationReference.markdown())
    }
}
