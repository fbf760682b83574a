/// A JSON object of texts and whole numbers, which is all that the header and the claims of a provider token are.
///
/// Other values are kept as ``Value/other``; nested ones, and repeated names, make the whole unreadable.
struct FlatJSONObject {
    enum Value: Hashable {
        case string(String)
        case integer(Int64)
        /// A fraction, `true`, `false` or `null`.
        case other
    }

    private(set) var members: [String: Value] = [:]

    init?(_ bytes: [UInt8]) {
        var scanner = Scanner(rest: bytes[...])
        guard scanner.take("{") else { return nil }
        if !scanner.take("}") {
            repeat {
                guard let name = scanner.string(), scanner.take(":"), let value = scanner.value(),
                    members.updateValue(value, forKey: name) == nil
                else { return nil }
            } while scanner.take(",")
            guard scanner.take("}") else { return nil }
        }
        guard scanner.isAtEnd else { return nil }
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        var isAtEnd: Bool {
            mutating get {
                skipSpace()
                return rest.isEmpty
            }
        }

        private mutating func skipSpace() {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            skipSpace()
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// Escapes other than those of a quote, a backslash or a slash do not occur in identifiers and are refused.
        mutating func string() -> String? {
            guard take("\"") else { return nil }
            var text: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""):
                    return String(validating: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst(), [0x22, 0x5C, 0x2F].contains(escaped) else { return nil }
                    text.append(escaped)
                case 0..<0x20:
                    return nil
                default:
                    text.append(byte)
                }
            }
            return nil
        }

        mutating func value() -> Value? {
            skipSpace()
            if rest.first == UInt8(ascii: "\"") { return string().map(Value.string) }
            let word = rest.prefix { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "E"):
                    true
                default: false
                }
            }
            rest = rest.dropFirst(word.count)
            if let number = DecimalInteger.value(of: word) { return .integer(number) }
            return word.isEmpty ? nil : .other
        }
    }
}
