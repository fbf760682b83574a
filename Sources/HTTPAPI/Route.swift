import AegisCore
import AegisPorts

/// One route: everything that answering it takes.
struct Route: Sendable {
    enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case put = "PUT"
        case patch = "PATCH"
        case post = "POST"
        case delete = "DELETE"
    }

    let method: Method
    let pattern: PathPattern
    /// What the caller's token must allow; nil takes anybody.
    let scope: APIScope?
    /// The query parameters it reads.
    let query: [String]
    let handle: @Sendable (Call) async throws(Problem) -> Response

    init(
        _ method: Method, _ pattern: String, scope: APIScope?, query: [String] = [],
        handle: @escaping @Sendable (Call) async throws(Problem) -> Response
    ) {
        self.method = method
        self.pattern = PathPattern(pattern)
        self.scope = scope
        self.query = query
        self.handle = handle
    }
}

/// A request that was let in, with its parameters.
struct Call: Sendable {
    let service: APIDependencies
    let parameters: [String: String]
    let query: [String: String]
    /// Nil on routes that take anybody.
    let token: APIToken?
    var body: [UInt8] = []

    func user() throws(Problem) -> UserID {
        do throws(InvalidUserID) {
            return try UserID(parameters["user"] ?? "")
        } catch {
            throw .badRequest(error.description)
        }
    }

    /// The app of the query, known and allowed.
    func queriedApp() throws(Problem) -> AppID {
        guard let name = query["app"] else { throw .badRequest("The query parameter app is missing.") }
        let app = AppID(name)
        if let unknown = unknownApp(app) { throw .invalid([unknown]) }
        try permit(app)
        return app
    }

    func permit(_ app: AppID) throws(Problem) {
        guard token?.mayUse(app) != false else { throw .forbidden("The token is limited to other apps.") }
    }

    /// For what is not told apart by app.
    func permitEveryApp() throws(Problem) {
        guard token?.apps.isEmpty != false else { throw .forbidden("The token is limited to some apps.") }
    }

    /// What to say of an app that is not configured, or nil.
    func unknownApp(_ app: AppID) -> Problem.Field? {
        guard service.apps[app] == nil else { return nil }
        let known = service.apps.keys.filter { token?.mayUse($0) != false }.map(\.text).sorted()
        return Problem.Field(path: "app", message: "is not configured; known are \(known.joined(separator: ", "))")
    }

    /// Calls the store; its failure is logged here and told without its detail.
    func store<Result: Sendable>(
        _ body: (any DeviceStore & NotificationHistory) async throws(StoreError) -> Result
    ) async throws(Problem) -> Result {
        do throws(StoreError) {
            return try await body(service.store)
        } catch {
            service.log.warning(
                "the store failed a request", ["operation": .text(error.operation), "detail": .text(error.detail)])
            throw error.isRetryable ? .unavailable("The store cannot be reached at the moment.") : .internalError
        }
    }
}
