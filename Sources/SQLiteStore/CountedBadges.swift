internal import AegisCore

/// The apps whose badge a ledger row has raised, and when.
///
/// - Shape: `app@milliseconds`, one a line; empty for none.
struct CountedBadges {
    private(set) var raisedAt: [AppID: Int64] = [:]

    init() {}

    /// A line that is none is passed over: then a badge stays counted, which the next opening of the app puts right.
    init(text: String) {
        for line in text.split(separator: "\n") {
            guard let separator = line.lastIndex(of: "@"), let time = Int64(line[line.index(after: separator)...])
            else { continue }
            raisedAt[AppID(String(line[..<separator]))] = time
        }
    }

    /// The app was read before it was sent: it does not count.
    mutating func pass(_ app: AppID) {
        if raisedAt[app] == nil { raisedAt[app] = Self.isRead }
    }

    /// The same, taken back by reading: counted once, and not to be taken back again.
    var read: CountedBadges {
        var read = self
        read.raisedAt = raisedAt.mapValues { _ in Self.isRead }
        return read
    }

    static let isRead: Int64 = -1

    var isEmpty: Bool { raisedAt.isEmpty }

    /// - Returns: Whether the app had not been counted.
    mutating func count(_ app: AppID, at now: UnixTime) -> Bool {
        guard raisedAt[app] == nil else { return false }
        raisedAt[app] = now.milliseconds
        return true
    }

    var text: String {
        raisedAt.map { "\($0.key.text)@\($0.value)" }.sorted().joined(separator: "\n")
    }
}
