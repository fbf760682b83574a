import AegisCore
import AegisPorts
import Foundation
import HTTPAPI
import Testing

@Suite struct AdmissionTests {
    @Test(arguments: [
        ("GET", "/"), ("GET", "/v1"), ("GET", "/v1/users/u/devices/"), ("GET", "/healthz/"), ("GET", "//healthz"),
        ("GET", "/v1/users/a/b/devices"), ("GET", "/HEALTHZ"),
    ])
    func `an unknown route is not found`(method: String, path: String) async throws {
        try await TestService.run { service in
            let answer = await service.client.send(method, path, token: TestService.all)
            #expect(answer?.status == (path == "/v1/users/u/devices/" ? 405 : 404))
            #expect(answer?.headers["content-type"] == "application/problem+json")
        }
    }

    @Test(arguments: [
        ("/healthz", "GET, HEAD"), ("/v1/users/u/devices/i", "PUT, DELETE"),
        ("/v1/users/u/preferences", "GET, HEAD, PUT, PATCH"), ("/v1/users/u/opened", "POST"),
    ])
    func `another method is refused with those the route takes`(path: String, allowed: String) async throws {
        try await TestService.run { service in
            for method in ["PURGE", "OPTIONS", "BREW"] {
                let answer = await service.client.send(method, path, token: TestService.all)
                #expect(answer?.status == 405)
                #expect(answer?.headers["allow"] == allowed)
            }
        }
    }

    @Test(arguments: [
        "", "Authorization: Bearer", "Authorization: Bearer ", "Authorization: Basic secret-of-all",
        "Authorization: Bearer secret-of-al", "Authorization: Bearer secret-of-all2",
        "Authorization: Bearer secret-of-alL", "Authorization: secret-of-all",
    ])
    func `a missing or wrong token is refused`(header: String) async throws {
        try await TestService.run { service in
            let answer = await service.client.send(
                "GET", "/v1/users/u/devices", headers: header.isEmpty ? [] : [header])
            #expect(answer?.status == 401)
            #expect(answer?.headers["www-authenticate"] == "Bearer")
            #expect(answer?.json?["status"] as? Int == 401)
        }
    }

    @Test func `the scheme's case does not matter`() async throws {
        try await TestService.run { service in
            let answer = await service.client.send(
                "GET", "/v1/users/u/devices", headers: ["authorization: bearer secret-of-all"])
            #expect(answer?.status == 200)
        }
    }

    @Test func `a token without the scope is refused`() async throws {
        try await TestService.run { service in
            for path in ["/v1/users/u/devices", "/v1/users/u/preferences", "/v1/users/u/badge?app=com.example.shop"] {
                #expect(await service.client.send("GET", path, token: "secret-of-none")?.status == 403)
            }
            #expect(
                await service.client.send("GET", "/v1/users/u/preferences", token: "secret-of-shop")?.status == 403)
        }
    }

    @Test(arguments: [
        ("a%2Fb", "a/b"), ("%c3%a9%F0%9F%8E%89", "é🎉"), ("a+b%20c", "a+b c"), ("..", ".."), ("%25%32%46", "%2F"),
        ("auth0%7C42", "auth0|42"), ("a?", nil), ("%00", nil), ("a%00b", nil), ("%ff", nil), ("%2", nil), ("%zz", nil),
        ("", nil), (String(repeating: "%61", count: 256), String(repeating: "a", count: 256)),
        (String(repeating: "a", count: 257), nil),
    ])
    func `a user id is decoded exactly or refused`(encoded: String, user: String?) async throws {
        try await TestService.run { service in
            let answer = await service.client.send(
                "PUT", "/v1/users/\(encoded)/devices/i", token: TestService.all, body: TestService.body())
            if let user {
                #expect(answer?.status == 201)
                #expect(service.store.rows.map(\.user.text) == [user])
            } else {
                #expect(answer?.status == (encoded == "a?" ? 404 : 400))
                #expect(service.store.rows.isEmpty)
            }
        }
    }
}

