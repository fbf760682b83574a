/// One thing that is wrong with a file, said so that its reader can mend it.
///
/// - Privacy: neither the message nor the remedy quotes a secret or a value that came from the environment.
package struct Problem: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, Hashable, Sendable {
        case error
        /// The file is usable, but hardly what its author meant.
        case warning
    }

    package var severity: Severity
    /// As the file was named on the command line, or `environment`.
    package var file: String
    /// From 1; nil for what is at no line, such as a missing file or an environment variable.
    package var line: Int?
    /// From 1, in characters.
    package var column: Int?
    /// Where in the document, as `kafka.topics[0].lane`; empty for the document as a whole.
    package var path: String
    package var message: String
    /// What to write instead.
    package var remedy: String?

    package init(
        severity: Severity = .error, file: String, line: Int? = nil, column: Int? = nil, path: String = "",
        message: String, remedy: String? = nil
    ) {
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.path = path
        self.message = message
        self.remedy = remedy
    }

    /// One line, such as `aegis.yaml:12: kafka.broker: unknown key; did you mean "brokers"?`.
    package var description: String {
        var text = file
        if let line { text += ":\(line)" }
        text += ": "
        if severity == .warning { text += "warning: " }
        if !path.isEmpty { text += "\(path): " }
        text += message
        if let remedy { text += "; \(remedy)" }
        return text
    }
}

/// Everything that is wrong with a configuration and its catalog, warnings included.
package struct ConfigurationProblems: Error, Hashable, Sendable, CustomStringConvertible {
    /// In the order of files, and of lines within a file; at least one is an error.
    package let problems: [Problem]

    package init(_ problems: [Problem]) {
        self.problems = problems
    }

    /// One line for each problem.
    package var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

extension [Problem] {
    var hasErrors: Bool {
        contains { $0.severity == .error }
    }

    /// By line, what has none first; problems of one place stay in the order they were found.
    package func sortedByLine() -> [Problem] {
        enumerated().sorted { left, right in
            let places = (
                (left.element.line ?? 0, left.element.column ?? 0, left.offset),
                (right.element.line ?? 0, right.element.column ?? 0, right.offset)
            )
            return places.0 < places.1
        }.map(\.element)
    }

    mutating func report(
        _ message: String, at place: Place, remedy: String? = nil, severity: Problem.Severity = .error
    ) {
        append(
            Problem(
                severity: severity, file: place.file, line: place.mark?.line, column: place.mark?.column,
                path: place.path, message: message, remedy: remedy))
    }

    mutating func warn(_ message: String, at place: Place, remedy: String? = nil) {
        report(message, at: place, remedy: remedy, severity: .warning)
    }
}

/// Where a value was written.
struct Place: Hashable, Sendable {
    var file: String
    var mark: YAMLMark?
    var path: String
    /// Whether the value came from the environment, so that no message may quote it.
    var isPrivate = false

    /// The place of a key inside a section.
    func key(_ name: String, at mark: YAMLMark?) -> Place {
        Place(file: file, mark: mark ?? self.mark, path: path.isEmpty ? name : "\(path).\(name)")
    }

    /// The place of an element of a list.
    func element(_ index: Int, at mark: YAMLMark) -> Place {
        Place(file: file, mark: mark, path: "\(path)[\(index)]")
    }
}
