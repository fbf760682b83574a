import AegisCore
import AegisEvents
import Testing

@Suite struct EventDecoderTests {
    static let partition = TopicPartition(topic: "domain.events", partition: 3)
    static let recordTime = UnixTime(milliseconds: 1_800_000_000_000)

    static func decode(
        _ value: [UInt8]?, headers: [(String, String?)] = [], format: EventFormat = .auto,
        limits: DecodeLimits = DecodeLimits()
    ) -> [DecodedItem] {
        let decoder = EventDecoder(topics: [TopicFormat(topic: "domain.events", format: format)], limits: limits)
        let record = KafkaRecord(
            offset: 42, timestamp: recordTime, key: nil, value: value,
            headers: headers.map { RecordHeader(name: $0.0, value: $0.1.map { Array($0.utf8) }) })
        return decoder.decode(record, from: partition)
    }

    private func decode(
        _ text: String, headers: [(String, String?)] = [], format: EventFormat = .auto
    ) -> [DecodedItem] {
        Self.decode(Array(text.utf8), headers: headers, format: format)
    }

    private func event(
        _ text: String, headers: [(String, String?)] = [], format: EventFormat = .auto
    ) throws -> DomainEvent {
        let items = decode(text, headers: headers, format: format)
        guard items.count == 1, case .event(let event) = items[0] else {
            throw UnexpectedItems(items: items)
        }
        return event
    }

    private struct UnexpectedItems: Error {
        let items: [DecodedItem]
    }

    private func users(_ names: String...) throws -> Recipients {
        .users(try names.map { try UserID($0) })
    }

