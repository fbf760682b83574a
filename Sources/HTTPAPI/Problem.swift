import AegisEvents

/// A refusal, as every route words it.
///
/// No text of it quotes what the client sent but names of fields.
///
/// - Source: RFC 9457, Problem Details for HTTP APIs.
struct Problem: Error {
    /// What is wrong with one field of the body.
    struct Field: Hashable {
        let path: String
        let message: String
    }

    let status: Int
    let title: String
    let detail: String
    var fields: [Field] = []
    var headers: [(name: String, value: String)] = []

    var response: Response {
        var response = Response.json(status) { writer in
            writer.member("type", "about:blank")
            writer.member("title", title)
            writer.member("status", status)
            writer.member("detail", detail)
            guard !fields.isEmpty else { return }
            writer.key("errors")
            writer.array { writer in
                for field in fields {
                    writer.element()
                    writer.object { writer in
                        writer.member("field", field.path)
                        writer.member("message", field.message)
                    }
                }
            }
        }
        response.headers = [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")] + headers
        return response
    }

    static func badRequest(_ detail: String) -> Problem {
        Problem(status: 400, title: "Bad Request", detail: detail)
    }

    static let unauthorized = Problem(
        status: 401, title: "Unauthorized", detail: "This route wants a valid bearer token.",
        headers: [("WWW-Authenticate", "Bearer")])

    static func forbidden(_ detail: String) -> Problem {
        Problem(status: 403, title: "Forbidden", detail: detail)
    }

    static let notFound = Problem(status: 404, title: "Not Found", detail: "There is no such route.")

    static func methodNotAllowed(allowed: [String]) -> Problem {
        let list = allowed.joined(separator: ", ")
        return Problem(
            status: 405, title: "Method Not Allowed", detail: "This route takes \(list).", headers: [("Allow", list)])
    }

    static func tooLarge(limit: Int) -> Problem {
        Problem(status: 413, title: "Content Too Large", detail: "A body has at most \(limit) bytes.")
    }

    static func invalid(_ fields: [Field]) -> Problem {
        Problem(
            status: 422, title: "Unprocessable Content",
            detail: fields.count == 1 ? "One field is not valid." : "\(fields.count) fields are not valid.",
            fields: fields)
    }

    static let internalError = Problem(
        status: 500, title: "Internal Server Error", detail: "The service failed; its log says more.")

    static let shuttingDown = unavailable("The service is shutting down.")

    static func unavailable(_ detail: String) -> Problem {
        Problem(status: 503, title: "Service Unavailable", detail: detail, headers: [("Retry-After", "5")])
    }
}
