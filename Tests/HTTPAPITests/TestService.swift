import AegisCore
import AegisPorts
import AegisTestKit
import HTTPAPI

/// A server on a free port over doubles.
struct TestService {
    static let all = "secret-of-all"
    static let shop = AppID("com.example.shop")
    static let bank = AppID("com.example.bank")

    let store = FakeStore()
    let log = FakeLog()
    let health = FakeHealth()
    let meter = FakeMeter()
    let clock: any TimeSource
    let server: HTTPServer

    var client: TestClient { TestClient(port: server.port) }

    /// Runs `body` with a server and stops it.
    static func run(
        clock: any TimeSource = ManualClock(), adjust: (inout HTTPServerSettings) -> Void = { _ in },
        _ body: (TestService) async throws -> Void
    ) async throws {
        let service = try TestService(clock: clock, adjust: adjust)
        do {
            try await body(service)
        } catch {
            await service.server.stop()
            throw error
        }
        await service.server.stop()
    }

    init(clock: any TimeSource, adjust: (inout HTTPServerSettings) -> Void) throws {
        self.clock = clock
        var settings = HTTPServerSettings(
            host: "127.0.0.1", port: 0,
            tokens: [
                APIToken(name: "all", secret: Self.all, scopes: Set(APIScope.allCases)),
                APIToken(name: "none", secret: "secret-of-none", scopes: [.events]),
                APIToken(name: "shop", secret: "secret-of-shop", scopes: [.devices], apps: [Self.shop]),
                APIToken(name: "unset", secret: "", scopes: Set(APIScope.allCases)),
            ])
        adjust(&settings)
        server = try HTTPServer.start(
            settings: settings,
            service: APIDependencies(
                store: store, digests: FakeDigests(), clock: clock, log: log, meter: meter,
                types: { ["order": true, "news": false] }, health: health,
                apps: [
                    Self.shop: AppRules(id: Self.shop),
                    Self.bank: AppRules(id: Self.bank, environments: [.production, .sandbox]),
                ],
                appsThatShareTokens: [Self.bank], metrics: { "aegis_build_info 1\n" }))
    }

    /// A registration's body.
    static func body(app: AppID = shop, environment: String = "production", token: String = "ab12", more: String = "")
        -> String
    {
        #"{"app":"\#(app.text)","environment":"\#(environment)","token":"\#(token)","platform":"ios"\#(more)}"#
    }
}
