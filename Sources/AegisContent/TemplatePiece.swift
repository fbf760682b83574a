import AegisCore

/// A part of a compiled template.
enum TemplatePiece: Sendable {
    /// Both as text and as it stands in a JSON string.
    case literal(text: [UInt8], escaped: [UInt8])
    case place(TemplatePlace)
}

/// A place that a value takes: where the value is, and what is done to it.
struct TemplatePlace: Sendable {
    var path: ValuePath
    var filters: [TemplateFilter]
}

/// Where a value is found.
struct ValuePath: Hashable, Sendable {
    enum Root: Hashable, Sendable {
        case eventID
        case eventType
        case userID
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
        default: root = .data(steps.map { Array($0.utf8) })
        }
    }
}

/// What is done to a value.
enum TemplateFilter: Hashable, Sendable {
    enum Currency: Hashable, Sendable {
        case code(String)
        case path(ValuePath)
    }

    enum DateStyle: String, Hashable, Sendable, CaseIterable {
        case short, medium, long, full, time, datetime
    }

    case money(Currency)
    case number
    case date(DateStyle)
    /// By plural category, `other` among them; `#` stands for the number.
    case plural([PluralCategory: String])
    case truncate(Int)
    case `default`(String)

    static let names = ["money", "number", "date", "plural", "truncate", "default"]
}
