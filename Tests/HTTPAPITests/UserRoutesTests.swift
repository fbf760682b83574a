import AegisCore
import AegisPorts
import Testing

@Suite struct PreferencesRoutesTests {
    private let path = "/v1/users/u-1/preferences"

    @Test func `preferences are replaced as a whole and read back`() async throws {
        try await TestService.run { service in
            let body =
                #"{"types":{"price_alert":{"enabled":false}},"quiet_hours":{"enabled":true,"time_zone":"Europe/Berlin","#
                + #""windows":[{"days":["mon","sun"],"start":"22:00","end":"07:30"}]},"playSoundChat":false}"#
            let put = try #require(await service.client.send("PUT", path, token: TestService.all, body: body))
            #expect(put.status == 200)
            let get = try #require(await service.client.send("GET", path, token: TestService.all))
            #expect(get.status == 200)
            #expect(get.body == put.body)
            let stored = try await service.store.preferences(of: UserID("u-1"))
            #expect(stored.types == ["price_alert": false] && !stored.playSoundChat)
            #expect(stored.quietHours?.windows.first?.start == 22 * 60)
            _ = await service.client.send("PUT", path, token: TestService.all, body: "{}")
            #expect(try await service.store.preferences(of: UserID("u-1")) == .default)
        }
    }

    @Test func `every fault of a document is named by its place`() async throws {
        try await TestService.run { service in
            let body = #"{"types":{"a":{"enabled":"planted"}},"quiet_hours":{"enabled":true,"windows":[{"days":[]}]}}"#
            let answer = try #require(await service.client.send("PUT", path, token: TestService.all, body: body))
            #expect(answer.status == 422)
            let fields = try #require(answer.json?["errors"] as? [[String: String]]).compactMap { $0["field"] }
            #expect(fields.contains { $0.hasPrefix("types") })
            #expect(fields.contains { $0.hasPrefix("quiet_hours.windows[0]") })
            #expect(!answer.body.contains("planted"))
            #expect(await service.client.send("PUT", path, token: TestService.all, body: "{]")?.status == 400)
        }
    }
}

@Suite struct BadgeRoutesTests {
    private let path = "/v1/users/u-1/badge?app=com.example.shop"

    @Test func `a badge is set, read, and cleared when the app is opened`() async throws {
        try await TestService.run { service in
            let set = await service.client.send("PUT", path, token: TestService.all, body: #"{"count":7}"#)
            #expect(set?.status == 200)
            #expect(set?.body == #"{"app":"com.example.shop","count":7}"#)
            #expect(await service.client.send("GET", path, token: TestService.all)?.body == set?.body)
            let opened = await service.client.send(
                "POST", "/v1/users/u-1/opened", token: TestService.all,
                body: #"{"app":"com.example.shop","installation_id":"phone"}"#)
            #expect(opened?.status == 204)
            let after = await service.client.send("GET", path, token: TestService.all)
            #expect(after?.json?["count"] as? Int == 0)
        }
    }

    @Test(arguments: ["{}", #"{"count":-1}"#, #"{"count":1.5}"#, #"{"count":"1"}"#, #"{"count":99999999999999999999}"#])
    func `a count is a whole number that fits`(body: String) async throws {
        try await TestService.run { service in
            let answer = await service.client.send("PUT", path, token: TestService.all, body: body)
            #expect(answer?.status == 422)
            #expect((answer?.json?["errors"] as? [[String: String]])?.first?["field"] == "count")
        }
    }

    @Test func `the app must be given and known`() async throws {
        try await TestService.run { service in
            let user = "/v1/users/u-1"
            #expect(await service.client.send("GET", "\(user)/badge", token: TestService.all)?.status == 400)
            #expect(await service.client.send("GET", "\(user)/badge?app=%ff", token: TestService.all)?.status == 400)
            #expect(await service.client.send("GET", "\(user)/badge?app=x", token: TestService.all)?.status == 422)
            let encoded = "\(user)/badge?x=1&app=com%2Eexample.shop"
            #expect(await service.client.send("GET", encoded, token: TestService.all)?.status == 200)
            let opened = await service.client.send(
                "POST", "\(user)/opened", token: TestService.all, body: #"{"app":"x"}"#)
            #expect(opened?.status == 422)
        }
    }
}
