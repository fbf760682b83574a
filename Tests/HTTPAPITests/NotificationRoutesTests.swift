import AegisCore
import AegisPorts
import Testing

@Suite struct NotificationRoutesTests {
    private static func record(_ id: String, user: String = "ada", state: LedgerState = .sent) throws
        -> NotificationRecord
    {
        var record = NotificationRecord(
            key: NotificationKey(
                event: EventIdentity(source: "events", id: id), user: try UserID(user), day: UTCDay(number: 20_000)),
            type: "order", state: state, reason: state == .suppressed ? "muted" : nil,
            trace: state == .suppressed ? "mute: everything is muted" : nil, repeats: 1,
            createdAt: UnixTime(milliseconds: 1_796_040_000_000), deliveries: [])
        record.deliveries = [
            NotificationRecord.Delivery(
                device: DeviceID(7), pushID: "00000000-0000-0000-0000-000000000001", outcome: "accepted", status: 200,
                reason: nil, attempts: 1)
        ]
        return record
    }

    @Test func `a person's history comes page by page, and every page once`() async throws {
        let records = try (0..<5).map { try Self.record("evt.\($0)") }
        try await TestService.run { service in
            service.store.setHistory(records + [try Self.record("other", user: "ben")])
            var seen: [String] = []
            var path = "/v1/users/ada/notifications?limit=2"
            while true {
                let answer = try #require(await service.client.send("GET", path, token: TestService.all))
                #expect(answer.status == 200)
                let text = answer.body
                seen += (0..<5).map { "evt.\($0)" }.filter { text.contains("\"\($0)\"") }
                guard let start = text.firstRange(of: "\"next\":\"")?.upperBound else { break }
                path = "/v1/users/ada/notifications?limit=2&after=\(text[start...].prefix { $0 != "\"" })"
            }
            #expect(seen == (0..<5).map { "evt.\($0)" })
        }
    }

    @Test(arguments: ["limit=0", "limit=201", "limit=x", "after=nonsense", "after=1.99.short", "after=1.-1.x"])
    func `a page that cannot be is refused with the parameter's name`(query: String) async throws {
        try await TestService.run { service in
            let answer = try #require(
                await service.client.send("GET", "/v1/users/ada/notifications?\(query)", token: TestService.all))
            #expect(answer.status == 422)
            #expect(answer.body.contains(String(query.prefix { $0 != "=" })))
        }
    }

    @Test func `reading names the badges that fell, and an unknown event is not found`() async throws {
        let record = try Self.record("evt 1")
        try await TestService.run { service in
            service.store.setHistory([record])
            let answer = try #require(
                await service.client.send("POST", "/v1/users/ada/notifications/evt%201/read", token: TestService.all))
            #expect(answer.status == 200)
            #expect(answer.body == #"{"badges":{"com.example.shop":2}}"#)
            #expect(service.store.reads == ["evt 1"])
            let unknown = await service.client.send(
                "POST", "/v1/users/ben/notifications/evt%201/read", token: TestService.all)
            #expect(unknown?.status == 404)
        }
    }

    @Test func `an event is explained for everybody it concerns, without naming them`() async throws {
        let records = try [Self.record("e"), Self.record("e", user: "ben", state: .suppressed)]
        try await TestService.run { service in
            service.store.setHistory(records)
            let answer = try #require(await service.client.send("GET", "/v1/events/e", token: TestService.all))
            #expect(answer.status == 200)
            #expect(answer.body.contains(#""why":"mute: everything is muted""#))
            #expect(answer.body.contains(#""apns_id":"00000000-0000-0000-0000-000000000001""#))
            #expect(!answer.body.contains("ada") && !answer.body.contains("ben"))
            let one = await service.client.send("GET", "/v1/events/e?user=ben", token: TestService.all)
            #expect(one?.body.contains(#""state":"sent""#) == false)
            #expect(await service.client.send("GET", "/v1/events/unknown", token: TestService.all)?.status == 404)
            #expect(await service.client.send("GET", "/v1/events/e", token: "secret-of-shop")?.status == 403)
        }
    }

    @Test func `switching off what was on is counted once, and unknown types are told and kept`() async throws {
        try await TestService.run { service in
            func put(_ method: String, _ body: String) async -> TestClient.Answer? {
                await service.client.send(method, "/v1/users/ada/preferences", token: TestService.all, body: body)
            }
            let first = try #require(
                await put(
                    "PUT",
                    #"{"types":{"order":{"enabled":false},"news":{"enabled":false},"new one":{"enabled":false}}}"#))
            #expect(first.status == 200)
            #expect(first.headers["aegis-unknown-types"] == "new%20one")
            #expect(service.meter.all == ["aegis_opt_outs_total order": 1, "aegis_opt_outs_total other": 1])
            #expect(await put("PATCH", #"{"types":{"order":{"enabled":false}}}"#)?.status == 200)
            #expect(service.meter.all["aegis_opt_outs_total order"] == 1)
            #expect(await put("PATCH", #"{"types":{"order":{"enabled":true}}}"#)?.status == 200)
            #expect(await put("PATCH", #"{"types":{"order":{"enabled":false}}}"#)?.status == 200)
            #expect(service.meter.all["aegis_opt_outs_total order"] == 2)
            let kept = await service.client.send("GET", "/v1/users/ada/preferences", token: TestService.all)
            #expect(kept?.body.contains("new one") == true)
        }
    }
}