    private let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `Aegis's own shape is read whole`() throws {
        let text = """
            {"id":"evt-1","type":"order_confirmed","occurred_at":"2026-11-30T12:00:00Z","recipient":"user-42","actor":7,
             "deliver_at":1800000000,"expires_at":"2027-01-01T00:00:00+01:00","locale":"de-AT","collapse_id":"c","app":"a.b",
             "unknown":[1],"source":"not ours","data": {"order_id": "o-7", "n": [1, {"k\\n": "v"}]} }
            """
        let event = try event(text, headers: [("traceparent", trace)])
        #expect(event.identity == EventIdentity(source: "domain.events", id: "evt-1"))
        #expect(event.type == "order_confirmed")
        #expect(event.occurredAt == UnixTime(milliseconds: 1_796_040_000_000))
        #expect(event.recipients == (try users("user-42")))
        #expect(event.actor == (try UserID("7")))
        #expect(event.deliverAt == UnixTime(milliseconds: 1_800_000_000_000))
        #expect(event.expiresAt == UnixTime(milliseconds: 1_798_758_000_000))
        #expect(event.locale?.text == "de-AT")
        #expect(event.collapseID == "c")
        #expect(event.app == AppID("a.b"))
        #expect(event.traceparent == trace)
        #expect(event.data == (try JSONScanner.scan(event.data.bytes)))
        #expect(
            String(decoding: event.data.bytes, as: UTF8.self)
                == "{\"order_id\": \"o-7\", \"n\": [1, {\"k\\n\": \"v\"}]}")
        let node = try #require(event.data.node(at: ["order_id"].map { Array($0.utf8) }))
        #expect(event.data.text(of: node) == "o-7")
    }

    @Test func `ids keep every digit, and a number and its digits are one user`() throws {
        let event = try event(
            #"{"id":9007199254740993123,"type":"t","recipients":[90071992547409931,"90071992547409931","b",7]}"#)
        #expect(event.identity.id == "9007199254740993123")
        #expect(event.recipients == (try users("90071992547409931", "b", "7")))
    }

    @Test func `what is missing is taken from the record`() throws {
        let event = try event(#"{"type":"t","recipient":"u","id":null,"occurred_at":"yesterday"}"#)
        #expect(event.identity == EventIdentity(source: "domain.events", id: "domain.events-3-42"))
        #expect(event.occurredAt == Self.recordTime)
        #expect(event.data == .empty)
    }

    @Test func `an audience stays an audience`() throws {
        #expect(try event(#"{"type":"t","audience":"app:a.b"}"#).recipients == .audience("app:a.b"))
    }

    @Test func `a tombstone and an empty list are skips`() {
        #expect(Self.decode(nil) == [.ignored(.tombstone)])
        #expect(decode(#"{"type":"t","recipients":[]}"#) == [.ignored(.noRecipient)])
    }

    @Test(arguments: [
        (#"{"type":"t"}"#, DeadLetterKind.recipient, "no recipient, recipients or audience"),
        (
            #"{"type":"t","recipient":"SECRET","audience":"SECRET"}"#, .recipient,
            "recipient and audience together; exactly one is needed"
        ),
        (#"{"type":"t","recipient":1.5}"#, .recipient, "recipient is a number; a user id is a text or a whole number"),
        (
            #"{"type":"t","recipient":true}"#, .recipient,
            "recipient is a boolean; a user id is a text or a whole number"
        ),
        (#"{"type":"t","recipient":""}"#, .recipient, "recipient: a user id must not be empty"),
        (
            #"{"type":"t","recipients":["a",null]}"#, .recipient,
            "recipients[1] is null; a user id is a text or a whole number"
        ),
        (#"{"type":"t","recipients":"SECRET"}"#, .recipient, "recipients is no array"),
        (#"{"type":"t","audience":7}"#, .recipient, "audience is no text"),
        (#"{"recipient":"SECRET"}"#, .malformed, "type is missing"),
        (#"{"type":7,"recipient":"SECRET"}"#, .malformed, "type is a number, not a text"),
        (#"{"id":"","type":"t","recipient":"SECRET"}"#, .malformed, "id is empty"),
        (#"{"id":{},"type":"t","recipient":"SECRET"}"#, .malformed, "id is neither a text nor a whole number"),
        (#"{"type":"t","recipient":"u","data":"SECRET"}"#, .malformed, "data is no object"),
        (#"{"type":"t","recipient":"u","expires_at":"SECRET"}"#, .malformed, "expires_at is no time"),
        ("\"SECRET\"", .malformed, "the value is a text, not an object"),
        ("SECRET", .malformed, "not JSON at byte 0"),
        ("", .malformed, "there are no bytes"),
    ]) func `a fault is told without quoting`(text: String, kind: DeadLetterKind, reason: String) {
        #expect(decode(text) == [.rejected(Rejection(kind: kind, stage: .decode, reason: reason))])
    }

    @Test func `limits are checked before reading`() {
        let limits = DecodeLimits(valueBytes: 64, recipients: 2, headerBytes: 16)
        let many = #"{"type":"t","recipients":["a","b","c"]}"#
        for (value, headers, reason) in [
            ([UInt8](repeating: 0x20, count: 65), [], "the value has 65 bytes, more than 64"),
            (Array(many.utf8), [], "recipients has more than 2 entries"),
            (Array("{}".utf8), [("name", "0123456789abcdef")], "the headers have 20 bytes, more than 16"),
        ] as [([UInt8], [(String, String?)], String)] {
            guard case .rejected(let rejection) = Self.decode(value, headers: headers, limits: limits).first else {
                Issue.record("not rejected: \(reason)")
                continue
            }
            #expect(rejection.reason == reason)
        }
    }

    @Test(
        arguments: [
            ("application/cloudevents+json; charset=UTF-8", EventFormat.aegis), (nil, .auto), (nil, .cloudevents),
        ] as [(String?, EventFormat)])
    func `a structured CloudEvent is read`(contentType: String?, format: EventFormat) throws {
        let text = """
            {"specversion":"1.0","id":"41","source":"/garden","type":"thirsty","time":"2026-01-02T03:04:05Z","subject":null,
             "expirytime":"2026-01-03T00:00:00Z","traceparent":"\(trace)","data":{"recipient":12,"plant":"fern"}}
            """
        let event = try event(
            text, headers: [("content-type", contentType), ("traceparent", "broken")], format: format)
        #expect(event.identity == EventIdentity(source: "/garden", id: "41"))
        #expect(event.type == "thirsty")
        #expect(event.occurredAt == UnixTime(milliseconds: 1_767_323_045_000))
        #expect(event.expiresAt == UnixTime(milliseconds: 1_767_398_400_000))
        #expect(event.recipients == (try users("12")))
        #expect(event.traceparent == trace)
        #expect(String(decoding: event.data.bytes, as: UTF8.self) == #"{"recipient":12,"plant":"fern"}"#)
    }

    @Test func `a binary CloudEvent is read, the trace header before the attribute`() throws {
        let other = trace.replacing("0af7", with: "1af7")
        let headers: [(String, String?)] = [
            ("ce_specversion", "1.0"), ("ce_id", "first"), ("ce_id", "42"), ("ce_source", "/garden"),
            ("ce_type", "thirsty"),
            ("ce_traceparent", other), ("traceparent", trace), ("content-type", "application/json"), ("ce_time", nil),
        ]
        for format in EventFormat.allCases {
            let event = try event(#" {"recipient":"u1"} "#, headers: headers, format: format)
            #expect(event.identity == EventIdentity(source: "/garden", id: "42"))
            #expect(event.occurredAt == Self.recordTime)
            #expect(event.traceparent == trace)
            #expect(event.data.bytes == Array(#"{"recipient":"u1"}"#.utf8))
        }
    }

    @Test func `data in base64 is read as JSON`() throws {
        let text = #"{"specversion":"1.0","id":"1","source":"s","type":"t","data_base64":"eyJyZWNpcGllbnQiOiJ1MSJ9"}"#
        #expect(try event(text).recipients == (try users("u1")))
    }

    @Test(arguments: [
        (#"{"specversion":"0.3","id":"1","source":"s","type":"t","data":{"recipient":"u"}}"#, "specversion is not 1.0"),
        (
            #"{"specversion":"1.0","id":"1","source":"s","type":"t","data":"{}"}"#,
            "data is a text, so it names no recipient"
        ),
        (
            #"{"specversion":"1.0","id":"1","source":"aegis:digest","type":"t","data":{"recipient":"u"}}"#,
            "source begins with aegis:, which is kept for events of Aegis itself"
        ),
        (#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#, "there is no data, so no recipient"),
        (#"{"specversion":"1.0","id":"1","source":"s","type":"t","data_base64":"!"}"#, "data_base64 is not base64"),
    ]) func `a CloudEvent that cannot be used says why`(text: String, reason: String) {
        guard case .rejected(let rejection) = decode(text).first else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.reason == reason)
    }

    @Test func `a batch becomes its elements, each with an outcome of its own`() throws {
        let text = """
            [{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"recipient":"u"}}, 5,
             {"specversion":"1.0","source":null,"type":"t","data":{"recipient":"u"}},
             {"specversion":"1.0","id":"3","source":"s","type":"t","data":{"recipients":[]}}]
            """
        for headers in [[("content-type", "application/cloudevents-batch+json")], []] as [[(String, String?)]] {
            let items = decode(text, headers: headers)
            #expect(items.count == 4)
            let identities = items.map { item -> EventIdentity? in
                if case .event(let event) = item { event.identity } else { nil }
            }
            #expect(
                identities == [
                    EventIdentity(source: "s", id: "1"), nil,
                    EventIdentity(source: "domain.events", id: "domain.events-3-42-2"), nil,
                ])
            #expect(
                items[1]
                    == .rejected(
                        Rejection(kind: .malformed, stage: .decode, reason: "element 1 is a number, not an object")))
            #expect(items[3] == .ignored(.noRecipient))
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func `a stored event is read back equal`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func chance() -> Bool { Bool.random(using: &random) }
        func name() -> String {
            let parts = ["a", "\"", "\\", "\n", "é", "😀", "\u{7}", " ", "/", "\u{200F}"]
            return "x"
                + (0..<Int.random(in: 0...9, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                .joined()
        }
        func time() -> UnixTime { UnixTime(milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &random)) }
        for _ in 0..<300 {
            let data = Array(#"{ "a" : [1, {"b":"\u00e9"}], "c":"\#("x")" }"#.utf8)
            let users = try (0..<Int.random(in: 0...3, using: &random)).map { try UserID("\($0)" + name()) }
            let event = DomainEvent(
                identity: EventIdentity(source: name(), id: name()), type: name(), occurredAt: time(),
                recipients: chance() ? .audience(name()) : .users(users), actor: chance() ? try UserID(name()) : nil,
                deliverAt: chance() ? time() : nil, expiresAt: chance() ? time() : nil,
                locale: chance() ? LocaleTag("pt-BR") : nil, collapseID: chance() ? name() : nil,
                app: chance() ? AppID(name()) : nil, data: chance() ? try JSONScanner.scan(data) : .empty,
                traceparent: chance() ? trace : nil)
            #expect(EventDecoder.decodeStored(EventEncoder.encode(event)) == event)
        }
        #expect(EventDecoder.decodeStored(Array(#"{"id":"1"}"#.utf8)) == nil)
        #expect(EventDecoder.decodeStored([0, 1]) == nil)
    }

    @Test(arguments: Array(1...8) as [UInt64]) func `damaged records never crash and always come to something`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let samples = [
            #"{"id":"evt-1","type":"t","occurred_at":"2026-11-30T12:00:00Z","recipients":["a",7],"data":{"k":"\ud83d\ude00é","n":[1e5,-0]}}"#,
            #"[{"specversion":"1.0","id":"1","source":"s","type":"t","time":"2026-01-02T03:04:05Z","data":{"recipient":"u"}}]"#,
            #"{"specversion":"1.0","id":"1","source":"s","type":"t","data_base64":"eyJyZWNpcGllbnQiOiJ1MSJ9"}"#,
        ].map { Array($0.utf8) }
        for _ in 0..<3_000 {
            var bytes = samples.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            let format = EventFormat.allCases.randomElement(using: &random) ?? .auto
            let items = Self.decode(bytes, format: format)
            #expect(!items.isEmpty)
            for case .rejected(let rejection) in items {
                #expect(!rejection.reason.isEmpty && !rejection.reason.contains("\n"))
            }
        }
    }
}
