import Foundation
import HTTPAPI
import Testing

/// More connections than the server bears: those that mean well are served.
@Suite(.serialized) struct ConnectionLimitTests {
    private static let halfRequest = "GET /healthz HTTP/1.1\r\nHost: x\r\n"

    /// What stands half sent would be cleared away after this, long after every answer.
    private static let long = Duration.seconds(600)
    private static let patience = Duration.seconds(60)

    init() {
        // Server and clients are in this one process.
        var files = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return }
        files.rlim_cur = max(files.rlim_cur, min(files.rlim_max, 8_192))
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    }

    @Test(arguments: [
        halfRequest, "", "PUT /v1/users/u/preferences HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
    ])
    func `while 1500 requests stand half sent, probes and connections in use are answered at once`(
        half: String
    ) async throws {
        try await TestService.run(adjust: { $0.clientTimeout = Self.long }) { service in
            let keptAlive = try #require(HeldConnection(to: service.server.port, sending: ""))
            #expect(await keptAlive.ask("/healthz", within: Self.patience)?.status == 200)
            let flood = await HeldConnection.open(1_500, to: service.server.port, sending: half)
            #expect(flood.count == 1_500)
            for _ in 0..<10 {
                #expect(await service.client.send("GET", "/healthz")?.status == 200)
                #expect(await keptAlive.ask("/readyz", within: Self.patience)?.status == 200)
            }
            withExtendedLifetime(flood) {}
            let lines = service.log.all.filter { $0.contains("HTTP API is full") }
            #expect(lines.count == 1, "the operator is told, and once")
        }
    }

    @Test func `connections that idle after their answer give way as well`() async throws {
        try await TestService.run(adjust: {
            $0.connectionLimit = 32
            $0.clientTimeout = Self.long
        }) { service in
            var idle: [HeldConnection] = []
            for _ in 0..<100 {
                let connection = try #require(HeldConnection(to: service.server.port, sending: ""))
                #expect(await connection.ask("/healthz", within: Self.patience)?.status == 200)
                idle.append(connection)
            }
            #expect(await service.client.send("GET", "/healthz")?.status == 200)
            #expect(await idle.last?.ask("/healthz", within: Self.patience)?.status == 200)
            #expect(await idle.first?.ask("/healthz", within: Self.patience) == nil, "the one that idled longest went")
        }
    }

    @Test func `clients that read no answer keep nobody out`() async throws {
        try await TestService.run(adjust: {
            $0.connectionLimit = 32
            $0.clientTimeout = Self.long
        }) { service in
            let requests = String(repeating: "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", count: 2_000)
            let deaf = await HeldConnection.open(100, to: service.server.port, sending: requests)
            #expect(deaf.count == 100)
            #expect(await service.client.send("GET", "/healthz")?.status == 200)
            withExtendedLifetime(deaf) {}
        }
    }

    @Test func `a request that is worked on is not broken off`() async throws {
        try await TestService.run(adjust: {
            $0.connectionLimit = 8
            $0.clientTimeout = Self.long
        }) { service in
            service.store.behaviour = .hangs
            let client = service.client
            async let answer = client.send("GET", "/v1/users/u/devices", token: TestService.all)
            while service.store.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }
            let flood = await HeldConnection.open(200, to: service.server.port, sending: Self.halfRequest)
            #expect(await client.send("GET", "/healthz")?.status == 200)
            service.store.behaviour = .works
            #expect(await answer?.status == 200)
            withExtendedLifetime(flood) {}
        }
    }
}
