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
                let shorter = try shorter(whole, by: excess)
                if text == first, shorter.isEmpty { continue }
                shown[text] = shorter
            }
        }
        return try size(shown, kept) > Self.limit ? nil : object(shown, kept)
    }

    /// Goes back one character at a time until the text has lost as many bytes as it must.
    private func shorter(_ text: String, by excess: Int) throws -> String {
        let budget = try bytes(text) - excess
        var kept = text[...]
        while !kept.isEmpty {
            kept.removeLast()
            if try bytes(String(kept)) + 3 <= budget {
                while let last = kept.last, last.isWhitespace { kept.removeLast() }
                return kept.isEmpty ? "" : kept + "…"
            }
        }
        return ""
    }

    private func bytes(_ text: String) throws -> Int {
        try JSONSerialization.data(withJSONObject: text, options: [.fragmentsAllowed, .withoutEscapingSlashes]).count
            - 2
    }

    private func size(_ texts: [AlertText: String], _ custom: [String: String]) throws -> Int {
        try JSONSerialization.data(withJSONObject: object(texts, custom), options: .withoutEscapingSlashes).count
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
