import AegisContent
import AegisCore
import Foundation
import Testing

@Suite struct PayloadContractTests {
    private func payload(_ push: RenderedPush) throws -> NSDictionary {
        let object = try JSONSerialization.jsonObject(with: Data(push.payload.bytes(badge: 1)))
        return try #require(object as? NSDictionary)
    }

    private func alert(_ push: RenderedPush) throws -> NSDictionary {
        let aps = try #require(try payload(push)["aps"] as? NSDictionary)
        return try #require(aps["alert"] as? NSDictionary)
    }

    private func template(_ source: String) throws -> Template { try Template(parsing: source) }

    @Test func `texts of the app's own string tables go by key, with arguments that are strings`() throws {
        let message = MessageTemplates(
            subtitle: try template("{{name}}"),
            localized: [
                .title: LocalizedText(
                    key: "ORDER_TITLE", arguments: [try template("{{n}}"), try template("{{name}}")]),
                .body: LocalizedText(key: "ORDER_BODY"),
            ])
        let type = try Sample.type(["en": message])
        let push = try Sample.job(type, Sample.event(#"{"n":7,"name":"A \"B\""}"#), locale: "fr").render()
        #expect(
            try alert(push) == [
                "title-loc-key": "ORDER_TITLE", "title-loc-args": ["7", "A \"B\""], "subtitle": "A \"B\"",
                "loc-key": "ORDER_BODY",
            ])
        #expect(push.title == nil)
        let all = MessageTemplates(
            localized: Dictionary(
                uniqueKeysWithValues: try AlertText.allCases.map {
                    ($0, LocalizedText(key: $0.rawValue, arguments: [try template("x")]))
                }))
        let keys = try alert(Sample.job(Sample.type(["en": all]), Sample.event()).render()).allKeys
        #expect(
            Set(keys.compactMap { $0 as? String }) == [
                "title-loc-key", "title-loc-args", "subtitle-loc-key", "subtitle-loc-args", "loc-key", "loc-args",
            ])
    }

