import AegisCore
import AegisPorts

/// The bytes of one line of the log, built field by field.
struct LogLine {
    private let format: JSONLinesLog.Format
    private var bytes: [UInt8] = []

    init(format: JSONLinesLog.Format, time: UnixTime, level: LogLevel, message: String) {
        self.format = format
        bytes.reserveCapacity(256)
        let timestamp = Timestamp(time).text
        switch format {
        case .json:
            bytes.append(contentsOf: #"{"ts":""#.utf8)
            bytes.append(contentsOf: timestamp.utf8)
            bytes.append(contentsOf: #"","level":""#.utf8)
            bytes.append(contentsOf: level.name.utf8)
            bytes.append(contentsOf: #"","msg":"#.utf8)
            appendQuoted(message)
        case .text:
            bytes.append(contentsOf: timestamp.utf8)
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: level.name.uppercased().utf8)
            bytes.append(UInt8(ascii: " "))
            appendEscaped(message)
        }
    }

    mutating func append(_ name: String, _ value: LogValue) {
        switch format {
        case .json:
            bytes.append(UInt8(ascii: ","))
            appendQuoted(name)
            bytes.append(UInt8(ascii: ":"))
        case .text:
            bytes.append(UInt8(ascii: " "))
            appendEscaped(name)
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
            appendQuoted(text)
        }
    }

    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Escapes what JSON demands and nothing else; the text format takes the same, so that no value can start a line.
    private mutating func appendEscaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"):
                bytes.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\r"):
                bytes.append(contentsOf: #"\r"#.utf8)
            case UInt8(ascii: "\t"):
                bytes.append(contentsOf: #"\t"#.utf8)
            case 0..<0x20:
                bytes.append(contentsOf: byte < 0x10 ? #"\u000"#.utf8 : #"\u00"#.utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default:
                bytes.append(byte)
            }
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
