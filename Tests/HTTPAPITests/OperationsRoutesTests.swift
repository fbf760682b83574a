import AegisPorts
import Testing

@Suite struct OperationsRoutesTests {
    @Test func `probes and metrics need no token`() async throws {
        try await TestService.run { service in
            #expect(await service.client.send("GET", "/healthz")?.body == #"{"status":"ok"}"#)
            let metrics = await service.client.send("GET", "/metrics")
            #expect(metrics?.body == "aegis_build_info 1\n")
            #expect(metrics?.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        }
    }

    @Test func `readiness tells what is impaired and what is missing`() async throws {
        try await TestService.run { service in
            let ready = await service.client.send("GET", "/readyz")
            #expect(ready?.status == 200)
            #expect(ready?.body == #"{"status":"ready","degraded":[]}"#)
            service.health.set(HealthReport(isReady: true, degraded: ["circuit open: com.example.shop (production)"]))
            let degraded = await service.client.send("GET", "/readyz")
            #expect(degraded?.status == 200)
            #expect(
                degraded?.body == #"{"status":"degraded","degraded":["circuit open: com.example.shop (production)"]}"#)
            service.health.set(HealthReport(isReady: false, notReadyReasons: ["the store does not answer"]))
            let unready = await service.client.send("GET", "/readyz")
            #expect(unready?.status == 503)
            #expect(unready?.body == #"{"status":"not ready","reasons":["the store does not answer"]}"#)
        }
    }

    @Test func `HEAD answers what GET would, without a body`() async throws {
        try await TestService.run { service in
            let head = await service.client.send("HEAD", "/healthz")
            #expect(head?.status == 200)
            #expect(head?.headers["content-length"] == "15")
            #expect(head?.body == "")
        }
    }
}
