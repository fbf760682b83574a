import AegisCore
import AegisEvents
import AegisPorts

/// What became of notifications: one person's history, reading, and one event for everybody it concerned.
enum NotificationRoutes {
    private static let path = "/v1/users/{user}/notifications"

    static let all = [
        Route(.get, path, scope: .devices, query: ["limit", "after"], handle: list),
        Route(.post, path + "/{event}/read", scope: .devices, handle: read),
        Route(.get, "/v1/events/{event}", scope: .admin, query: ["user"], handle: explain),
    ]

    @Sendable private static func list(_ call: Call) async throws(Problem) -> Response {
        try call.permitEveryApp()
        let user = try call.user()
        let limit = try limit(of: call)
        let cursor = try cursor(of: call)
        let page = try await call.store { store async throws(StoreError) in
            try await store.history(of: user, after: cursor, limit: limit)
        }
        return .json(200) { writer in
            writer.key("notifications")
            writer.array { writer in
                for record in page {
                    writer.element()
                    writer.object { NotificationDocument.write(record, to: &$0) }
                }
            }
            guard page.count == limit, let last = page.last else { return }
            writer.member("next", PageCursor.text(of: last))
        }
    }

    private static func limit(of call: Call) throws(Problem) -> Int {
        guard let text = call.query["limit"] else { return 50 }
        guard let limit = Int(text), (1...200).contains(limit) else {
            throw .invalid([Problem.Field(path: "limit", message: "must be a whole number from 1 to 200")])
        }
        return limit
    }

    private static func cursor(of call: Call) throws(Problem) -> HistoryCursor? {
        guard let text = call.query["after"] else { return nil }
        guard let cursor = PageCursor.parse(text) else {
            throw .invalid([Problem.Field(path: "after", message: "must be the next of an earlier page")])
        }
        return cursor
    }

    @Sendable private static func read(_ call: Call) async throws(Problem) -> Response {
        try call.permitEveryApp()
        let user = try call.user()
        let event = try event(of: call)
        let now = call.service.clock.now()
        let fallen = try await call.store { store async throws(StoreError) in
            try await store.markRead(event, of: user, at: now)
        }
        guard let fallen else { throw .notFound }
        return .json(200) { writer in
            writer.key("badges")
            writer.object { writer in
                for (app, count) in fallen.sorted(by: { $0.key.text < $1.key.text }) {
                    writer.member(app.text, count)
                }
            }
        }
    }

    @Sendable private static func explain(_ call: Call) async throws(Problem) -> Response {
        try call.permitEveryApp()
        let event = try event(of: call)
        var user: UserID?
        if let name = call.query["user"] {
            guard let named = try? UserID(name) else {
                throw .invalid([Problem.Field(path: "user", message: "must have 1 to 256 bytes")])
            }
            user = named
        }
        let records = try await call.store { [user] store async throws(StoreError) in
            try await store.history(ofEvent: event, user: user)
        }
        guard !records.isEmpty else { throw .notFound }
        let digests = call.service.digests
        return .json(200) { NotificationDocument.write(records, ofEvent: event, digests, to: &$0) }
    }

    private static func event(of call: Call) throws(Problem) -> String {
        let event = call.parameters["event"] ?? ""
        guard (1...1_024).contains(event.utf8.count) else {
            throw .badRequest("An event id has 1 to 1024 bytes.")
        }
        return event
    }
}

/// Where a page of a history ends, as one opaque word.
///
/// - Shape: `milliseconds.bytes of the source.source and id`.
enum PageCursor {
    static func text(of record: NotificationRecord) -> String {
        let event = record.key.event
        return "\(record.createdAt.milliseconds).\(event.source.utf8.count).\(event.source)\(event.id)"
    }

    static func parse(_ text: String) -> HistoryCursor? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let time = Int64(String(parts[0]) ?? ""), let length = Int(String(parts[1]) ?? ""),
            (0...parts[2].count).contains(length), let source = String(parts[2].prefix(length)),
            let id = String(parts[2].dropFirst(length))
        else { return nil }
        return HistoryCursor(
            createdAt: UnixTime(milliseconds: time), event: EventIdentity(source: source, id: id))
    }
}
