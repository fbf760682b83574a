/// Everything that is wrong with a preferences document, every fault at once.
package struct PreferencesProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// One fault of one field.
    package struct Field: Hashable, Sendable, CustomStringConvertible {
        /// Names joined by points, indices in brackets: `quiet_hours.windows[0].start`; empty for the whole document.
        package let path: String
        /// What is wrong, without quoting a value.
        package let message: String

        package init(path: String, message: String) {
            self.path = path
            self.message = message
        }

        package var description: String { path.isEmpty ? message : "\(path): \(message)" }
    }

    /// At least one, in the order of the document.
    package let fields: [Field]

    package init(fields: [Field]) {
        self.fields = fields
    }

    package var description: String { fields.map(\.description).joined(separator: "; ") }
}
