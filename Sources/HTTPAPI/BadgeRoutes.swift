import AegisCore
import AegisEvents
import AegisPorts

/// The unread count of a user's app.
enum BadgeRoutes {
    private static let path = "/v1/users/{user}/badge"

    static let all = [
        Route(.get, path, scope: .devices, query: ["app"], handle: read),
        Route(.put, path, scope: .devices, query: ["app"], handle: set),
        Route(.post, "/v1/users/{user}/opened", scope: .devices, handle: opened),
    ]

    @Sendable private static func read(_ call: Call) async throws(Problem) -> Response {
        let user = try call.user()
        let app = try call.queriedApp()
        let count = try await call.store { store async throws(StoreError) in
            try await store.badge(of: user, app: app)
        }
        return answer(app, count)
    }

    @Sendable private static func set(_ call: Call) async throws(Problem) -> Response {
        let user = try call.user()
        let app = try call.queriedApp()
        var body = try RequestBody(call.body)
        let count = body.requiredInteger("count", in: 0...Int(Int32.max))
        try body.finish()
        guard let count else { throw .internalError }
        let now = call.service.clock.now()
        try await call.store { store async throws(StoreError) in
            try await store.setBadge(count, of: user, app: app, at: now)
        }
        return answer(app, count)
    }

    /// The app came to the front: everything counts as read.
    @Sendable private static func opened(_ call: Call) async throws(Problem) -> Response {
        let user = try call.user()
        var body = try RequestBody(call.body)
        let app = body.requiredText("app", length: 1...256).map { AppID($0) }
        _ = body.text("installation_id", length: 1...128)
        if let app, let unknown = call.unknownApp(app) { body.report(unknown) }
        try body.finish()
        guard let app else { throw .internalError }
        try call.permit(app)
        let now = call.service.clock.now()
        try await call.store { store async throws(StoreError) in
            try await store.opened(user: user, app: app, at: now)
        }
        return .noContent
    }

    private static func answer(_ app: AppID, _ count: Int) -> Response {
        .json(200) { writer in
            writer.member("app", app.text)
            writer.member("count", count)
        }
    }
}
