import AegisCore

/// Reads a YAML tree by a table of keys: unknown keys, wrong shapes and wrong values all become problems, in one pass.
struct SettingsReader {
    private let file: String
    /// Nil for a file that takes nothing from the environment.
    private(set) var environment: EnvironmentText?
    var problems: [Problem] = []

    init(file: String, environment: EnvironmentText?) {
        self.file = file
        self.environment = environment
    }

    /// The whole document; an empty one has nothing but defaults.
    mutating func read(_ root: YAMLNode?, by keys: [KeyDescription]) -> Section {
        let place = Place(file: file, mark: root?.mark ?? YAMLMark(line: 1, column: 1), path: "")
        return section(root, by: keys, at: place, takesOverrides: true)
    }

    private mutating func section(
        _ node: YAMLNode?, by keys: [KeyDescription], at place: Place, takesOverrides: Bool
    ) -> Section {
        var entries: [String: YAMLEntry] = [:]
        switch node?.content {
        case .mapping(let written):
            for entry in written { entries[entry.key] = entry }
            let known = keys.map(\.name)
            for entry in written where !known.contains(entry.key) {
                problems.report(
                    "unknown key", at: place.key(entry.key, at: entry.mark),
                    remedy: Spelling.question(entry.key, among: known))
            }
        case .scalar("", isPlain: true), .scalar("~", isPlain: true), .scalar("null", isPlain: true), nil:
            break
        case .scalar, .sequence:
            problems.report("keys with values are expected here", at: place)
        }
        var section = Section(settings: [:], place: place, written: [])
        for key in keys {
            let entry = entries[key.name]
            read(key, from: entry, into: &section, takesOverrides: takesOverrides)
        }
        return section
    }

    private mutating func read(
        _ key: KeyDescription, from entry: YAMLEntry?, into section: inout Section, takesOverrides: Bool
    ) {
        let place = section.place.key(key.name, at: entry?.place)
        if takesOverrides, key.kind.isScalar, let override = environment?.override(of: place.path) {
            section.written.insert(key.name)
            let origin = Place(file: "environment", mark: nil, path: override.name, isPrivate: true)
            section.settings[key.name] = scalar(override.text, as: key.kind, at: origin)
            return
        }
        if takesOverrides, case .later = key.kind, let override = environment?.override(of: place.path),
            !override.text.isEmpty
        {
            _ = mismatch(.later, at: Place(file: "environment", mark: nil, path: override.name, isPrivate: true))
        }
        if let entry, let setting = setting(entry.value, as: key.kind, at: place, takesOverrides: takesOverrides) {
            section.written.insert(key.name)
            section.settings[key.name] = setting
            return
        }
        switch key.requirement {
        case .required:
            problems.report("is required", at: section.place.key(key.name, at: entry?.mark))
        case .optional:
            break
        case .byDefault(let text):
            if case .section(let keys) = key.kind {
                let inner = self.section(nil, by: keys, at: place, takesOverrides: takesOverrides)
                section.settings[key.name] = Setting(content: .section(inner), place: place)
            } else if key.kind.isScalar {
                section.settings[key.name] = scalar(text, as: key.kind, at: place)
            }
        }
    }

    /// Nil where the file says nothing: a null, or an empty text from the environment.
    private mutating func setting(
        _ node: YAMLNode, as kind: ValueKind, at place: Place, takesOverrides: Bool = false
    ) -> Setting? {
        switch node.content {
        case .scalar(let written, let isPlain):
            if isPlain, ["", "~", "null"].contains(written) { return nil }
            var place = place
            guard let text = substituted(written, at: &place) else {
                return Setting(content: .unreadable, place: place)
            }
            if text.isEmpty, place.isPrivate { return nil }
            return scalar(text, as: kind, at: place)
        case .sequence(let nodes):
            switch kind {
            case .list(let kind, let least):
                if nodes.count < least { problems.report("wants at least \(least)", at: place) }
                let elements = nodes.enumerated().map { index, node in
                    let place = place.element(index, at: node.mark)
                    if let element = setting(node, as: kind, at: place) { return element }
                    problems.report("is empty", at: place)
                    return Setting(content: .unreadable, place: place)
                }
                return Setting(content: .list(elements), place: place)
            case .later where nodes.isEmpty:
                return nil
            default:
                return mismatch(kind, at: place)
            }
        case .mapping(let entries):
            switch kind {
            case .section(let keys), .textOrSection(_, let keys):
                let section = section(node, by: keys, at: place, takesOverrides: takesOverrides)
                return Setting(content: .section(section), place: place)
            case .table(let kind, _):
                let values = entries.map { entry in
                    let place = place.key(entry.key, at: entry.place)
                    return (entry.key, value(of: entry, as: kind, at: place))
                }
                return Setting(content: .table(values), place: place)
            case .later where entries.isEmpty:
                return nil
            default:
                return mismatch(kind, at: place)
            }
        }
    }

