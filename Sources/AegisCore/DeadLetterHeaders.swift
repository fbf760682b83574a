/// The headers that a dead letter carries beside those of its original.
///
/// Their names are a contract with whoever reads the dead-letter topic.
extension DeadLetter {
    /// The most bytes that names and values of all added headers take together.
    ///
    /// - Source: 8 KiB, less room for the header sets of other tools that operators may ask for.
    package static let addedHeadersLimit = 6 * 1_024

    /// Names of added headers; an original header of such a name is left out of a dead letter, since the added one replaces it.
    package static let addedHeaderPrefix = "aegis-dlq-"

    /// The headers that say what became of the record, as UTF-8 text.
    ///
    /// What has no value has no header. Together they stay under ``addedHeadersLimit``: the longest values are cut first, lists
    /// of targets at a whole target. The same letter at the same moment always gives the same headers.
    package func addedHeaders(at now: UnixTime) -> [RecordHeader] {
        var fields: [(name: String, value: String)] = [
            ("aegis-dlq-kind", rejection.kind.rawValue),
            ("aegis-dlq-stage", rejection.stage.rawValue),
            ("aegis-dlq-reason", rejection.reason.onOneLine),
            ("aegis-dlq-topic", origin.topic),
            ("aegis-dlq-partition", String(origin.partition)),
            ("aegis-dlq-offset", String(record.offset)),
            ("aegis-dlq-timestamp", String(record.timestamp.milliseconds)),
            ("aegis-dlq-attempts", String(attempts)),
            ("aegis-dlq-failed-at", Timestamp.rfc3339(now, alwaysMilliseconds: true)),
        ]
        if let eventID { fields.append(("aegis-dlq-event-id", eventID)) }
        if let type { fields.append(("aegis-dlq-type", type)) }
        if let user { fields.append(("aegis-dlq-user", user.text)) }
        if !targets.isEmpty { fields.append(("aegis-dlq-targets", targets.map(\.text).joined(separator: ","))) }
        fields.append(("aegis-dlq-replays", String(replays)))
        if omittedBytes > 0 { fields.append(("aegis-dlq-omitted-bytes", String(omittedBytes))) }
        if let apnsStatus { fields.append(("aegis-dlq-apns-status", String(apnsStatus))) }
        if let apnsReason { fields.append(("aegis-dlq-apns-reason", apnsReason.onOneLine)) }
        let limit = Self.longestValue(of: fields)
        return fields.map { field in
            let value =
                field.name == "aegis-dlq-targets"
                ? field.value.wholeItems(inBytes: limit) : field.value.whole(inBytes: limit)
            return RecordHeader(name: field.name, value: Array(value.utf8))
        }
    }

    /// How often the record was handed back before, as its own headers say; 0 where they say nothing that can be read.
    package var replays: Int {
        guard let header = record.headers.last(where: { $0.name == "aegis-dlq-replays" }), let value = header.value,
            let count = Int(String(decoding: value, as: UTF8.self)), count >= 0
        else { return 0 }
        return count
    }

    /// The longest that one value may be so that all fit: only values longer than it are cut.
    private static func longestValue(of fields: [(name: String, value: String)]) -> Int {
        var room = fields.reduce(addedHeadersLimit) { $0 - $1.name.utf8.count }
        var left = fields.count
        // Shortest first: whatever a short value leaves of its share goes to the longer ones.
        for length in fields.map(\.value.utf8.count).sorted() {
            let share = room / left
            guard length <= share else { return share }
            room -= length
            left -= 1
        }
        return .max
    }
}

extension String {
    /// The text with every control character and line separator replaced by a space.
    fileprivate var onOneLine: String {
        func breaks(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028
                || scalar.value == 0x2029
        }
        guard unicodeScalars.contains(where: breaks) else { return self }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: unicodeScalars.map { breaks($0) ? " " : $0 })
        return String(text)
    }

    /// As many whole characters from the start as fit into `limit` bytes.
    fileprivate func whole(inBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = startIndex
        var length = 0
        while end < endIndex {
            let next = index(after: end)
            length += self[end..<next].utf8.count
            guard length <= limit else { break }
            end = next
        }
        return String(self[..<end])
    }

    /// As many whole items of a comma-separated list from the start as fit into `limit` bytes.
    fileprivate func wholeItems(inBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let head = utf8.prefix(limit + 1)
        guard let comma = head.lastIndex(of: UInt8(ascii: ",")) else { return "" }
        return String(self[..<comma])
    }
}
