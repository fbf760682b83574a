import AegisContent
import AegisCore
import Testing

@Suite struct DigestAndPrivacyTests {
    private let english = LocaleTag("en")
    private let german = LocaleTag("de")

    private func type(
        body: String, fallback: String? = nil, privacy: PrivacyRule = .strict, title: String = "News"
    ) throws -> CatalogType {
        let english = try #require(english)
        let german = try #require(german)
        func message(_ text: String) throws -> MessageTemplates {
            MessageTemplates(title: try Template(parsing: title), body: try Template(parsing: text))
        }
        var type = try Sample.type([:])
        type.content = [english: try message(body)]
        type.fallback = try fallback.map { [english: try message($0)] } ?? [:]
        type.digest = [
            english: try message(##"{{digest.count | plural(one: "# alert", other: "# alerts")}}"##),
            german: try message(##"{{digest.count | plural(one: "# Alarm", other: "# Alarme")}}"##),
        ]
        type.privacy = privacy
        return type
    }

    private func render(
        _ type: CatalogType, data: String = "{}", items: Int = 0, locale: LocaleTag? = nil
    ) throws -> RenderedPush {
        var job = try Sample.job(type, Sample.event(data), locale: locale?.text ?? "en")
        job.items = items
        return try job.render()
    }

    private func text(_ push: RenderedPush) -> String { String(decoding: push.payload.bytes, as: UTF8.self) }

    @Test func `a digest says how many it stands for, in the reader's language`() throws {
        let type = try type(body: "One")
        #expect(text(try render(type, items: 1_234)).contains(#""body":"1,234 alerts""#))
        #expect(text(try render(type, items: 1_234, locale: german)).contains(#""body":"1.234 Alarme""#))
    }

    @Test func `a digest of one reads as that one`() throws {
        #expect(text(try render(try type(body: "One"), items: 1)).contains(#""body":"One""#))
        #expect(text(try render(try type(body: "One"))).contains(#""body":"One""#))
    }

    @Test func `a text that shows what it must not is replaced by the neutral one, and says why`() throws {
        let push = try render(
            try type(body: "Card {{card}}", fallback: "Something about your card"),
            data: #"{"card":"4111 1111 1111 1111"}"#)
        #expect(text(push).contains(#""body":"Something about your card""#))
        #expect(push.refused == .cardNumber)
        #expect(!text(push).contains("4111"))
    }

    @Test func `without a neutral text it is refused, and the reason quotes nothing`() throws {
        let type = try type(body: "Write to {{mail}}")
        let rejection = #expect(throws: Rejection.self) {
            try render(type, data: #"{"mail":"ada.lovelace@example.com"}"#)
        }
        #expect(rejection?.kind == .privacy)
        #expect(rejection?.reason.contains("an e-mail address") == true)
        #expect(rejection?.reason.contains("ada") == false)
    }

    @Test func `a code in the body is seen by its name in the title`() throws {
        let type = try type(body: "{{code}}", title: "Your verification code")
        let rejection = #expect(throws: Rejection.self) { try render(type, data: #"{"code":"482913"}"#) }
        #expect(rejection?.kind == .privacy)
    }

    @Test func `an amount is shown where the type allows amounts`() throws {
        let data = #"{"total":4999}"#
        let body = "You paid {{total | money(EUR)}}"
        #expect(throws: Rejection.self) { try render(try type(body: body), data: data) }
        let push = try render(try type(body: body, privacy: .amountsAllowed), data: data)
        #expect(text(push).contains("49.99"))
        #expect(push.refused == nil)
    }

    @Test func `what goes into a text of the app is screened too`() throws {
        let english = try #require(english)
        var type = try Sample.type([:])
        type.content = [
            english: MessageTemplates(localized: [
                .body: LocalizedText(key: "MAIL", arguments: [try Template(parsing: "{{mail}}")])
            ])
        ]
        let rejection = #expect(throws: Rejection.self) {
            try render(type, data: #"{"mail":"ada.lovelace@example.com"}"#)
        }
        #expect(rejection?.kind == .privacy)
    }

    @Test func `a link and custom keys may hold what a text may not`() throws {
        var type = try type(body: "Hello")
        type.custom = [CustomField(key: "mail", value: try Template(parsing: "{{mail}}"))]
        let push = try render(type, data: #"{"mail":"ada.lovelace@example.com"}"#)
        #expect(text(push).contains("ada.lovelace@example.com"))
    }
}
