/// One decision or one push, as the demo shows it and as the samples declare it.
struct DemoRow: Hashable, Codable {
    var user = ""
    /// The installation; shown as its hash.
    var device = ""
    var type = ""
    var title = ""
    var badge: Int?
    var thread = ""
    var level = ""
    var outcome = ""
    var reason = ""

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        user = try values.decodeIfPresent(String.self, forKey: .user) ?? ""
        device = try values.decodeIfPresent(String.self, forKey: .device) ?? ""
        type = try values.decodeIfPresent(String.self, forKey: .type) ?? ""
        title = try values.decodeIfPresent(String.self, forKey: .title) ?? ""
        badge = try values.decodeIfPresent(Int.self, forKey: .badge)
        thread = try values.decodeIfPresent(String.self, forKey: .thread) ?? ""
        level = try values.decodeIfPresent(String.self, forKey: .level) ?? ""
        outcome = try values.decodeIfPresent(String.self, forKey: .outcome) ?? ""
        reason = try values.decodeIfPresent(String.self, forKey: .reason) ?? ""
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        func write(_ text: String, _ key: CodingKeys) throws {
            if !text.isEmpty { try values.encode(text, forKey: key) }
        }
        try write(user, .user)
        try write(device, .device)
        try write(type, .type)
        try write(title, .title)
        try values.encodeIfPresent(badge, forKey: .badge)
        try write(thread, .thread)
        try write(level, .level)
        try write(outcome, .outcome)
        try write(reason, .reason)
    }

    private enum CodingKeys: String, CodingKey {
        case user, device, type, title, badge, thread, level, outcome, reason
    }

    static let headings = [
        "user", "device", "type", "title", "badge", "thread", "level", "outcome", "reason",
    ]

    /// - Parameter hash: the device's, where the row has one.
    func cells(hash: String?) -> [String] {
        [
            user, hash ?? "", type, title, badge.map { "\($0)" } ?? "", thread, level, outcome, reason,
        ].map { $0.isEmpty ? "-" : $0 }
    }
}
