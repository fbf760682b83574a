import AegisCore
import AegisEvents
import AegisPorts

/// What a person asked for, read and replaced as one document.
enum PreferencesRoutes {
    private static let path = "/v1/users/{user}/preferences"

    static let all = [
        Route(.get, path, scope: .preferences, handle: read),
        Route(.put, path, scope: .preferences, handle: replace),
    ]

    @Sendable private static func read(_ call: Call) async throws(Problem) -> Response {
        let user = try call.user()
        let preferences = try await call.store { store async throws(StoreError) in
            try await store.preferences(of: user)
        }
        return .json(200, PreferencesDocument.encode(preferences))
    }

    @Sendable private static func replace(_ call: Call) async throws(Problem) -> Response {
        let user = try call.user()
        let preferences: Preferences
        do throws(PreferencesProblem) {
            preferences = try PreferencesDocument.decode(call.body)
        } catch {
            // A fault of the whole document is one of its JSON.
            if let fault = error.fields.first, fault.path.isEmpty { throw .badRequest(fault.message) }
            throw .invalid(error.fields.map { Problem.Field(path: $0.path, message: $0.message) })
        }
        let now = call.service.clock.now()
        try await call.store { store async throws(StoreError) in
            try await store.setPreferences(preferences, of: user, at: now)
        }
        return .json(200, PreferencesDocument.encode(preferences))
    }
}