    @Test func `what the catalog gives up first goes first, and the rest stays whole`() throws {
        let custom = [
            CustomField(key: "sender_avatar_url", value: try template("{{url}}")),
            CustomField(key: "convo_id", value: try template("c-1")),
        ]
        let steps: [TrimStep] = [.custom("sender_avatar_url"), .text(.body), .text(.title)]
        let type = try Sample.type(
            ["en": Sample.text("Title", "{{body}}")], deepLink: "/c/{{id}}", custom: custom, trim: steps)
        func push(url: Int, body: Int) throws -> RenderedPush {
            let url = String(repeating: "u", count: url)
            let body = String(repeating: "b", count: body)
            return try Sample.job(type, Sample.event(#"{"id":1,"url":"\#(url)","body":"\#(body)"}"#)).render()
        }
        let whole = try push(url: 1_000, body: 1_000)
        #expect(try payload(whole)["sender_avatar_url"] != nil)
        let withoutPicture = try push(url: 3_000, body: 2_000)
        #expect(try payload(withoutPicture)["sender_avatar_url"] == nil)
        #expect((try alert(withoutPicture)["body"] as? String)?.count == 2_000)
        #expect(withoutPicture.deepLink == "/c/1" && withoutPicture.title == "Title")
        let shortened = try push(url: 3_000, body: 5_000)
        #expect(shortened.payload.bytes(badge: .max).count == 4_096)
        #expect(try payload(shortened)["sender_avatar_url"] == nil)
        #expect(try payload(shortened)["convo_id"] as? String == "c-1")
        #expect((try alert(shortened)["body"] as? String)?.last == "…")
        #expect(shortened.deepLink == "/c/1" && shortened.title == "Title")
    }

    @Test func `a voip push may be as large as PushKit takes`() throws {
        let type = try Sample.type(["en": Sample.text("t", "{{b}}")], pushType: .voip)
        let body = String(repeating: "b", count: 6_000)
        let push = try Sample.job(type, Sample.event(#"{"b":"\#(body)"}"#)).render()
        #expect(push.payload.bytes(badge: .max).count == 5_120)
    }

    @Test(arguments: [
        ("/p/{{v}}", ".."), ("/p/{{v}}/x", "."), ("/p/{{v}}", ""), ("/p/.{{v}}?q", "."), ("/{{v}}/x", ""),
        ("https://example.com/{{v}}/settings", ".."),
    ]) func `a value cannot take a segment of the path away`(link: String, value: String) throws {
        let type = try Sample.type(["en": Sample.text("t", nil)], deepLink: link)
        let job = try Sample.job(type, Sample.event(#"{"v":"\#(value)"}"#))
        #expect(throws: Rejection.self) { try job.render() }
    }

    @Test(arguments: [
        ("/p/{{v}}", "//evil.example/..;x", "/p/%2F%2Fevil.example%2F..%3Bx"), ("/p/{{v}}", "...", "/p/..."),
        ("https://example.com/{{v}}?q={{v}}#{{v}}", "a:b@c", "https://example.com/a%3Ab%40c?q=a%3Ab%40c#a%3Ab%40c"),
        ("/q?next={{v}}", "..", "/q?next=.."),
    ]) func `a value is a part of the link's path, query or fragment and nothing else`(
        link: String, value: String, expected: String
    ) throws {
        let type = try Sample.type(["en": Sample.text("t", nil)], deepLink: link)
        #expect(try Sample.job(type, Sample.event(#"{"v":"\#(value)"}"#)).render().deepLink == expected)
    }

    @Test(arguments: [
        "{{v}}/x", "{{v}}://x/y", "https://{{v}}/x", "https://a.{{v}}.example/x", "https://example.com{{v}}",
        "javascript://x/{{v}}",
        "//host/{{v}}", "/a b/{{v}}", "/a\"{{v}}", "orders/{{v}}",
    ]) func `a link whose scheme, host or shape a value could change is refused before any event comes`(link: String)
        throws
    {
        let template = try template(link)
        #expect(DeepLink.problem(in: template) != nil)
        let type = try Sample.type(["en": Sample.text("t", nil)], deepLink: link)
        let job = try Sample.job(type, Sample.event(#"{"v":"v"}"#))
        let rejection = #expect(throws: Rejection.self) { try job.render() }
        #expect(rejection?.kind == .configuration)
    }

    @Test func `headers that contradict each other are refused`() throws {
        func rules(
            _ pushType: PushType, _ priority: Priority, _ level: InterruptionLevel = .active,
            timeToLive: Duration = .seconds(60)
        ) -> NotificationRules {
            NotificationRules(
                name: "n", priority: priority, category: nil, reason: "n", interruptionLevel: level,
                timeToLive: timeToLive, pushType: pushType)
        }
        #expect(rules(.alert, .low).headerProblem == nil)
        #expect(rules(.alert, .critical, .critical).headerProblem == nil)
        #expect(rules(.background, .medium).headerProblem == nil)
        #expect(rules(.voip, .high).headerProblem == nil)
        for faulty in [
            rules(.alert, .medium, .critical), rules(.background, .high, .critical), rules(.voip, .low),
            rules(.liveactivity, .high), rules(.alert, .high, timeToLive: .zero),
        ] {
            let problem = try #require(faulty.headerProblem)
            var type = try Sample.type(["en": Sample.text("t", nil)])
            type.rules = faulty
            let job = try Sample.job(type, Sample.event())
            #expect(
                throws: Rejection(kind: .configuration, stage: .render, reason: "n: \(problem)")
            ) { try job.render() }
        }
        #expect(PushType.voip.topicSuffix == ".voip" && rules(.voip, .high).pushPriority == .immediate)
    }

    @Test(arguments: [
        ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 2, "👨‍👩‍👧‍👦…"), ("🇩🇪🇫🇷🇮🇹", 2, "🇩🇪…"), ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("abcd", 4, "abcd"), ("abcde", 4, "abc…"),
        ("abc\u{301}", 3, "abc\u{301}"),
        ("abcd\u{301}", 3, "ab…"), ("a\r\nb", 3, "a\r\nb"), ("ก็ก็ก็", 2, "ก็…"), ("x", 1, "x"), ("xy", 1, "…"),
        ("", 1, ""),
    ]) func `truncation counts what a person sees as one character`(value: String, length: Int, expected: String) throws
    {
        let json = String(
            decoding: try JSONSerialization.data(withJSONObject: ["v": value], options: []), as: UTF8.self)
        let text = try Sample.body("{{v | truncate(\(length))}}", json)
        #expect(Array(text.utf8) == Array(expected.utf8))
    }
}
