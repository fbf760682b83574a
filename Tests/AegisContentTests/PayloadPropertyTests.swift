import AegisContent
import AegisCore
import AegisEvents
import AegisTestKit
import Foundation
import Testing

@Suite struct PayloadPropertyTests {
    /// 20 times 250 notifications.
    @Test(arguments: UInt64(1)...20)
    func `every payload is JSON within the limit and says what a slow renderer says`(seed: UInt64) throws {
        var hostile = HostileText(generator: SeededGenerator(seed: seed))
        var refused = 0
        var screened = 0
        for _ in 0..<250 {
            let slow = Self.notification(&hostile)
            let fields = slow.values.map { key, value in "\"\(key)\":\(hostile.json(value))" }
            let numbers = Self.numbers.map { "\"n\($0)\":\($0)" }
            let event = try Sample.event("{" + (fields.sorted() + numbers).joined(separator: ",") + "}")
            let job = try Sample.job(Self.type(slow), event)
            guard let expected = try slow.payload() else {
                refused += 1
                let rejection = #expect(throws: Rejection.self) { try job.render() }
                #expect(rejection?.kind == .tooLarge)
                continue
            }
            let sent: [UInt8]
            do {
                sent = try job.render().payload.bytes(badge: .max)
            } catch let rejection as Rejection where rejection.kind == .privacy {
                // Chance made up a phone number; what the guard finds is tested by itself.
                screened += 1
                continue
            }
            #expect(sent.count <= 4_096)
            let found = try #require(try JSONSerialization.jsonObject(with: Data(sent)) as? NSDictionary)
            #expect(found == expected)
        }
        #expect(refused < 125)
        #expect(screened < 10)
    }

    @Test func `a lone surrogate that got past the scanner becomes a replacement character`() throws {
        for (escape, expected) in [
            ("\\ud800", "\u{FFFD}"), ("\\udc00x", "\u{FFFD}x"), ("\\ud83d\\ude00", "😀"),
            ("\\ud800\\ud83d\\ude00", "\u{FFFD}😀"),
            ("\\ud8", "\u{FFFD}"), ("\\uZZZZ", "\u{FFFD}"),
        ] {
            let bytes = Array("{\"b\":\"\(escape)\"}".utf8)
            let data = EventData(
                bytes: bytes,
                nodes: [
                    .init(
                        kind: .object, key: 0..<0, keyHasEscapes: false, value: 0..<Int32(bytes.count),
                        valueHasEscapes: false, end: 2),
                    .init(
                        kind: .string, key: 2..<3, keyHasEscapes: false, value: 6..<Int32(bytes.count - 2),
                        valueHasEscapes: true, end: 2),
                ])
            var event = try Sample.event()
            event.data = data
            let type = try Sample.type(["en": Sample.text("{{b}}", nil)])
            let push = try Sample.job(type, event).render()
            #expect(push.title == expected)
            _ = try JSONSerialization.jsonObject(with: Data(push.payload.bytes(badge: 1)))
        }
    }

    private static let numbers = [0, 7, -1, 999, 1_000, -12_345, 1_234_567, 9_007_199_254_740_993]

    private static func notification(_ hostile: inout HostileText) -> SlowRenderer {
        var values: [String: String] = [:]
        for key in ["a", "b", "c"] { values[key] = hostile.text() }
        func pieces() -> [SlowRenderer.Piece] {
            (0..<Int.random(in: 1...3, using: &hostile.generator)).map { _ in
                let key = ["a", "b", "c"].randomElement(using: &hostile.generator) ?? "a"
                switch Int.random(in: 0..<5, using: &hostile.generator) {
                // A brace may open a place together with the next one.
                case 0: return .literal(hostile.text().prefix(200).filter { $0 != "{" })
                case 1, 2: return .value(key)
                case 3: return .truncated(key, Int.random(in: 1...30, using: &hostile.generator))
                default: return .number(numbers.randomElement(using: &hostile.generator) ?? 0)
                }
            }
        }
        var texts: [AlertText: [SlowRenderer.Piece]] = [.title: pieces()]
        if Bool.random(using: &hostile.generator) { texts[.subtitle] = pieces() }
        if Int.random(in: 0..<4, using: &hostile.generator) > 0 { texts[.body] = pieces() }
        var custom: [(key: String, value: [SlowRenderer.Piece])] = []
        for key in ["x", "avatar"] where Bool.random(using: &hostile.generator) { custom.append((key, pieces())) }
        let orders: [[TrimStep]] = [
            TrimStep.default, [.custom("avatar"), .text(.body), .text(.subtitle), .text(.title)],
            [.text(.title), .custom("x"), .text(.body)],
        ]
        return SlowRenderer(
            texts: texts, custom: custom, trim: orders.randomElement(using: &hostile.generator) ?? [], values: values)
    }

    private static func type(_ slow: SlowRenderer) throws -> CatalogType {
        func template(_ pieces: [SlowRenderer.Piece]?) throws -> Template? {
            try pieces.map { try Template(parsing: $0.map(\.source).joined()) }
        }
        return try Sample.type(
            [
                "en": MessageTemplates(
                    title: template(slow.texts[.title]), subtitle: template(slow.texts[.subtitle]),
                    body: template(slow.texts[.body]))
            ],
            custom: slow.custom.compactMap { field in
                try template(field.value).map { CustomField(key: field.key, value: $0) }
            }, trim: slow.trim)
    }
}
