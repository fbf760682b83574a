import AegisEvents
import AegisPorts

/// What probes and Prometheus ask; open to anybody who reaches the port.
enum OperationsRoutes {
    static let all = [
        Route(.get, "/healthz", scope: nil) { _ async throws(Problem) in
            .json(200) { $0.member("status", "ok") }
        },
        Route(.get, "/readyz", scope: nil, handle: readiness),
        Route(.get, "/metrics", scope: nil) { call async throws(Problem) in
            Response(
                status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
                body: Array(call.service.metrics().utf8))
        },
    ]

    @Sendable private static func readiness(_ call: Call) async throws(Problem) -> Response {
        let report = await call.service.health.health()
        guard report.isReady else {
            return .json(503) { writer in
                writer.member("status", "not ready")
                writer.member("reasons", report.notReadyReasons)
            }
        }
        return .json(200) { writer in
            writer.member("status", report.degraded.isEmpty ? "ready" : "degraded")
            writer.member("degraded", report.degraded)
        }
    }
}
