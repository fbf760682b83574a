/// Writes the reference of both files from the tables that the loader reads them by.
package enum ConfigurationReference {
    /// The text of `docs/configuration.md`.
    package static func markdown() -> String {
        var text = introduction
        text += "\n## `aegis.yaml`\n"
        append(ConfigurationKeys.root, path: "", takesOverrides: true, to: &text)
        text += "\n## `catalog.yaml`\n\n"
        text += "Nothing of the environment is used here. `template` means text with places such as `{{order_id}}`.\n"
        append(CatalogKeys.root, path: "", takesOverrides: false, to: &text)
        return text
    }

    private static let introduction = """
        # Configuration

        <!-- Generated from the tables that the loader reads by: change those, never this file. -->

        Aegis reads one YAML file, `aegis.yaml`, and the catalog it names. `aegis check --config aegis.yaml` lists every
        problem of both at once, with its line.

        - **Durations** are whole numbers with a unit: `250ms`, `30s`, `5m`, `24h`, `7d`. **Sizes**: `512B`, `64KiB`,
          `1MiB`, `2GiB`. **Switches**: `on` and `off`, `true` and `false`, `yes` and `no`.
        - **Paths** start at the folder of the file that names them.
        - **Environment.** `${NAME}` in a value of `aegis.yaml` is replaced by the variable, which must be set;
          `${NAME:-default}` takes the default where it is unset or empty; `$${` stands for `${`. What a variable holds is a
          value and never becomes YAML. A variable of the column *environment* overrides its key, whatever the file says.
        - **Unknown keys** are errors. A key marked *not in this version* is understood, and refused unless it is empty.
        - A key left out or empty takes its default.

        """

    private static func append(
        _ keys: [KeyDescription], path: String, takesOverrides: Bool, to text: inout String
    ) {
        if !path.isEmpty { text += "\n### `\(path)`\n" }
        text += "\n| key | value | without it |\(takesOverrides ? " environment |" : "") meaning |\n"
        text += "|---|---|---|\(takesOverrides ? "---|" : "")---|\n"
        for key in keys {
            var cells = ["`\(key.name)`", value(key.kind), absence(of: key)]
            if takesOverrides {
                let name = EnvironmentText.name(overriding: path.isEmpty ? key.name : "\(path).\(key.name)")
                cells.append(key.kind.isScalar ? "`\(name)`" : "")
            }
            cells.append(key.meaning)
            text += "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
        }
        for key in keys {
            let inner = path.isEmpty ? key.name : "\(path).\(key.name)"
            switch key.kind {
            case .section(let keys):
                append(keys, path: inner, takesOverrides: takesOverrides, to: &text)
            case .list(.section(let keys), _):
                append(keys, path: inner + "[]", takesOverrides: false, to: &text)
            case .table(.section(let keys), let name):
                append(
                    keys, path: "\(inner).\(name.uppercased() == name ? name : "<\(name)>")", takesOverrides: false,
                    to: &text)
            case .textOrSection(_, let keys):
                append(keys, path: inner, takesOverrides: false, to: &text)
            case .text, .secret, .file, .topic, .duration, .size, .integer, .fraction, .boolean, .choice, .list,
                .table, .later:
                break
            }
        }
    }

    private static func value(_ kind: ValueKind) -> String {
        switch kind {
        case .text(let shape): shape
        case .secret: "text, kept secret"
        case .file: "path"
        case .topic: "name of a topic"
        case .duration(let range):
            "duration, \(ScalarText.text(range.lowerBound)) to \(ScalarText.text(range.upperBound))"
        case .size(let range):
            "size, \(ScalarText.text(bytes: range.lowerBound)) to \(ScalarText.text(bytes: range.upperBound))"
        case .integer(let range) where range.lowerBound == range.upperBound: "\(range.lowerBound)"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .fraction: "0 to 1"
        case .boolean: "switch"
        case .choice(let words, let later):
            words.map { "`\($0)`" }.joined(separator: ", ")
                + (later.isEmpty ? "" : "; not in this version: " + later.map { "`\($0)`" }.joined(separator: ", "))
        case .section: "section"
        case .list(let kind, let least): "list of \(plural(kind))" + (least > 0 ? ", at least \(least)" : "")
        case .table(let kind, let keys): "\(plural(kind)) by \(keys.lowercased())"
        case .textOrSection(let shape, _): "\(shape), or a section"
        case .later: "*not in this version*"
        }
    }

    private static func plural(_ kind: ValueKind) -> String {
        if case .section = kind { "sections" } else { value(kind) }
    }

    private static func absence(of key: KeyDescription) -> String {
        switch key.requirement {
        case .required: "**required**"
        case .optional(let text): text
        case .byDefault(let text): text.isEmpty ? "its defaults" : "`\(text)`"
        }
    }
}
