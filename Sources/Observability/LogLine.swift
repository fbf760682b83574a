import AegisCore
import AegisPorts

/// The bytes of one line of the log, built field by field.
///
/// Only what JSON demands is escaped; the text format takes the same escapes, so that no value can start a line.
struct LogLine {
    private let format: JSONLinesLog.Format
    private var bytes: [UInt8] = []

    init(format: JSONLinesLog.Format, time: UnixTime, level: LogLevel, message: String) {
        self.format = format
        bytes.reserveCapacity(256)
        let timestamp = Timestamp.rfc3339(time, alwaysMilliseconds: true)
        switch format {
        case .json:
            bytes.append(contentsOf: #"{"ts":""#.utf8)
            bytes.append(contentsOf: timestamp.utf8)
            bytes.append(contentsOf: #"","level":""#.utf8)
            bytes.append(contentsOf: level.name.utf8)
            bytes.append(contentsOf: #"","msg":"#.utf8)
            JSONText.appendQuoted(message, to: &bytes)
        case .text:
            bytes.append(contentsOf: timestamp.utf8)
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: level.name.uppercased().utf8)
            bytes.append(UInt8(ascii: " "))
            JSONText.appendEscaped(message, to: &bytes)
        }
    }

    mutating func append(_ name: String, _ value: LogValue) {
        switch format {
        case .json:
            bytes.append(UInt8(ascii: ","))
            JSONText.appendQuoted(name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
        case .text:
            bytes.append(UInt8(ascii: " "))
            JSONText.appendEscaped(name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
        }
        switch value {
        case .number(let number): bytes.append(contentsOf: String(number).utf8)
        case .text(let text): appendText(text)
        case .user(let hash): appendText(hash.text)
        case .device(let hash): appendText(hash.text)
        }
    }

    consuming func finished() -> [UInt8] {
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func appendText(_ text: String) {
        if format == .text, text.utf8.allSatisfy(Self.needsNoQuotes), !text.isEmpty {
            bytes.append(contentsOf: text.utf8)
        } else {
            JSONText.appendQuoted(text, to: &bytes)
        }
    }

    private static func needsNoQuotes(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "=")
    }
}

extension LogLevel {
    /// The word in a line.
    fileprivate var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }
}
