/// Finds the route of a request and decides whether it is let in, before its body is read.
struct Router: Sendable {
    /// What is to become of a request.
    enum Admission: Sendable {
        case perform(Route, Call)
        /// `route` is nil where no route was found.
        case refuse(Response, route: String?)

        /// The pattern, for the log.
        var route: String? {
            switch self {
            case .perform(let route, _): route.pattern.text
            case .refuse(_, let route): route
            }
        }

        /// Whether anybody may ask, every few seconds.
        var isProbe: Bool {
            switch self {
            case .perform(let route, _): route.scope == nil
            case .refuse: false
            }
        }
    }

    static let routes =
        OperationsRoutes.all + DeviceRoutes.all + PreferencesRoutes.all + BadgeRoutes.all
        + NotificationRoutes.all

    let service: APIDependencies
    let tokens: [APIToken]

    /// - Parameter query: the raw value of a query parameter.
    func admit(
        method: String, rawPath: [UInt8], authorization: String?, query: (String) -> [UInt8]?
    ) -> Admission {
        guard let path = RequestPath(raw: rawPath) else {
            return .refuse(Problem.badRequest("The path is not valid percent-encoded UTF-8.").response, route: nil)
        }
        let matches = Self.routes.compactMap { route in route.pattern.match(path).map { (route, $0) } }
        guard let pattern = matches.first?.0.pattern.text else { return .refuse(Problem.notFound.response, route: nil) }
        guard let (route, parameters) = matches.first(where: { Self.takes($0.0.method, method) }) else {
            let allowed = matches.flatMap { Self.words($0.0.method) }
            return .refuse(Problem.methodNotAllowed(allowed: allowed).response, route: pattern)
        }
        do throws(Problem) {
            let token = try authorize(route, authorization)
            let values = try queryValues(of: route, query)
            return .perform(
                route, Call(service: service, parameters: parameters, query: values, token: token))
        } catch {
            return .refuse(error.response, route: pattern)
        }
    }

    private static func takes(_ method: Route.Method, _ word: String) -> Bool {
        words(method).contains(word)
    }

    /// Whoever answers GET answers HEAD.
    private static func words(_ method: Route.Method) -> [String] {
        switch method {
        case .get: ["GET", "HEAD"]
        case .put, .patch, .post, .delete: [method.rawValue]
        }
    }

    private func authorize(_ route: Route, _ authorization: String?) throws(Problem) -> APIToken? {
        guard let scope = route.scope else { return nil }
        guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { throw .unauthorized }
        let presented = Array(authorization.dropFirst(7).utf8)
        // Every token is compared, whichever it is.
        var found: APIToken?
        for token in tokens where token.matches(presented) { found = token }
        guard let found else { throw .unauthorized }
        guard found.scopes.contains(scope) else {
            throw .forbidden("The token lacks the scope \(scope.rawValue).")
        }
        return found
    }

    private func queryValues(
        of route: Route, _ query: (String) -> [UInt8]?
    ) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        for name in route.query {
            guard let raw = query(name) else { continue }
            guard let value = PercentEncoding.decode(raw) else {
                throw .badRequest("The query parameter \(name) is not valid percent-encoded UTF-8.")
            }
            values[name] = value
        }
        return values
    }
}
