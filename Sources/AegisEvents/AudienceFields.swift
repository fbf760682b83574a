import AegisCore

/// The fields that say whom an event is for and how, the same in Aegis's own shape and inside the data of a CloudEvent.
struct AudienceFields {
    var recipients: Recipients
    var actor: UserID?
    var deliverAt: UnixTime?
    var expiresAt: UnixTime?
    var locale: LocaleTag?
    var collapseID: String?
    var app: AppID?

    init(_ fields: ObjectReader, recipientLimit: Int) throws(Rejection) {
        recipients = try Self.recipients(fields, limit: recipientLimit)
        actor = try fields.user("actor")
        deliverAt = try fields.time("deliver_at")
        expiresAt = try fields.time("expires_at")
        // A language nobody can write in is no reason to stay silent: the default is used.
        locale = fields.index(of: "locale").flatMap { fields.document.text(of: fields.document.nodes[$0]) }
            .flatMap { LocaleTag($0) }
        collapseID = try fields.text("collapse_id", limit: 512)
        app = try fields.text("app", limit: 256).map { AppID($0) }
    }

    var isForNobody: Bool {
        switch recipients {
        case .users(let users): users.isEmpty
        case .audience: false
        }
    }

    private static func recipients(_ fields: ObjectReader, limit: Int) throws(Rejection) -> Recipients {
        let named = ["recipient", "recipients", "audience"].filter { fields.has($0) }
        guard let only = named.first else { throw .recipient("no recipient, recipients or audience") }
        guard named.count == 1 else {
            throw .recipient("\(named.joined(separator: " and ")) together; exactly one is needed")
        }
        if only == "recipient", let user = try fields.user(only) { return .users([user]) }
        if only == "audience" {
            guard fields.kind(of: only) == .string, let name = try fields.text(only, limit: 256) else {
                throw .recipient("audience is no text")
            }
            return .audience(name)
        }
        guard let index = fields.index(of: only), fields.kind(of: only) == .array else {
            throw .recipient("recipients is no array")
        }
        return .users(try users(fields.document, at: index, limit: limit))
    }

    private static func users(_ document: EventData, at list: Int, limit: Int) throws(Rejection) -> [UserID] {
        var users: [UserID] = []
        var seen: Set<UserID> = []
        for (position, index) in document.children(at: list).enumerated() {
            guard position < limit else { throw .recipient("recipients has more than \(limit) entries") }
            let user = try ObjectReader.user(document, at: index, "recipients[\(position)]")
            if seen.insert(user).inserted { users.append(user) }
        }
        return users
    }
}
