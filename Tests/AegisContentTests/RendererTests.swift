import AegisContent
import AegisCore
import Foundation
import Testing

@Suite struct RendererTests {
    private func json(_ push: RenderedPush, badge: Int = PushPayload.maximumBadge) throws -> NSDictionary {
        let object = try JSONSerialization.jsonObject(with: Data(push.payload.bytes(badge: badge)))
        return try #require(object as? NSDictionary)
    }

    private func text(_ push: RenderedPush, badge: Int = 7) -> String {
        String(decoding: push.payload.bytes(badge: badge), as: UTF8.self)
    }

    @Test func `an alert has the contract's keys, raw UTF-8 and the badge stamped later`() throws {
        let type = try Sample.type(
            ["en": Sample.text("Order", "{{name}} is \"on\"", subtitle: "s")], relevance: 700,
            deepLink: "/orders/{{id}}",
            threadID: "order-{{id}}", custom: [CustomField(key: "order_id", value: try Template(parsing: "{{id}}"))])
        let event = try Sample.event(#"{"id":"a/b 7","name":"\u00e9\ud83d\ude00\/\n"}"#)
        let push = try Sample.job(type, event).render()
        #expect(
            text(push)
                == #"{"aps":{"alert":{"title":"Order","subtitle":"s","body":"é😀/\n is \"on\""},"badge":7,"sound":"default","#
                + #""thread-id":"order-a/b 7","category":"CAT","interruption-level":"active","relevance-score":0.7},"#
                + #""type":"order","event_id":"evt-1","deep_link":"/orders/a%2Fb%207","recipient":"user-42","reason":"order","#
                + #""order_id":"a/b 7"}"#)
        #expect(push.title == "Order")
        #expect(push.threadID == "order-a/b 7")
        #expect(push.deepLink == "/orders/a%2Fb%207")
        #expect(push.locale.text == "en")
    }

    @Test func `a device that counts by itself gets no badge, chat no sound, and the extension runs`() throws {
        let chat = try Sample.type(["en": Sample.text("t", "b")], reason: NotificationRules.chatReason, category: nil)
        let event = try Sample.event()
        let client = try json(
            Sample.job(chat, event, sound: .named("dm.aiff"), badge: .increment, mode: .client).render())
        #expect(
            client["aps"] as? NSDictionary == [
                "alert": ["title": "t", "body": "b"], "interruption-level": "active", "mutable-content": 1,
            ])
        let server = try json(Sample.job(chat, event, sound: .named("dm.aiff"), badge: .none).render())
        #expect(
            server["aps"] as? NSDictionary == [
                "alert": ["title": "t", "body": "b"], "interruption-level": "active", "sound": "dm.aiff",
            ])
        let off = try Sample.job(chat, event, sound: .none, badge: .keep, mode: .off).render()
        #expect(off.payload.badgeOffset == nil)
    }

    @Test func `a critical alert names its volume`() throws {
        let type = try Sample.type(["en": Sample.text("t", "b")])
        let push = try Sample.job(type, Sample.event(), level: .critical, sound: .critical(name: "x", volume: 80))
            .render()
        #expect(text(push).contains(#""sound":{"critical":1,"name":"x","volume":0.08}"#))
        #expect(text(push).contains(#""interruption-level":"critical""#))
    }

    @Test func `a background push has nothing but content-available and the root keys, renamed where the app wants it`()
        throws
    {
        let type = try Sample.type([:], pushType: .background)
        let push = try Sample.job(type, Sample.event(), rootKeys: ["recipient": "recipientDid"]).render()
        #expect(
            text(push)
                == #"{"aps":{"content-available":1},"type":"order","event_id":"evt-1","recipientDid":"user-42","reason":"order"}"#
        )
        #expect(push.payload.badgeOffset == nil)
        #expect(push.title == nil)
    }

    @Test func `a root key that is taken is refused`() throws {
        for key in ["aps", "type"] {
            let type = try Sample.type(
                ["en": Sample.text("t", nil)], custom: [CustomField(key: key, value: try Template(parsing: "x"))])
            let job = try Sample.job(type, Sample.event())
            #expect(
                throws: Rejection(
                    kind: .configuration, stage: .render, reason: "two values of the payload are called \(key)")
            ) { try job.render() }
        }
    }

    @Test(
        arguments: [
            ("de-AT", "de"), ("DE_at", "de"), ("pt-br", "pt-BR"), ("pt-PT", "en"), ("fr", "en"), (nil, "de"),
        ] as [(String?, String)]) func `the text is in the nearest language there is`(device: String?, expected: String)
        throws
    {
        let type = try Sample.type([
            "en": Sample.text("en", nil), "de": Sample.text("de", nil), "pt-BR": Sample.text("pt-BR", nil),
        ])
        let push = try Sample.job(type, Sample.event(locale: "de-CH"), locale: device).render()
        #expect(push.title == expected)
        #expect(push.locale.text == expected)
    }

    @Test(arguments: [
        ("{{l}}", "https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
        ("{{l}}", "myapp://x/y", "myapp://x/y"),
        ("{{l}}", "/x", "/x"), ("/p/{{l}}", "../?&#é", "/p/..%2F%3F%26%23%C3%A9"),
        ("myapp://x/{{l}}", "a b", "myapp://x/a%20b"),
    ]) func `a deep link leads where it may`(template: String, value: String, expected: String) throws {
        let type = try Sample.type(["en": Sample.text("t", nil)], deepLink: template)
        let push = try Sample.job(type, Sample.event(#"{"l":"\#(value)"}"#)).render()
        #expect(push.deepLink == expected)
    }

    @Test(arguments: [
        "javascript:alert(1)", "javascript://x", "//evil.example", "/\\\\evil", "x", "", "data:text/html,x",
        "file:///etc",
        "/a\\nb", "/a b", "1x://a",
    ]) func `a deep link that leads elsewhere is refused`(value: String) throws {
        let type = try Sample.type(["en": Sample.text("t", nil)], deepLink: "{{l}}")
        let job = try Sample.job(type, Sample.event(#"{"l":"\#(value)"}"#))
        let rejection = #expect(throws: Rejection.self) { try job.render() }
        #expect(rejection?.kind == .content)
    }

    @Test func `thread and collapse ids are rendered by themselves, the event's own collapse id first`() throws {
        let type = try Sample.type([:], threadID: "t-{{id}}-{{user.id}}", collapseID: "c-{{id}}")
        let user = try UserID("u")
        let event = try Sample.event(#"{"id":7}"#)
        func ids(_ type: CatalogType, _ event: DomainEvent) throws -> (thread: String?, collapse: String?) {
            let renderer = Renderer(catalog: try Sample.catalog(type))
            let request = renderer.request(type, for: event, to: user, timeZone: nil)
            return (try renderer.threadID(of: request), try renderer.collapseID(of: request))
        }
        #expect(try ids(type, event) == ("t-7-u", "c-7"))
        #expect(try ids(type, Sample.event(#"{"id":7}"#, collapseID: "own")) == ("t-7-u", "own"))
        #expect(try ids(Sample.type([:]), event) == (nil, nil))
        #expect(throws: Rejection(kind: .content, stage: .render, reason: "id is missing")) {
            try ids(type, Sample.event())
        }
    }

    @Test(arguments: ["🇩🇪", "👨‍👩‍👧‍👦", "1️⃣", "مرحبا ", "\\\"", "\\u0001", "a\\n", "e\u{301}", "漢", "a"])
    func `a body of 10000 characters is cut between characters and the payload fits exactly as measured`(
        unit: String
    ) throws {
        let type = try Sample.type(["en": Sample.text("T", "{{b}}", subtitle: "S")])
        let event = try Sample.event(#"{"b":"\#(String(repeating: unit, count: 10_000))"}"#)
        let whole = try #require(
            try JSONSerialization.jsonObject(
                with: Data("\"\(unit)\"".utf8), options: .fragmentsAllowed) as? String)
        for badge in [BadgeRule.increment, .none] {
            let push = try Sample.job(type, event, badge: badge).render()
            let sent = push.payload.bytes(badge: .max)
            #expect(sent.count <= 4_096)
            #expect(sent.count > 4_096 - 64)
            let aps = try #require(try json(push)["aps"] as? NSDictionary)
            let alert = try #require(aps["alert"] as? NSDictionary)
            let body = try #require(alert["body"] as? String)
            #expect(alert["title"] as? String == "T" && alert["subtitle"] as? String == "S")
            #expect(body.last == "…")
            let source = String(repeating: whole, count: body.count + 1)
            #expect(source.hasPrefix(body.dropLast()) && Array(source).starts(with: body.dropLast()))
        }
    }

    @Test func `subtitle and title follow when the body is not enough`() throws {
        let long = String(repeating: "x", count: 5_000)
        let type = try Sample.type(["en": Sample.text("{{l}}", "{{l}}", subtitle: "{{l}}")])
        let push = try Sample.job(type, Sample.event(#"{"l":"\#(long)"}"#)).render()
        #expect(push.payload.bytes(badge: .max).count == 4_096)
        let aps = try #require(try json(push)["aps"] as? NSDictionary)
        let alert = try #require(aps["alert"] as? NSDictionary)
        #expect(alert["body"] as? String == "" && alert["subtitle"] as? String == "")
        #expect(alert["title"] as? String == push.title)
    }

    @Test func `custom data that leaves no room is too large`() throws {
        let custom = [CustomField(key: "k", value: try Template(parsing: "{{l}}"))]
        for (content, pushType) in [(["en": try Sample.text("t", "b")], PushType.alert), ([:], .background)] {
            let type = try Sample.type(content, pushType: pushType, custom: custom)
            let long = String(repeating: "x", count: 4_096)
            let job = try Sample.job(type, Sample.event(#"{"l":"\#(long)"}"#))
            let rejection = #expect(throws: Rejection.self) { try job.render() }
            #expect(rejection?.kind == .tooLarge)
        }
    }

    @Test(arguments: Array(0...120)) func `payloads around the limit are never above it`(extra: Int) throws {
        let type = try Sample.type(["en": Sample.text("T", "{{b}}")])
        let body = String(repeating: "é\\\"👨‍👩‍👧‍👦", count: 120) + String(repeating: "y", count: 400 + extra * 2)
        let push = try Sample.job(type, Sample.event(#"{"b":"\#(body)"}"#)).render()
        #expect(push.payload.bytes(badge: .max).count <= 4_096)
        _ = try json(push, badge: 0)
    }
}
