import AegisContent
import AegisCore
import Configuration
import Testing

/// How often, what several say in one, and what nobody else may read.
@Suite struct CatalogRulesTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func load(
        _ text: String, retention: Duration = .seconds(30 * 86_400)
    ) throws -> (catalog: Catalog?, problems: [String]) {
        let file = try folder.write(text, to: "catalog.yaml")
        func written(_ problems: [Problem]) -> [String] {
            problems.map { $0.description.replacing(file, with: "catalog.yaml") }
        }
        do {
            let (catalog, warnings) = try CatalogLoader.load(path: file, apps: [], retention: retention)
            return (catalog, written(warnings))
        } catch {
            return (nil, written(error.problems))
        }
    }

    /// The problems of a visible type `a` with these lines, which begin at the third.
    private func problems(of lines: String, retention: Duration = .seconds(30 * 86_400)) throws -> [String] {
        let indented = lines.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
        return try load("types:\n  a:\n\(indented)\n    category: none", retention: retention).problems
    }

    private static let plain = "deep_link: none\ncontent: {en: {title: Hello}}"

    @Test func `a limit is read with what becomes of the others`() throws {
        let (catalog, problems) = try load(
            """
            types:
              drop: {category: none, deep_link: none, content: {en: {title: A}}, frequency: {max: 10, per: 1h, over: drop}}
              wait: {category: none, deep_link: none, content: {en: {title: A}}, frequency: {max: 1, per: 1m, over: defer}}
              short: {category: none, deep_link: none, content: {en: {title: A}}, frequency: {max: 2, per: 30d}}
              free: {category: none, deep_link: none, content: {en: {title: A}}}
              many:
                category: none
                deep_link: none
                content: {en: {title: A}}
                frequency: {max: 10000, per: 1h, over: digest}
                digest:
                  en: {title: '{{digest.count | plural(one: "# price alert", other: "# price alerts")}}'}
                  de: {title: Neues, subtitle: Viel, body: "{{digest.count | number}}"}
            """)
        #expect(problems.isEmpty)
        let types = try #require(catalog).types
        #expect(
            types["drop"]?.rules.frequency
                == FrequencyRule(limit: FrequencyLimit(max: 10, per: .seconds(3_600)), over: .drop))
        #expect(types["wait"]?.rules.frequency?.over == .defer)
        #expect(types["wait"]?.rules.frequency?.limit.per == .seconds(60))
        #expect(types["short"]?.rules.frequency?.over == .drop)
        #expect(types["free"]?.rules.frequency == nil)
        let many = try #require(types["many"])
        #expect(many.rules.frequency?.limit.max == 10_000)
        #expect(many.digest.keys.map(\.text).sorted() == ["de", "en"])
        #expect(many.digest[try #require(LocaleTag("de"))]?.subtitle?.source == "Viel")
    }

    @Test func `of silent pushes the newest of an hour wins, unless the type says another number`() throws {
        let (catalog, problems) = try load(
            """
            types:
              sync: {push_type: background}
              rare: {push_type: background, frequency: {max: 1, per: 2h}}
            """)
        #expect(problems.isEmpty)
        let types = try #require(catalog).types
        #expect(
            types["sync"]?.rules.frequency
                == FrequencyRule(limit: FrequencyLimit(max: 3, per: .seconds(3_600)), over: .digest))
        #expect(
            types["rare"]?.rules.frequency
                == FrequencyRule(limit: FrequencyLimit(max: 1, per: .seconds(7_200)), over: .digest))
    }

    @Test(arguments: [
        ("{max: 0, per: 1h}", "frequency.max: \"0\" is no whole number of 1 to 10000"),
        ("{max: 10001, per: 1h}", "frequency.max: \"10001\" is no whole number of 1 to 10000"),
        ("{max: 1, per: 59s}", "frequency.per: \"59s\" is out of range; 1m to 30d"),
        ("{max: 1, per: 31d}", "frequency.per: \"31d\" is out of range; 1m to 30d"),
        ("{max: 1, per: hour}", "frequency.per: \"hour\" is no duration"),
        ("{max: 1}", "frequency.per: is required"),
        ("{per: 1h}", "frequency.max: is required"),
        ("{max: 1, per: 1h, over: dorp}", "frequency.over: \"dorp\" is none of drop, defer, digest; did you mean"),
        ("{max: 1, per: 1h, ovr: drop}", "frequency.ovr: unknown key; did you mean \"over\"?"),
        ("10", "frequency: a single value"),
    ])
    func `a limit that is none is refused`(frequency: String, message: String) throws {
        let problems = try problems(of: "frequency: \(frequency)\n\(Self.plain)")
        #expect(problems.count == 1, "\(problems)")
        let expected = message.replacing("a single value", with: "keys with values are expected here")
        #expect(problems.first?.hasPrefix("catalog.yaml:3: types.a.\(expected)") == true, "\(problems)")
    }

    @Test func `a window is no longer than the ledger remembers`() throws {
        let frequency = "frequency: {max: 1, per: 8d}\n\(Self.plain)"
        #expect(
            try problems(of: frequency, retention: .seconds(7 * 86_400)) == [
                "catalog.yaml:3: types.a.frequency.per: 8d is longer than the ledger remembers; store.retention is 7d"
            ])
        #expect(try problems(of: frequency, retention: .seconds(8 * 86_400)).isEmpty)
    }

    @Test func `what waits for room longer than it is worth is warned of`() throws {
        let frequency = "ttl: 30m\n\(Self.plain)\nfrequency: {max: 1, per: 1h, over: "
        #expect(
            try problems(of: frequency + "defer}") == [
                "catalog.yaml:6: warning: types.a.frequency.per: what waits for room may expire before: ttl is 30m"
            ])
        #expect(try problems(of: frequency + "drop}").isEmpty)
    }

    @Test func `a critical type has no limit, and a silent one only the newest`() throws {
        let critical = try problems(
            of: "priority: critical\nfrequency: {max: 1, per: 1h}\nfallback: {en: {title: Hi}}\n\(Self.plain)")
        #expect(
            critical.contains(
                "catalog.yaml:4: types.a.frequency: a critical type ignores it; leave it out, or choose priority: high")
        )
        for over in ["drop", "defer"] {
            let (_, problems) = try load(
                "types:\n  s:\n    push_type: background\n    frequency: {max: 1, per: 1h, over: \(over)}")
            #expect(
                problems == [
                    "catalog.yaml:4: types.s.frequency.over: a background push knows digest alone; "
                        + "write over: digest; the newest then goes when there is room"
                ])
        }
    }

    @Test func `texts of a digest are wanted where there is one, and warned of elsewhere`() throws {
        let limit = "frequency: {max: 1, per: 1h, over: digest}"
        #expect(
            try problems(of: "\(limit)\n\(Self.plain)") == [
                "catalog.yaml:2: types.a.digest: wants texts in en, the default locale; they say {{digest.count}} in one"
            ])
        #expect(
            try problems(of: "\(limit)\n\(Self.plain)\ndigest: {de: {title: Viele}}") == [
                "catalog.yaml:6: types.a.digest: wants texts in en, the default locale; they say {{digest.count}} in one"
            ])
        for other in ["frequency: {max: 1, per: 1h, over: drop}", "frequency:"] {
            #expect(
                try problems(of: "\(other)\n\(Self.plain)\ndigest: {en: {title: Many}}") == [
                    "catalog.yaml:6: warning: types.a.digest: is used for visible types whose frequency has "
                        + "`over: digest` alone"
                ])
        }
    }

    @Test func `the number of a digest stands in texts, and outside of digests with a default`() throws {
        let problems = try problems(
            of: """
                frequency: {max: 1, per: 1h, over: digest}
                digest: {en: {title: "{{digest.count}}"}}
                thread_id: t-{{digest.count}}
                collapse_id: c-{{digest.count | default("1")}}
                deep_link: /l/{{digest.count}}
                custom: {n: "{{digest.count}}", m: '{{digest.count | default("1")}}'}
                content: {en: {title: "{{digest.count | number}}", body: '{{digest.count | default("1")}}'}}
                fallback: {en: {title: Hi}}
                """)
        #expect(
            problems.map { $0.prefix { $0 != ";" } } == [
                "catalog.yaml:5: types.a.thread_id: digest.count has no place here",
                "catalog.yaml:6: types.a.collapse_id: digest.count has no place here",
                "catalog.yaml:7: types.a.deep_link: digest.count has no place here",
                "catalog.yaml:8: types.a.custom.n: digest.count is there for a digest alone",
                "catalog.yaml:9: types.a.content.en.title: digest.count is there for a digest alone",
            ])
    }

    @Test func `a sensitive field, what is below it and what is above it reach no visible text`() throws {
        let problems = try problems(
            of: """
                sensitive: [card.number, address, cards.pin]
                deep_link: /c/{{card.number}}
                thread_id: "{{address.city}}"
                collapse_id: "{{address}}"
                custom: {card: "{{card.number}}"}
                frequency: {max: 1, per: 1h, over: digest}
                content:
                  en:
                    title: "{{card.number}}"
                    subtitle: "{{card}}"
                    body: "{{name}} {{address.city | default(\\"x\\")}} {{card.numbers}} {{cardholder}}"
                  de: {title_loc_key: T, title_loc_args: ["{{ok}}", "{{cards.0.pin}}"], loc_key: K}
                digest:
                  en: {title: "{{amount | money(card.number)}}"}
                fallback:
                  en: {body: "{{address}}"}
                privacy: amounts-allowed
                """)
        #expect(
            problems.map { $0.prefix { $0 != ";" } } == [
                "catalog.yaml:11: types.a.content.en.title: shows {{card.number}}, and the field card.number is sensitive",
                "catalog.yaml:12: types.a.content.en.subtitle: shows {{card}}, and the field card.number is sensitive",
                "catalog.yaml:13: types.a.content.en.body: shows {{address.city}}, and the field address is sensitive",
                "catalog.yaml:14: types.a.content.de.title_loc_args[1]: "
                    + "shows {{cards.0.pin}}, and the field cards.pin is sensitive",
                "catalog.yaml:16: types.a.digest.en.title: shows {{card.number}}, and the field card.number is sensitive",
                "catalog.yaml:18: types.a.fallback.en.body: shows {{address}}, and the field address is sensitive",
                "catalog.yaml:18: warning: types.a.fallback.en.body: a neutral text has no place for data",
            ])
    }

    @Test func `what is no path is refused, and one that begins elsewhere warned of`() throws {
        let problems = try problems(
            of: "sensitive: [card, \"a b\", a..b, \"a | number\", data.card, /card]\n\(Self.plain)")
        #expect(
            problems.map { $0.prefix { $0 != ";" } } == [
                "catalog.yaml:3: types.a.sensitive[1]: \"a b\" is no path",
                "catalog.yaml:3: types.a.sensitive[2]: \"a..b\" is no path",
                "catalog.yaml:3: types.a.sensitive[3]: \"a | number\" is no path",
                "catalog.yaml:3: warning: types.a.sensitive[4]: paths begin below data, and points join their names",
                "catalog.yaml:3: warning: types.a.sensitive[5]: paths begin below data, and points join their names",
            ])
    }

    @Test func `privacy and sensitive fields reach the type`() throws {
        let (catalog, problems) = try load(
            """
            types:
              a:
                category: none
                deep_link: none
                privacy: amounts-allowed
                sensitive: [card, address.street]
                content: {en: {title: "You paid {{sum | money(EUR)}}"}}
              b: {category: none, deep_link: none, content: {en: {title: Hello}}}
            """)
        #expect(problems.isEmpty)
        let types = try #require(catalog).types
        #expect(types["a"]?.privacy == .amountsAllowed)
        #expect(types["a"]?.sensitive == ["card", "address.street"])
        #expect(types["b"]?.privacy == .strict)
    }

    @Test func `what the privacy guard would refuse for every event is told beforehand`() throws {
        #expect(
            try problems(of: "deep_link: none\ncontent: {en: {title: \"{{sum | money(EUR)}}\"}}") == [
                "catalog.yaml:4: warning: types.a.content.en: an amount of money is refused where privacy is strict; "
                    + "write privacy: amounts-allowed"
            ])
        #expect(
            try problems(of: "deep_link: none\ncontent: {en: {title: Questions?, body: Write to help@example.com}}")
                == [
                    "catalog.yaml:4: types.a.content.en: shows an e-mail address, so it is never sent; say it without"
                ])
        let both = try problems(
            of: """
                deep_link: none
                content: {en: {title: Only 5 EUR today}, de: {title: Hallo}}
                fallback: {en: {title: News}, de: {title: Schreiben Sie an hilfe@example.com}}
                """)
        #expect(
            both == [
                "catalog.yaml:4: warning: types.a.content.en: shows an amount of money, so it is never sent; "
                    + "say it without",
                "catalog.yaml:5: types.a.fallback.de: shows an e-mail address, so it is never sent; say it without",
            ])
    }
}
