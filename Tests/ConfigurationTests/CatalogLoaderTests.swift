import AegisContent
import AegisCore
import Configuration
import Testing

@Suite struct CatalogLoaderTests {
    private static let plain = AppRules(id: AppID("com.example.app"))
    private static let entitled = AppRules(
        id: AppID("com.example.other"), hasTimeSensitive: true, hasCriticalAlerts: true)

    private func load(_ text: String, apps: [AppRules] = [entitled]) throws -> (catalog: Catalog, problems: [String]) {
        let path = try ScratchFolder()
        let file = try path.write(text, to: "catalog.yaml")
        do {
            let (catalog, warnings) = try CatalogLoader.load(path: file, apps: apps, retention: .seconds(30 * 86_400))
            return (catalog, warnings.map { $0.description.replacing(path.path + "/", with: "") })
        } catch {
            let empty = Catalog(defaultLocale: try #require(LocaleTag("en")), categories: [:], types: [:])
            return (empty, error.problems.map { $0.description.replacing(path.path + "/", with: "") })
        }
    }

    @Test(arguments: [
        ("critical", InterruptionLevel.timeSensitive, QuietHoursRule.bypass),
        ("high", .active, .defer), ("medium", .active, .defer), ("low", .passive, .defer),
    ])
    func `defaults follow the priority`(priority: String, level: InterruptionLevel, quiet: QuietHoursRule) throws {
        let (catalog, problems) = try load(
            """
            types:
              hello:
                {priority: \(priority), category: none, deep_link: none, content: {en: {title: Hello}}, fallback: {en: {title: Hi}}}
            """)
        #expect(problems.isEmpty)
        let rules = try #require(catalog.types["hello"]).rules
        #expect(rules.interruptionLevel == level)
        #expect(rules.quietHours == quiet)
        #expect(rules.category == nil)
        #expect(rules.reason == "hello")
        #expect(rules.sound == .named("default"))
        #expect(rules.badge == .increment)
        #expect(rules.timeToLive == .seconds(86_400))
        #expect(rules.isOnByDefault)
        #expect(rules.consent == .transactional)
    }

    @Test func `everything that can be written is understood`() throws {
        let (catalog, problems) = try load(
            """
            version: 1
            default_locale: de
            categories:
              ORDER:
                actions: [{id: VIEW, title: Ansehen, options: [foreground]}]
                options: [customDismissAction]
                hidden_preview: Neues
            types:
              order:
                match: [OrderConfirmed, OrderPaid]
                priority: critical
                category: ORDER
                deep_link: /orders/{{order_id}}
                reason: order-reason
                thread_id: order-{{order_id}}
                collapse_id: order-{{order_id}}
                interruption_level: critical
                relevance_score: 0.75
                sound: {critical: true, name: alarm.caf, volume: 0.8}
                badge: keep
                ttl: 2h
                consent: marketing
                default: off
                quiet_hours: silence
                privacy: strict
                sensitive: []
                frequency:
                mutable_content: true
                push_type: alert
                custom: {b: "{{order_id}}", a: fixed}
                content: {de: {title: Bestellt, subtitle: Danke, body: Alles gut}, en-GB: {body: Ordered}}
                fallback: {de: {title: Neues}}
              sync: {push_type: background, ttl: 1h}
            """)
        #expect(problems.isEmpty)
        #expect(catalog.defaultLocale == LocaleTag("de"))
        #expect(
            catalog.categories["ORDER"]
                == NotificationCategory(
                    id: "ORDER", actions: [.init(id: "VIEW", title: "Ansehen", options: ["foreground"])],
                    options: ["customDismissAction"], hiddenPreview: "Neues"))
        let order = try #require(catalog.type(matching: "OrderPaid"))
        #expect(
            order.rules
                == NotificationRules(
                    name: "order", priority: .critical, category: "ORDER", reason: "order-reason",
                    interruptionLevel: .critical, relevance: 750, sound: .critical(name: "alarm.caf", volume: 800),
                    badge: .keep, timeToLive: .seconds(7_200), consent: .marketing, isOnByDefault: false,
                    quietHours: .silence, isMutableContent: true, pushType: .alert))
        #expect(order.deepLink?.source == "/orders/{{order_id}}")
        #expect(order.collapseID?.source == "order-{{order_id}}")
        #expect(order.custom.map(\.key) == ["b", "a"])
        let german = try #require(LocaleTag("de"))
        #expect(order.content[german]?.subtitle?.source == "Danke")
        #expect(order.content.count == 2)
        let sync = try #require(catalog.types["sync"]).rules
        #expect(sync.pushType == .background && sync.sound == .none && sync.badge == .none)
        #expect(sync.quietHours == .bypass && sync.interruptionLevel == .passive)
    }

    @Test func `a message names keys of the app's string table, and a type what it gives up first`() throws {
        let (catalog, problems) = try load(
            """
            types:
              chat:
                category: none
                deep_link: /c/{{id}}
                custom: {avatar: "{{url}}"}
                trim: [custom.avatar, body]
                content:
                  en: {title_loc_key: CHAT_TITLE, title_loc_args: ["{{name}}", "{{n | number}}"], loc_key: CHAT_BODY}
            """)
        #expect(problems.isEmpty)
        let chat = try #require(catalog.types["chat"])
        #expect(chat.trim == [.custom("avatar"), .text(.body)])
        let localized = try #require(chat.content.values.first).localized
        #expect(localized[.title]?.key == "CHAT_TITLE")
        #expect(localized[.title]?.arguments.map(\.source) == ["{{name}}", "{{n | number}}"])
        #expect(localized[.body]?.key == "CHAT_BODY")
        #expect(localized[.subtitle] == nil)
    }

    @Test
    func `a link whose host a value could change, two writers of a text and unknown things to give up are refused`()
        throws
    {
        let (_, problems) = try load(
            """
            types:
              chat:
                category: none
                deep_link: https://{{host}}/c
                custom: {avatar: "{{url}}"}
                trim: [custom.avatr, boddy]
                content:
                  en: {title: Hello, title_loc_key: CHAT_TITLE, loc_args: ["{{name}}"]}
            """)
        #expect(problems.count == 5)
        for (line, text) in [
            (4, "the host of a deep link is no place for a value"), (6, "custom.avatr"), (6, "boddy"),
            (8, "title is written already"), (8, "wants loc_key"),
        ] {
            #expect(problems.contains { $0.contains(":\(line)") && $0.contains(text) }, "\(text)")
        }
    }

    @Test func `twenty mistakes are reported in one run, each at its line`() throws {
        let (_, problems) = try load(
            """
            version: 2
            default_locale: "e n"
            categories:
              ORDER: {actions: [{id: VIEW, title: View}, {id: VIEW, title: Again}]}
              MESSAGE: {options: [customDismisAction]}
            types:
              one:
                match: [A, two]
                priority: hihg
                category: ODER
                deep_link: none
                content: {en: {titel: One, body: One}}
              two:
                match: [A]
                deep_link: none
                ttl: 31d
                interruption_level: critical
                sound: {critical: true, name: x.caf}
                custom: {aps: x}
                content: {en: {}}
              three:
                push_type: background
                priority: critical
                sound: default
                badge: increment
                content: {en: {title: x}}
              four:
                category: none
                relevance_score: 1.5
                frequency: {max: 0, per: 1h}
                privacy: lax
                sensitive: [card number]
                push_type: voip
                content: {"!": {title: x}}
            """, apps: [Self.plain])
        #expect(
            problems.map { $0.split(separator: ":").prefix(3).joined(separator: ":") } == [
                "catalog.yaml:1: version", "catalog.yaml:2: default_locale",
                "catalog.yaml:4: categories.ORDER.actions[1].id", "catalog.yaml:5: categories.MESSAGE.options[0]",
                "catalog.yaml:8: types.one.match[1]", "catalog.yaml:9: types.one.priority",
                "catalog.yaml:10: types.one.category", "catalog.yaml:12: types.one.content.en.titel",
                "catalog.yaml:13: types.two.category", "catalog.yaml:14: types.two.match[0]",
                "catalog.yaml:16: types.two.ttl", "catalog.yaml:17: types.two.interruption_level",
                "catalog.yaml:18: types.two.sound", "catalog.yaml:19: types.two.custom.aps",
                "catalog.yaml:20: types.two.content.en", "catalog.yaml:23: types.three.priority",
                "catalog.yaml:24: types.three.sound", "catalog.yaml:25: types.three.badge",
                "catalog.yaml:26: types.three.content", "catalog.yaml:27: types.four.deep_link",
                "catalog.yaml:29: types.four.relevance_score", "catalog.yaml:30: types.four.frequency.max",
                "catalog.yaml:31: types.four.privacy", "catalog.yaml:32: types.four.sensitive[0]",
                "catalog.yaml:33: types.four.push_type", "catalog.yaml:34: types.four.content.!",
            ])
        #expect(problems.contains { $0.hasSuffix("unknown category \"ODER\"; did you mean \"ORDER\"?") })
        #expect(problems.contains { $0.hasSuffix("\"A\" means the type one already") })
        #expect(problems.contains { $0.hasSuffix("no app has the entitlement critical-alerts; use time-sensitive") })
    }

    @Test func `a visible type wants texts in the default locale and a critical one a neutral text`() throws {
        let (_, problems) = try load(
            "types: {a: {priority: critical, category: none, deep_link: none, content: {de: {title: Hallo}}}}")
        #expect(
            problems
                == [
                    "catalog.yaml:1: types.a.content: wants texts in en, the default locale",
                    "catalog.yaml:1: types.a.fallback: a critical type wants a neutral text in en; "
                        + "it is sent where the rendered text may not be shown",
                ].sorted { $0.contains("fallback") && !$1.contains("fallback") })
    }

    @Test func `long texts, places in neutral texts and levels without entitlement are warnings`() throws {
        let long = String(repeating: "x", count: 51)
        let (catalog, problems) = try load(
            """
            types:
              a:
                category: none
                deep_link: none
                interruption_level: time-sensitive
                content:
                  en:
                    title: \(long)
                    body: "{{a_place_does_not_count_since_its_length_is_unknown}}\(long)\(long)"
                  de:
                    body: \(long)\(long)\(long)
                fallback: {en: {title: "{{name}}"}}
            """, apps: [Self.plain])
        #expect(catalog.types.count == 1)
        #expect(
            problems == [
                "catalog.yaml:5: warning: types.a.interruption_level: no app has the entitlement time-sensitive, "
                    + "so it is presented as active",
                "catalog.yaml:8: warning: types.a.content.en.title: has 51 characters, of which 50 are shown everywhere",
                "catalog.yaml:11: warning: types.a.content.de.body: has 153 characters, "
                    + "of which 150 are shown everywhere",
                "catalog.yaml:12: warning: types.a.fallback.en.title: a neutral text has no place for data",
            ])
    }

    @Test(.enabled(if: (try? Template(parsing: "{{a | nosuchfilter}}")) == nil, "templates are parsed elsewhere"))
    func `a template with an unknown filter is refused at its line`() throws {
        let (_, problems) = try load(
            "types:\n  a: {category: none, deep_link: none, content: {en: {\n    title: \"{{a | nosuchfilter}}\"}}}")
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("catalog.yaml:3: types.a.content.en.title: ") == true)
    }
}
