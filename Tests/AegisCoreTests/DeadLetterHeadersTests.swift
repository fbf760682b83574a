import AegisCore
import Testing

@Suite struct DeadLetterHeadersTests {
    private func letter(
        reason: String = "no recipient", headers: [RecordHeader] = [], targets: [DeviceHash] = [],
        eventID: String? = nil
    ) -> DeadLetter {
        DeadLetter(
            rejection: Rejection(kind: .tooLarge, stage: .render, reason: reason),
            origin: TopicPartition(topic: "domain.events", partition: 3),
            record: KafkaRecord(
                offset: 42, timestamp: UnixTime(milliseconds: 1_700_000_000_123), key: nil, value: [1], headers: headers
            ),
            eventID: eventID, targets: targets, attempts: 2)
    }

    private func texts(_ headers: [RecordHeader]) -> [String: String] {
        Dictionary(headers.map { ($0.name, String(decoding: $0.value ?? [], as: UTF8.self)) }) { _, last in last }
    }

    private func size(_ headers: [RecordHeader]) -> Int {
        headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }

    @Test func `a record nothing was sent for names its fault and its origin alone`() {
        let headers = letter().addedHeaders(at: UnixTime(milliseconds: 1_796_040_000_000))
        #expect(
            texts(headers) == [
                "aegis-dlq-kind": "too_large", "aegis-dlq-stage": "render", "aegis-dlq-reason": "no recipient",
                "aegis-dlq-topic": "domain.events", "aegis-dlq-partition": "3", "aegis-dlq-offset": "42",
                "aegis-dlq-timestamp": "1700000000123", "aegis-dlq-attempts": "2",
                "aegis-dlq-failed-at": "2026-11-30T12:00:00.000Z", "aegis-dlq-replays": "0",
            ])
    }

    @Test func `a failed delivery names event, user, targets and the answer of APNs`() {
        var failed = letter(targets: [DeviceHash(text: "d1"), DeviceHash(text: "d2")], eventID: "evt-1")
        failed.type = "order_confirmed"
        failed.user = UserHash(text: "u1")
        failed.apnsStatus = 400
        failed.apnsReason = "BadTopic"
        let texts = texts(failed.addedHeaders(at: UnixTime(milliseconds: 0)))
        #expect(texts["aegis-dlq-event-id"] == "evt-1")
        #expect(texts["aegis-dlq-type"] == "order_confirmed")
        #expect(texts["aegis-dlq-user"] == "u1")
        #expect(texts["aegis-dlq-targets"] == "d1,d2")
        #expect(texts["aegis-dlq-apns-status"] == "400")
        #expect(texts["aegis-dlq-apns-reason"] == "BadTopic")
    }

    @Test(arguments: [("2", "2"), ("many", "0"), ("-1", "0"), ("", "0")])
    func `the count of replays goes on from the original's`(header: String, expected: String) {
        let replayed = letter(headers: [RecordHeader(name: "aegis-dlq-replays", value: Array(header.utf8))])
        #expect(texts(replayed.addedHeaders(at: UnixTime(milliseconds: 0)))["aegis-dlq-replays"] == expected)
    }

    @Test func `a reason stays one line`() {
        let headers = letter(reason: "first\nsecond\u{2028}third\r\n").addedHeaders(at: UnixTime(milliseconds: 0))
        #expect(texts(headers)["aegis-dlq-reason"] == "first second third  ")
    }

    @Test func `thousands of targets are cut at a whole one, and the rest stays whole`() {
        let targets = (0..<5_000).map { DeviceHash(text: "device\($0)") }
        let headers = letter(targets: targets, eventID: "evt-1").addedHeaders(at: UnixTime(milliseconds: 0))
        let kept = texts(headers)["aegis-dlq-targets"]?.split(separator: ",").map(String.init) ?? []
        #expect(size(headers) <= DeadLetter.addedHeadersLimit)
        #expect(kept.count > 300)
        #expect(kept == targets.prefix(kept.count).map(\.text))
        #expect(texts(headers)["aegis-dlq-event-id"] == "evt-1")
        #expect(texts(headers)["aegis-dlq-reason"] == "no recipient")
    }

    @Test func `long texts share the room and no character is split`() {
        let headers = letter(
            reason: String(repeating: "🇩🇪", count: 4_000), eventID: String(repeating: "é", count: 9_000)
        )
        .addedHeaders(at: UnixTime(milliseconds: 0))
        let texts = texts(headers)
        #expect(size(headers) <= DeadLetter.addedHeadersLimit)
        #expect(size(headers) > DeadLetter.addedHeadersLimit - 16)
        #expect(texts["aegis-dlq-reason"].map { Set($0) } == ["🇩🇪"])
        #expect(texts["aegis-dlq-event-id"].map { Set($0) } == ["é"])
    }

    @Test func `a single target too long for the room is left out`() {
        let headers = letter(targets: [DeviceHash(text: String(repeating: "d", count: 9_000))])
            .addedHeaders(at: UnixTime(milliseconds: 0))
        #expect(texts(headers)["aegis-dlq-targets"] == "")
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_709_164_799_999, "2024-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `a moment is written in UTC`(milliseconds: Int64, expected: String) {
        #expect(Timestamp.rfc3339(UnixTime(milliseconds: milliseconds), alwaysMilliseconds: true) == expected)
    }

    @Test(arguments: [Int64.min, .max])
    func `the ends of time do not trap`(milliseconds: Int64) {
        #expect(Timestamp.rfc3339(UnixTime(milliseconds: milliseconds)).hasSuffix("Z"))
    }
}
