/// Where each setting of a file was written: for what only shows when the setting is used.
package struct SourceMap: Sendable {
    private let file: String
    private var places: [String: Place] = [:]

    /// - Parameter root: Nil for a file that cannot be read.
    init(file: String, root: Section? = nil) {
        self.file = file
        if let root { add(root, at: "") }
    }

    /// A problem of the setting at `path`, such as `apps[0].auth.token.key_file`, with its file and line.
    ///
    /// A setting that came from the environment is named by its variable; one that is nowhere, by its path alone.
    package func problem(_ message: String, at path: String, remedy: String? = nil) -> Problem {
        guard let place = places[path] else {
            return Problem(file: file, path: path, message: message, remedy: remedy)
        }
        return Problem(
            file: place.file, line: place.mark?.line, column: place.mark?.column, path: place.path, message: message,
            remedy: remedy)
    }

    private mutating func add(_ section: Section, at path: String) {
        for (key, setting) in section.settings { add(setting, at: path.isEmpty ? key : "\(path).\(key)") }
    }

    private mutating func add(_ setting: Setting, at path: String) {
        places[path] = setting.place
        switch setting.content {
        case .section(let section): add(section, at: path)
        case .list(let elements):
            for (index, element) in elements.enumerated() { add(element, at: "\(path)[\(index)]") }
        case .table(let entries):
            for (key, value) in entries { add(value, at: "\(path).\(key)") }
        case .text, .duration, .number, .boolean, .unreadable: break
        }
    }
}
