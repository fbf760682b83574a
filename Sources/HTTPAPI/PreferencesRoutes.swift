import AegisCore
import AegisEvents
import AegisPorts

/// What a person asked for: read, replaced as one document, or changed in part.
enum PreferencesRoutes {
    private static let path = "/v1/users/{user}/preferences"

    static let all = [
        Route(.get, path, scope: .preferences, handle: read),
        Route(.put, path, scope: .preferences, handle: replace),
        Route(.patch, path, scope: .preferences, handle: change),
    ]

    @Sendable private static func read(_ call: Call) async throws(Problem) -> Response {
        let preferences = try await stored(call)
        return .json(200, PreferencesDocument.encode(preferences))
    }

    @Sendable private static func replace(_ call: Call) async throws(Problem) -> Response {
        let preferences = try decoded { () throws(PreferencesProblem) in try PreferencesDocument.decode(call.body) }
        return try await write(preferences, over: try await stored(call), call)
    }

    @Sendable private static func change(_ call: Call) async throws(Problem) -> Response {
        let current = try await stored(call)
        let preferences = try decoded { () throws(PreferencesProblem) in
            try PreferencesDocument.merge(call.body, into: current)
        }
        return try await write(preferences, over: current, call)
    }

    private static func stored(_ call: Call) async throws(Problem) -> Preferences {
        let user = try call.user()
        return try await call.store { store async throws(StoreError) in try await store.preferences(of: user) }
    }

    private static func decoded(
        _ body: () throws(PreferencesProblem) -> Preferences
    ) throws(Problem) -> Preferences {
        do throws(PreferencesProblem) {
            return try body()
        } catch {
            // A fault of the whole document is one of its JSON.
            if let fault = error.fields.first, fault.path.isEmpty { throw .badRequest(fault.message) }
            throw .invalid(error.fields.map { Problem.Field(path: $0.path, message: $0.message) })
        }
    }

    private static func write(
        _ preferences: Preferences, over current: Preferences, _ call: Call
    ) async throws(Problem) -> Response {
        let user = try call.user()
        let now = call.service.clock.now()
        try await call.store { store async throws(StoreError) in
            try await store.setPreferences(preferences, of: user, at: now)
        }
        let types = call.service.types()
        for type in optOuts(from: current, to: preferences, types) {
            call.service.meter.add(1, to: .optOuts, [types[type] == nil ? "other" : type])
        }
        let unknown = Set(preferences.types.keys).union(preferences.frequencies.keys).subtracting(types.keys)
        var response = Response.json(200, PreferencesDocument.encode(preferences))
        // Kept, since the catalog may be older than the app; told beside the document, so that it can be sent back as it is.
        if !unknown.isEmpty {
            response.headers.append(("Aegis-Unknown-Types", PercentEncoding.list(unknown.sorted(), limit: 2_048)))
        }
        return response
    }

    /// The types that were on and are off now.
    private static func optOuts(
        from old: Preferences, to new: Preferences, _ types: [String: Bool]
    ) -> [String] {
        new.types.filter { name, isOn in !isOn && old.types[name] ?? types[name] ?? true }.map(\.key).sorted()
    }
}
