/// A text with places for an event's data, such as `Order {{order_number}} is confirmed.`
package struct Template: Sendable {
    package let source: String

    /// - Throws: ``TemplateProblem`` for an unclosed place, an unknown filter or a wrong argument.
    package init(parsing source: String) throws(TemplateProblem) {
        self.source = source
    }
}

/// Why a template cannot be used, with the nearest known name where there is one.
package struct TemplateProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}
