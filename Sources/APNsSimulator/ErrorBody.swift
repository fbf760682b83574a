/// The JSON that explains an error, and its malformed relatives.
enum ErrorBody {
    static func bytes(for rejection: Rejection, style: Faults.Body) -> [UInt8] {
        guard let reason = rejection.reason else { return [] }
        switch style {
        case .empty:
            return []
        case .notJSON:
            return Array("<html><body>Bad Gateway</body></html>".utf8)
        case .unknownReason:
            return object("ReasonFromTheFuture", timestamp: rejection.timestamp)
        case .extraKeys:
            let timestamp = rejection.timestamp.map { ",\"timestamp\":\($0)" } ?? ""
            return Array(
                #"{"detail":{"code":[1,null]},"reason":"\#(escaped(reason))","retriable":false\#(timestamp)}"#.utf8)
        case .normal, .split:
            return object(reason, timestamp: rejection.timestamp)
        }
    }

    /// The debug data of a GOAWAY; none without a reason.
    static func goAway(_ reason: String?) -> [UInt8] {
        reason.map { object($0, timestamp: nil) } ?? []
    }

    private static func object(_ reason: String, timestamp: Int64?) -> [UInt8] {
        let timestamp = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(escaped(reason))\"\(timestamp)}".utf8)
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                escaped += "\\\(scalar)"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default:
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
