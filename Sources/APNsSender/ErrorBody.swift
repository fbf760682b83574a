import AegisCore

/// What APNs says in the body of an error.
///
/// Bodies may be empty, cut short or not JSON at all: what cannot be read is absent, never an error.
struct ErrorBody: Hashable, Sendable {
    /// Bytes of a body that are kept; the rest of a longer one is not looked at.
    static let limit = 4_096
    /// Longer texts are no reasons.
    private static let longestReason = 64

    private(set) var reason: APNsReason?
    private(set) var timestamp: UnixTime?

    /// Reads `reason` and `timestamp` (whole milliseconds) of the outermost object.
    init(_ bytes: [UInt8]) {
        var scanner = Scanner(bytes: bytes)
        scanner.skipSpace()
        guard scanner.take(UInt8(ascii: "{")) else { return }
        while let key = scanner.key() {
            scanner.skipSpace()
            switch key {
            case "reason":
                if let text = scanner.string(), Self.isReason(text) { reason = APNsReason(text) }
            case "timestamp":
                if let number = scanner.integer() { timestamp = UnixTime(milliseconds: number) }
            default:
                break
            }
            guard scanner.skipToNextMember() else { return }
        }
    }

    /// A word that can stand in a log line and a label.
    private static func isReason(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= longestReason && bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }
}

extension ErrorBody {
    /// A cursor over JSON that may end anywhere.
    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func skipSpace() {
            while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            guard next == byte else { return false }
            position += 1
            return true
        }

        /// The next member's name, its colon taken.
        mutating func key() -> String? {
            skipSpace()
            guard let name = string() else { return nil }
            skipSpace()
            return take(UInt8(ascii: ":")) ? name : nil
        }

        /// A string without the quotes; nothing is taken when there is none.
        ///
        /// Escapes other than those of `"`, `\` and `/` stay as they are: no reason has any.
        mutating func string() -> String? {
            guard next == UInt8(ascii: "\"") else { return nil }
            var text: [UInt8] = []
            var cursor = position + 1
            while cursor < bytes.count {
                let byte = bytes[cursor]
                if byte == UInt8(ascii: "\"") {
                    position = cursor + 1
                    return String(decoding: text, as: UTF8.self)
                }
                if byte == UInt8(ascii: "\\"), cursor + 1 < bytes.count {
                    let escaped = bytes[cursor + 1]
                    if escaped != UInt8(ascii: "\""), escaped != UInt8(ascii: "\\"), escaped != UInt8(ascii: "/") {
                        text.append(byte)
                    }
                    text.append(escaped)
                    cursor += 2
                    continue
                }
                text.append(byte)
                cursor += 1
            }
            return nil
        }

        /// Digits, quoted or not; a fraction is cut off.
        mutating func integer() -> Int64? {
            _ = take(UInt8(ascii: "\""))
            let start = position
            while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
            if let byte = next, byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") { return nil }
            let number = Int64(String(decoding: bytes[start..<position], as: UTF8.self))
            _ = take(UInt8(ascii: "\""))
            return number
        }

        /// Skips what is left of a value, however deep; false at the end of the object or of the bytes.
        mutating func skipToNextMember() -> Bool {
            var depth = 0
            while let byte = next {
                switch byte {
                case UInt8(ascii: "\""):
                    guard string() != nil else { return false }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    guard depth > 0 else { return false }
                    depth -= 1
                case UInt8(ascii: ",") where depth == 0:
                    position += 1
                    return true
                default:
                    break
                }
                position += 1
            }
            return false
        }
    }
}
