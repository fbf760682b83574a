import AegisContent
import AegisTestKit
import Foundation

/// The payload of an alert as plain dictionaries and texts: slow, obvious, and independent of the fast one.
struct SlowRenderer {
    /// A template in the test's own words.
    enum Piece {
        case literal(String)
        case value(String)
        case truncated(String, Int)
        case number(Int)

        /// As the catalog writes it; numbers lie under the key `n` and their own digits.
        var source: String {
            switch self {
            case .literal(let text): text
            case .value(let key): "{{\(key)}}"
            case .truncated(let key, let length): "{{ \(key) | truncate(\(length)) }}"
            case .number(let number): "{{n\(number)|number}}"
            }
        }

        func text(_ values: [String: String]) -> String {
            switch self {
            case .literal(let text): return text
            case .value(let key): return values[key] ?? ""
            case .truncated(let key, let length):
                let value = values[key] ?? ""
                return value.count > length ? String(value.prefix(length - 1)) + "…" : value
            case .number(let number):
                var digits = Array(String(number.magnitude).reversed().map(String.init))
                for index in stride(from: 3, to: digits.count, by: 3) { digits[index] += "," }
                return (number < 0 ? "-" : "") + digits.reversed().joined()
            }
        }
    }

    var texts: [AlertText: [Piece]]
    var custom: [(key: String, value: [Piece])]
    var trim: [TrimStep]
    var values: [String: String]

    private static let limit = 4_096

    /// Nil where nothing helps against its size.
    func payload() throws -> NSDictionary? {
        var shown = texts.mapValues { pieces in pieces.map { $0.text(values) }.joined() }
        var kept = Dictionary(custom.map { ($0.key, $0.value.map { $0.text(values) }.joined()) }) { first, _ in first }
        let first = AlertText.allCases.first { shown[$0] != nil }
        for step in trim {
            let excess = try size(shown, kept) - Self.limit
            guard excess > 0 else { break }
            switch step {
            case .custom(let key): kept[key] = nil
            case .text(let text):
                guard let whole = shown[text] else { continue }
                let shorter = shorter(whole, by: excess)
                if text == first, shorter.isEmpty { continue }
                shown[text] = shorter
            }
        }
        return try size(shown, kept) > Self.limit ? nil : object(shown, kept)
    }

    /// Goes back one character at a time until the text has lost as many bytes as it must.
    private func shorter(_ text: String, by excess: Int) -> String {
        let budget = bytes(text) - excess
        var kept = text[...]
        var size = bytes(text)
        while let last = kept.popLast() {
            size -= bytes(String(last))
            if size + 3 <= budget {
                while let last = kept.last, last.isWhitespace { kept.removeLast() }
                return kept.isEmpty ? "" : kept + "…"
            }
        }
        return ""
    }

    /// In UTF-8, with the escapes that JSON cannot do without.
    private func bytes(_ text: String) -> Int {
        var size = 0
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\", "\u{8}", "\t", "\n", "\u{C}", "\r": size += 2
            case "\u{0}"..<" ": size += 6
            default: size += String(scalar).utf8.count
            }
        }
        return size
    }

    /// The skeleton, in which nothing needs an escape, and the texts.
    private func size(_ texts: [AlertText: String], _ custom: [String: String]) throws -> Int {
        let skeleton = object(texts.mapValues { _ in "" }, custom.mapValues { _ in "" })
        let texts = texts.values.map(bytes) + custom.values.map(bytes)
        return try JSONSerialization.data(withJSONObject: skeleton).count + texts.reduce(0, +)
    }

    private func object(_ texts: [AlertText: String], _ custom: [String: String]) -> NSDictionary {
        var root: [String: Any] = custom
        root["aps"] = [
            "alert": Dictionary(uniqueKeysWithValues: texts.map { ($0.rawValue, $1) }), "badge": 9_999_999,
            "sound": "default", "category": "CAT", "interruption-level": "active",
        ]
        root["type"] = "order"
        root["event_id"] = "evt-1"
        root["recipient"] = "user-42"
        root["reason"] = "order"
        return root as NSDictionary
    }
}