@Suite struct HTTPServerTests {
    @Test func `a body over the limit gets 413, announced or not, and the connection lives to tell`() async throws {
        try await TestService.run { service in
            for size in [65_537, 300_000, 3_000_000] {
                let body = String(repeating: "x", count: size)
                let answer = await service.client.send(
                    "PUT", "/v1/users/u/preferences", token: TestService.all, body: size > 1_048_576 ? nil : body,
                    headers: size > 1_048_576 ? ["Content-Length: \(size)"] : [])
                #expect(answer?.status == 413, "\(size)")
                #expect(answer?.headers["content-type"] == "application/problem+json")
            }
            let chunk = "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n"
            let chunked =
                "PUT /v1/users/u/preferences HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                + "Authorization: Bearer \(TestService.all)\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: chunk, count: 5) + "0\r\n\r\n"
            #expect(TestClient.Answer(await service.client.exchange(Array(chunked.utf8)))?.status == 413)
        }
    }

    @Test func `a body of exactly the limit is read`() async throws {
        try await TestService.run { service in
            let body = "{" + String(repeating: " ", count: 65_534) + "}"
            let answer = await service.client.send(
                "PUT", "/v1/users/u/preferences", token: TestService.all, body: body)
            #expect(answer?.status == 200)
        }
    }

    @Test func `headers over the limit are refused and nothing else suffers`() async throws {
        try await TestService.run { service in
            let answer = await service.client.send(
                "GET", "/healthz", headers: ["X: " + String(repeating: "x", count: 60_000)])
            #expect(answer == nil || answer?.status == 431 || answer?.status == 413)
            #expect(await service.client.send("GET", "/healthz")?.status == 200)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a client that stops in the middle is closed`() async throws {
        try await TestService.run(adjust: { $0.clientTimeout = .seconds(1) }) { service in
            async let headers = service.client.exchange(Array("GET /healthz HTTP/1.1\r\nHost".utf8))
            async let body = service.client.exchange(
                Array(
                    ("PUT /v1/users/u/preferences HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"
                        + "Authorization: Bearer \(TestService.all)\r\n\r\n{").utf8))
            let started = ContinuousClock.now
            #expect(TestClient.Answer(await headers)?.status != 200)
            #expect(TestClient.Answer(await body)?.status != 200)
            #expect(ContinuousClock.now - started < .seconds(20))
        }
    }

    @Test(arguments: [
        "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET /healthz\r\n\r\n", "/ / /\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n", "GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n",
        "PUT /v1/users/u/preferences HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "PUT /v1/users/u/preferences HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}",
    ])
    func `bytes that are no request do no harm`(garbage: String) async throws {
        try await TestService.run(adjust: { $0.clientTimeout = .seconds(1) }) { service in
            _ = await service.client.exchange(Array(garbage.utf8), isLastWrite: true)
            #expect(await service.client.send("GET", "/healthz")?.status == 200)
        }
    }

    @Test func `requests in a row on one connection are answered in order, and garbage after them ends it`()
        async throws
    {
        try await TestService.run { service in
            let get = { (path: String) in
                "GET \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(TestService.all)\r\n\r\n"
            }
            let bytes = get("/healthz") + get("/v1/users/u/devices") + get("/metrics") + "\u{0}garbage \u{1}\r\n\r\n"
            let text = String(
                decoding: await service.client.exchange(Array(bytes.utf8), isLastWrite: true), as: UTF8.self)
            let first = try #require(text.range(of: #"{"status":"ok"}"#))
            let second = try #require(text.range(of: #"{"devices":[]}"#))
            let third = try #require(text.range(of: "aegis_build_info 1\n"))
            #expect(first.upperBound <= second.lowerBound && second.upperBound <= third.lowerBound)
        }
    }

    @Test func `a store that is away is told with a time to come back, other failures without`() async throws {
        try await TestService.run { service in
            let kinds: [(StoreError.Kind, Int)] = [
                (.unavailable, 503), (.full, 503), (.schema, 500), (.corrupt, 500), (.invalid, 500),
            ]
            for (kind, status) in kinds {
                service.store.behaviour = .fails(kind)
                let answer = await service.client.send("GET", "/v1/users/u/devices", token: TestService.all)
                #expect(answer?.status == status)
                #expect((answer?.headers["retry-after"] != nil) == (status == 503))
                #expect(answer?.body.contains("engine") == false)
            }
            #expect(service.log.all.contains { $0.contains("engine code 14") })
        }
    }

    @Test func `no user id, device token, body or secret reaches a log line or an answer`() async throws {
        try await TestService.run { service in
            let planted = ["planted-user", "deadbeefdeadbeef", "planted-text", "planted-secret", "planted-phone"]
            var answers: [TestClient.Answer?] = []
            let user = "/v1/users/planted-user"
            for token in [TestService.all, "planted-secret"] {
                for body in [
                    TestService.body(token: "deadbeefdeadbeef"),
                    TestService.body(token: "deadbeefdeadbeefplanted-text"),
                    #"{"planted-text":"planted-text"}"#, "planted-text",
                ] {
                    answers.append(
                        await service.client.send("PUT", "\(user)/devices/a", token: token, body: body))
                    answers.append(await service.client.send("PUT", "\(user)/badge?app=planted-text", token: token))
                    answers.append(await service.client.send("POST", "\(user)/opened", token: token, body: body))
                }
                for path in ["\(user)/devices", "\(user)/nothing", "\(user)%zz/devices", "/planted-user"] {
                    answers.append(await service.client.send("GET", path, token: token))
                }
                answers.append(await service.client.send("planted-text", "\(user)/devices/planted-phone", token: token))
                service.store.behaviour = .fails(.corrupt)
                answers.append(await service.client.send("DELETE", "\(user)/devices/planted-phone", token: token))
                service.store.behaviour = .works
            }
            #expect(answers.allSatisfy { $0 != nil })
            // Lines are written once the answer has gone out.
            let deadline = ContinuousClock.now + .seconds(10)
            while service.log.all.count(where: { $0.contains(" request ") }) < answers.count,
                ContinuousClock.now < deadline
            {
                try await Task.sleep(for: .milliseconds(5))
            }
            let lines = service.log.all
            #expect(lines.contains { $0.contains("/v1/users/{user}/devices/{installation}") })
            for secret in planted + [TestService.all] {
                #expect(!lines.contains { $0.contains(secret) }, "\(secret) in the log")
                #expect(!answers.contains { $0?.body.contains(secret) == true }, "\(secret) in an answer")
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `stopping lets an open request finish`() async throws {
        let service = try TestService(clock: SystemTime(), adjust: { $0.drainLimit = .seconds(30) })
        service.store.behaviour = .hangs
        let client = service.client
        async let answer = client.send("GET", "/v1/users/u/devices", token: TestService.all)
        while service.store.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }
        async let stopped: Void = service.server.stop()
        // Nobody is let in any more.
        while await client.send("GET", "/healthz")?.status == 200 { await Task.yield() }
        service.store.behaviour = .works
        #expect(await answer?.status == 200)
        await stopped
        await service.server.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `stopping gives up what takes longer than the limit, and answers it`() async throws {
        let service = try TestService(clock: SystemTime(), adjust: { $0.drainLimit = .milliseconds(50) })
        service.store.behaviour = .hangs
        let client = service.client
        async let answer = client.send("GET", "/v1/users/u/devices", token: TestService.all)
        async let half = client.exchange(
            Array("PUT /v1/users/u/preferences HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{".utf8))
        while service.store.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }
        await service.server.stop()
        #expect(await answer?.status == 503)
        #expect(TestClient.Answer(await half)?.status != 200)
        service.store.behaviour = .works
    }

    @Test func `a port that is taken and a host that is none are errors that say so`() async throws {
        try await TestService.run { service in
            let taken = #expect(throws: HTTPServerError.self) {
                _ = try TestService(clock: SystemTime(), adjust: { $0.port = service.server.port })
            }
            #expect(taken?.kind == .bind)
            #expect(taken?.description.contains("Address already in use") == true)
            let nowhere = #expect(throws: HTTPServerError.self) {
                _ = try TestService(clock: SystemTime(), adjust: { $0.host = "256.0.0.1" })
            }
            #expect(nowhere?.kind == .address)
        }
    }

    @Test func `it listens on IPv6 too, where there is any`() async throws {
        do {
            try await TestService.run(adjust: { $0.host = "::" }) { service in
                #expect(await service.client.send("GET", "/healthz")?.status == 200, "IPv4 through the same socket")
            }
        } catch let error as HTTPServerError {
            #expect(error.kind != .start, "a machine without IPv6 has no such address")
        }
    }
}

/// The clocks of the system.
private struct SystemTime: TimeSource {
    func now() -> UnixTime { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    func uptime() -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(ProcessInfo.processInfo.systemUptime * 1_000_000_000))
    }

    func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        do {
            try await Task.sleep(for: max(uptime().duration(to: deadline), .zero))
        } catch {
            throw CancellationError()
        }
    }
}
