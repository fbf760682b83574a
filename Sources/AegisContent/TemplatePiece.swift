import AegisCore

// What is read for each notification is held by reference: copying a value of several arrays counts each of them.

/// A text both as it is and as it stands in a JSON string.
final class LiteralText: Sendable {
    let text: [UInt8]
    let escaped: [UInt8]

    init(_ literal: String) {
        text = Array(literal.utf8)
        var escaped: [UInt8] = []
        JSONText.appendEscaped(literal, to: &escaped)
        self.escaped = escaped
    }
}

/// A part of a compiled template.
enum TemplatePiece: Sendable {
    case literal(LiteralText)
    case place(TemplatePlace)
}

/// A place that a value takes: where the value is, and what is done to it.
final class TemplatePlace: Sendable {
    /// What stands in for a missing value, and what is done to it then.
    struct Substitute: Sendable {
        let text: LiteralText
        let filters: [TemplateFilter]
    }

    let path: ValuePath
    let filters: [TemplateFilter]
    let substitute: Substitute?

    /// - Parameter steps: In the order of writing; nil filters are `default`.
    init(path: ValuePath, steps: [TemplateStep]) {
        self.path = path
        var filters: [TemplateFilter] = []
        var substitute: LiteralText?
        var filtersBefore = 0
        for step in steps {
            switch step {
            case .filter(let filter): filters.append(filter)
            case .default(let text):
                if substitute == nil { (substitute, filtersBefore) = (LiteralText(text), filters.count) }
            }
        }
        self.filters = filters
        self.substitute = substitute.map { Substitute(text: $0, filters: Array(filters[filtersBefore...])) }
    }
}

/// What is written behind a bar.
enum TemplateStep: Sendable {
    case filter(TemplateFilter)
    case `default`(String)

    static let names = ["money", "number", "date", "plural", "truncate", "default"]
}

/// Where a value is found.
final class ValuePath: Sendable {
    enum Root: Sendable {
        case eventID
        case eventType
        case userID
        /// How many notifications a digest stands for.
        case digestCount
        /// Object keys and array indices below the event's data.
        case data([[UInt8]])
    }

    let name: String
    let root: Root

    /// Nil for what is no path: names joined by points.
    init?(_ name: String) {
        let steps = name.split(separator: ".", omittingEmptySubsequences: false)
        guard steps.allSatisfy({ !$0.isEmpty }),
            name.unicodeScalars.allSatisfy({ $0.value > 0x20 && !"|(){}\",:".unicodeScalars.contains($0) })
        else { return nil }
        self.name = name
        switch name {
        case "event.id": root = .eventID
        case "event.type": root = .eventType
        case "user.id": root = .userID
        case "digest.count": root = .digestCount
        default: root = .data(steps.map { Array($0.utf8) })
        }
    }
}

/// What is done to a value.
enum TemplateFilter: Sendable {
    enum Currency: Sendable {
        case code(CurrencyCode)
        case path(ValuePath)
    }

    enum DateStyle: String, Hashable, Sendable, CaseIterable {
        case short, medium, long, full, time, datetime
    }

    case money(Currency)
    case number
    case date(DateStyle)
    case plural(PluralTexts)
    case truncate(Int)
}

/// The texts of a counted thing, each cut where the number goes.
final class PluralTexts: Sendable {
    private let texts: [PluralCategory: [LiteralText]]
    private let other: [LiteralText]

    /// - Parameter texts: By plural category, `other` among them; `#` stands for the number.
    init(_ texts: [PluralCategory: String]) {
        self.texts = texts.mapValues { text in
            text.split(separator: "#", omittingEmptySubsequences: false).map { LiteralText(String($0)) }
        }
        other = self.texts[.other] ?? []
    }

    func parts(for category: PluralCategory) -> [LiteralText] {
        category == .other ? other : texts[category] ?? other
    }
}
