package import AegisCore

/// How much a line matters.
package enum LogLevel: Int, Hashable, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error

    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A value of a log line.
///
/// There is no case for a token, a user id or a text of a notification: none can be logged.
package enum LogValue: Hashable, Sendable {
    case text(String)
    case number(Int64)
    case user(UserHash)
    case device(DeviceHash)
}

/// Structured lines for operators.
package protocol Log: Sendable {
    var level: LogLevel { get }
    /// `message` is a constant sentence; what varies is in `fields`, so that lines can be counted by message.
    func write(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue>)
}

extension Log {
    package func debug(_ message: String, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.debug, message, fields)
    }

    package func info(_ message: String, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.info, message, fields)
    }

    package func warning(_ message: String, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.warning, message, fields)
    }

    package func error(_ message: String, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.error, message, fields)
    }
}