    /// A value in a table, where a null is an empty section or an empty text.
    private mutating func value(of entry: YAMLEntry, as kind: ValueKind, at place: Place) -> Setting {
        if let setting = setting(entry.value, as: kind, at: place) { return setting }
        if case .section(let keys) = kind {
            let section = section(nil, by: keys, at: place, takesOverrides: false)
            return Setting(content: .section(section), place: place)
        }
        return Setting(content: .text(""), place: place)
    }

    private mutating func substituted(_ text: String, at place: inout Place) -> String? {
        do {
            guard let (text, isSubstituted, missing) = try environment?.substitute(text) else { return text }
            place.isPrivate = isSubstituted
            guard missing.isEmpty else {
                for name in missing {
                    problems.report(
                        "the environment variable \(name) is not set", at: place,
                        remedy: "set it, or write ${\(name):-default}")
                }
                return nil
            }
            return text
        } catch {
            problems.report(error.message, at: place)
            return nil
        }
    }

    private mutating func mismatch(_ kind: ValueKind, at place: Place) -> Setting {
        switch kind {
        case .section, .table: problems.report("keys with values are expected here", at: place)
        case .list: problems.report("a list is expected here", at: place)
        case .later: problems.report("is not available in this version", at: place, remedy: "leave it out")
        default: problems.report("a single value is expected here", at: place)
        }
        return Setting(content: .unreadable, place: place)
    }
}

extension YAMLEntry {
    /// Where a problem of the value is shown: at a text itself, and at the key of anything larger, whose first line is
    /// its first element's.
    fileprivate var place: YAMLMark {
        if case .scalar = value.content { value.mark } else { mark }
    }
}

extension SettingsReader {
    /// One text, read as what its key holds.
    private mutating func scalar(_ text: String, as kind: ValueKind, at place: Place) -> Setting {
        let quoted = place.isPrivate ? "the value" : "\"\(text)\""
        let content: Setting.Content
        switch kind {
        case .text, .secret, .file, .textOrSection:
            content = text.isEmpty ? unreadable("must not be empty", at: place) : .text(text)
        case .topic:
            content =
                Self.isTopicName(text)
                ? .text(text)
                : unreadable(
                    "\(quoted) is no name of a topic", at: place,
                    remedy: "1 to 249 letters, digits, \".\", \"_\" or \"-\"")
        case .duration(let range):
            let written = "\(ScalarText.text(range.lowerBound)) to \(ScalarText.text(range.upperBound))"
            if let duration = ScalarText.duration(text) {
                content =
                    range.contains(duration)
                    ? .duration(duration) : unreadable("\(quoted) is out of range", at: place, remedy: written)
            } else {
                content = unreadable(
                    "\(quoted) is no duration", at: place, remedy: "write it as 250ms, 30s, 5m, 24h or 7d")
            }
        case .size(let range):
            let written = "\(ScalarText.text(bytes: range.lowerBound)) to \(ScalarText.text(bytes: range.upperBound))"
            if let size = ScalarText.size(text) {
                content =
                    range.contains(size)
                    ? .number(size) : unreadable("\(quoted) is out of range", at: place, remedy: written)
            } else {
                content = unreadable("\(quoted) is no size", at: place, remedy: "write it as 64KiB or 1MiB")
            }
        case .integer(let range):
            if let number = ScalarText.digits(text), range.contains(number) {
                content = .number(number)
            } else {
                content = unreadable(
                    "\(quoted) is no whole number of \(range.lowerBound) to \(range.upperBound)", at: place)
            }
        case .fraction:
            content =
                ScalarText.thousandths(text).map(Setting.Content.number)
                ?? unreadable("\(quoted) is no number of 0 to 1 with up to three decimals", at: place)
        case .boolean:
            content =
                ScalarText.boolean(text).map(Setting.Content.boolean)
                ?? unreadable("\(quoted) is neither on nor off", at: place)
        case .choice(let words, let later):
            content = choice(text, quoted: quoted, among: words, later: later, at: place)
        case .section, .list, .table, .later:
            return mismatch(kind, at: place)
        }
        return Setting(content: content, place: place)
    }

    private mutating func choice(
        _ text: String, quoted: String, among words: [String], later: [String], at place: Place
    ) -> Setting.Content {
        if words.contains(text) { return .text(text) }
        let list = words.joined(separator: ", ")
        guard !later.contains(text) else {
            return unreadable("\(quoted) is not available in this version", at: place, remedy: "one of \(list)")
        }
        let question = place.isPrivate ? nil : Spelling.question(text, among: words)
        return unreadable("\(quoted) is none of \(list)", at: place, remedy: question)
    }

    private mutating func unreadable(_ message: String, at place: Place, remedy: String? = nil) -> Setting.Content {
        problems.report(message, at: place, remedy: remedy)
        return .unreadable
    }

    /// - Source: Apache Kafka, `Topic.validate`: letters, digits and three signs, and neither `.` nor `..`.
    private static func isTopicName(_ text: String) -> Bool {
        guard (1...249).contains(text.utf8.count), text != ".", text != ".." else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
            default: false
            }
        }
    }
}
