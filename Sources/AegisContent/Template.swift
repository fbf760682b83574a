/// A text with places for an event's data, such as `Order {{order_number}}`.
///
/// - Shape: `{{path}}` or `{{path | filter | filter(argument)}}`. A path is names joined by points below the event's data, or
///   `event.id`, `event.type`, `user.id`, `digest.count`. Filters: `money(currency)` with an ISO code or a path to one, `number`,
///   `date(short|medium|long|full|time|datetime)`, `plural(one: "# item", other: "# items")`, `truncate(40)`, `default("…")`.
///   A backslash keeps the next character of a quoted text as it is.
package struct Template: Sendable {
    package let source: String
    let pieces: [TemplatePiece]

    /// - Throws: ``TemplateProblem`` for an unclosed place, an unknown filter or a wrong argument.
    package init(parsing source: String) throws(TemplateProblem) {
        self.source = source
        var parser = TemplateParser(source)
        pieces = try parser.pieces()
    }
}

/// Why a template cannot be used, with the nearest known name where there is one.
package struct TemplateProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}
