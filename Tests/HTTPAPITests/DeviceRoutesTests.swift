import AegisCore
import Testing

@Suite struct DeviceRoutesTests {
    private let path = "/v1/users/u-1/devices/phone"

    @Test func `a first registration is created, another refreshes it`() async throws {
        try await TestService.run { service in
            let more =
                #","authorization":"provisional","locale":"de_AT","time_zone":"Europe/Vienna","app_version":"2.1""#
            let first = try #require(
                await service.client.send("PUT", path, token: TestService.all, body: TestService.body(more: more)))
            #expect(first.status == 201)
            #expect(first.headers["content-type"] == "application/json")
            #expect(first.headers["cache-control"] == "no-store")
            let row = try #require(service.store.rows.first)
            #expect(row.user == (try UserID("u-1")) && row.installation == "phone" && row.app == TestService.shop)
            #expect(row.token.hex == "ab12" && row.environment == .production && row.kind == .device)
            #expect(row.authorization == .provisional && row.locale?.text == "de-AT")
            #expect(row.timeZone == "Europe/Vienna" && row.appVersion == "2.1")
            let second = await service.client.send(
                "PUT", path, token: TestService.all, body: TestService.body(token: "CD34"))
            #expect(second?.status == 200)
            #expect(service.store.rows.map(\.token.hex) == ["cd34"])
            #expect(service.store.rows.first?.authorization == .authorized)
            #expect(service.store.sharing == [false, false])
        }
    }

    @Test func `an app whose accounts share a device keeps the token with each`() async throws {
        try await TestService.run { service in
            _ = await service.client.send(
                "PUT", path, token: TestService.all, body: TestService.body(app: TestService.bank))
            #expect(service.store.sharing == [true])
        }
    }

    @Test func `devices are listed with hashes for tokens`() async throws {
        try await TestService.run { service in
            _ = await service.client.send("PUT", path, token: TestService.all, body: TestService.body(token: "abcdef"))
            let answer = try #require(await service.client.send("GET", "/v1/users/u-1/devices", token: TestService.all))
            #expect(
                answer.body
                    == #"{"devices":[{"installation_id":"phone","app":"com.example.shop","environment":"production","#
                    + #""kind":"device","token":"hash-6","platform":"ios","authorization":"authorized","#
                    + #""registered_at":"2026-11-30T12:00:00.123Z"}]}"#)
            let nobody = await service.client.send("GET", "/v1/users/u-2/devices", token: TestService.all)
            #expect(nobody?.body == #"{"devices":[]}"#)
        }
    }

    @Test func `logging out takes the installation away, however often it is said`() async throws {
        try await TestService.run { service in
            _ = await service.client.send("PUT", path, token: TestService.all, body: TestService.body())
            for _ in 0..<2 {
                let answer = await service.client.send("DELETE", path, token: TestService.all)
                #expect(answer?.status == 204)
                #expect(answer?.body == "")
            }
            #expect(service.store.rows.isEmpty)
        }
    }

    @Test func `everything wrong with a body is told at once, by field and without its values`() async throws {
        try await TestService.run { service in
            let body =
                #"{"app":"com.example.other","environment":"staging","token":"planted-token-xx","kind":"pager","#
                + #""platform":"android","authorization":7,"locale":"d e","time_zone":"../x y","app_version":"","#
                + #""surprise":1}"#
            let answer = try #require(await service.client.send("PUT", path, token: TestService.all, body: body))
            #expect(answer.status == 422)
            #expect(answer.headers["content-type"] == "application/problem+json")
            let errors = try #require(answer.json?["errors"] as? [[String: String]])
            #expect(
                Set(errors.compactMap { $0["field"] }) == [
                    "app", "environment", "token", "kind", "platform", "authorization", "locale", "time_zone",
                    "app_version", "",
                ])
            #expect(
                errors.first { $0["field"] == "app" }?["message"]
                    == "is not configured; known are com.example.bank, com.example.shop")
            #expect(!answer.body.contains("planted"))
            #expect(service.store.rows.isEmpty)
        }
    }

    @Test func `what is missing is named`() async throws {
        try await TestService.run { service in
            let answer = await service.client.send("PUT", path, token: TestService.all, body: #"{"kind":null}"#)
            let errors = answer?.json?["errors"] as? [[String: String]]
            #expect(errors?.map { $0["field"] } == ["app", "token", "environment"])
            #expect(errors?.allSatisfy { $0["message"] == "is missing" } == true)
        }
    }

    @Test func `an environment that the app does not have is refused and the known one named`() async throws {
        try await TestService.run { service in
            let answer = await service.client.send(
                "PUT", path, token: TestService.all, body: TestService.body(environment: "sandbox"))
            #expect(answer?.status == 422)
            #expect(answer?.body.contains("is not configured for this app; known are production") == true)
        }
    }

    @Test(arguments: ["", "[]", "{", #"{"app":1,"app":2}"#, "{\"app\":\"\u{1}\"}", "null", #"{"token":"\u0000"}"#])
    func `a body that is no strict JSON object gets 400`(body: String) async throws {
        try await TestService.run { service in
            let answer = await service.client.send("PUT", path, token: TestService.all, body: body)
            #expect(answer?.status == 400)
            #expect(answer?.headers["content-type"] == "application/problem+json")
        }
    }

    @Test func `a token limited to an app reaches no other`() async throws {
        try await TestService.run { service in
            _ = await service.client.send(
                "PUT", path, token: TestService.all, body: TestService.body(app: TestService.bank))
            let limited = "secret-of-shop"
            let bank = TestService.body(app: TestService.bank)
            #expect(await service.client.send("PUT", path, token: limited, body: bank)?.status == 403)
            let other = "/v1/users/u-1/devices/tablet"
            #expect(await service.client.send("PUT", other, token: limited, body: TestService.body())?.status == 201)
            let list = await service.client.send("GET", "/v1/users/u-1/devices", token: limited)
            #expect((list?.json?["devices"] as? [[String: Any]])?.map { $0["app"] as? String } == ["com.example.shop"])
            #expect(await service.client.send("DELETE", path, token: limited)?.status == 403)
            #expect(await service.client.send("DELETE", other, token: limited)?.status == 204)
            let badge = "/v1/users/u-1/badge?app=com.example.bank"
            #expect(await service.client.send("GET", badge, token: limited)?.status == 403)
            let opened = #"{"app":"com.example.bank"}"#
            #expect(
                await service.client.send("POST", "/v1/users/u-1/opened", token: limited, body: opened)?.status == 403)
            #expect(service.store.rows.map(\.app) == [TestService.bank])
        }
    }

    @Test func `two thousand registrations from many connections are all kept`() async throws {
        try await TestService.run { service in
            let client = service.client
            let statuses = await withTaskGroup(of: [Int?].self) { group in
                for worker in 0..<40 {
                    group.addTask {
                        var statuses: [Int?] = []
                        for number in 0..<50 {
                            let answer = await client.send(
                                "PUT", "/v1/users/user-\(worker)-\(number)/devices/phone", token: TestService.all,
                                body: TestService.body())
                            statuses.append(answer?.status)
                        }
                        return statuses
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(statuses.count { $0 == 201 } == 2_000)
            #expect(Set(service.store.rows.map(\.user)).count == 2_000)
        }
    }
}
