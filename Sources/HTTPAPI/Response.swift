import AegisEvents

/// An answer, whole.
struct Response: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    /// What stands there is personal: nobody on the way keeps it.
    static func json(_ status: Int, _ body: [UInt8]) -> Response {
        Response(
            status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: body)
    }

    static func json(_ status: Int, _ members: (inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter()
        writer.object(members)
        return json(status, writer.bytes)
    }

    static let noContent = Response(status: 204)
}

extension JSONWriter {
    mutating func member(_ name: String, _ number: Int) {
        key(name)
        raw(String(number).utf8)
    }

    mutating func member(_ name: String, _ texts: [String]) {
        key(name)
        array { writer in
            for text in texts {
                writer.element()
                writer.string(text)
            }
        }
    }
}
