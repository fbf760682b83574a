package import AegisContent
package import AegisCore

/// A catalog that is read for itself.
package struct LoadedCatalog: Sendable {
    package var catalog: Catalog
    /// By line.
    package var warnings: [Problem]
    /// For problems that show later.
    package var sources: SourceMap
}

/// Reads `catalog.yaml`.
package enum CatalogLoader {
    /// Reads and checks the file at `path` for the configured `apps` and the store's `retention`.
    ///
    /// Whatever an old catalog serves goes on being served by the caller when the new one is refused.
    ///
    /// - Throws: every problem at once, warnings among them.
    package static func load(
        path: String, apps: [AppRules], retention: Duration
    ) throws(ConfigurationProblems) -> (catalog: Catalog, warnings: [Problem]) {
        let read = read(path: path, apps: apps, retention: retention)
        guard !read.problems.hasErrors else { throw ConfigurationProblems(read.problems) }
        return (read.catalog, read.problems)
    }

    /// Reads and checks the file at `path` alone, for no apps or store in particular.
    ///
    /// - Throws: every problem at once, warnings among them.
    package static func load(path: String) throws(ConfigurationProblems) -> LoadedCatalog {
        let read = read(path: path, apps: nil, retention: nil)
        guard !read.problems.hasErrors else { throw ConfigurationProblems(read.problems) }
        return LoadedCatalog(catalog: read.catalog, warnings: read.problems, sources: read.sources)
    }

    /// The catalog as far as it can be read; it is whole when no problem is an error.
    ///
    /// Unknown apps or retention leave out the checks that need them.
    static func read(
        path: String, apps: [AppRules]?, retention: Duration?
    ) -> (catalog: Catalog, problems: [Problem], sources: SourceMap) {
        let document: YAMLDocument
        do {
            document = YAMLDocument(parsing: try TextFile.read(path), file: path)
        } catch {
            return (Catalog.empty, [error], SourceMap(file: path))
        }
        guard document.root != nil || document.problems.isEmpty else {
            return (Catalog.empty, document.problems, SourceMap(file: path))
        }
        var reader = SettingsReader(file: path, environment: nil)
        let root = reader.read(document.root, by: CatalogKeys.root)
        var assembly = CatalogAssembly(apps: apps, retention: retention, problems: document.problems + reader.problems)
        let catalog = assembly.catalog(root)
        return (catalog, assembly.problems.sortedByLine(), SourceMap(file: path, root: root))
    }
}

/// Makes a catalog from its settings, and checks what no single key shows.
private struct CatalogAssembly {
    private let apps: [AppRules]?
    private let retention: Duration?
    private(set) var problems: [Problem]

    init(apps: [AppRules]?, retention: Duration?, problems: [Problem]) {
        self.apps = apps
        self.retention = retention
        self.problems = problems
    }

    mutating func catalog(_ root: Section) -> Catalog {
        let locale = LocaleTag(root.text("default_locale"))
        if locale == nil, root.textIfSet("default_locale") != nil {
            problems.report("is no language", at: root.place(of: "default_locale"), remedy: "write it as en or pt-BR")
        }
        let categories = categories(root)
        if root.has("types"), root.table("types").isEmpty, root.setting("types")?.isReadable ?? false {
            problems.report("wants at least one type", at: root.place(of: "types"))
        }
        let names = root.table("types").map(\.key)
        var owners = Dictionary(names.map { ($0, $0) }, uniquingKeysWith: { first, _ in first })
        var types: [String: CatalogType] = [:]
        for (name, setting) in root.table("types") {
            guard let section = setting.section else { continue }
            let matches = matches(of: name, in: section, owners: &owners)
            var assembly = CatalogTypeAssembly(
                name: name, section: section, categories: categories.keys.sorted(), defaultLocale: locale, apps: apps,
                retention: retention, problems: problems)
            types[name] = assembly.type(matches: matches)
            problems = assembly.problems
        }
        return Catalog(defaultLocale: locale ?? Catalog.english, categories: categories, types: types)
    }

    private mutating func matches(of type: String, in section: Section, owners: inout [String: String]) -> [String] {
        var matches: [String] = []
        for setting in section.list("match") {
            guard let match = setting.text, match != type else { continue }
            if let owner = owners[match] {
                problems.report(
                    owner == type ? "\"\(match)\" is listed twice" : "\"\(match)\" means the type \(owner) already",
                    at: setting.place)
            }
            owners[match] = type
            matches.append(match)
        }
        return matches
    }

    private mutating func categories(_ root: Section) -> [String: NotificationCategory] {
        var categories: [String: NotificationCategory] = [:]
        var owners: [String: String] = [:]
        for (id, setting) in root.table("categories") {
            guard let section = setting.section else { continue }
            if id == "none" {
                problems.report("is the word for no category", at: setting.place, remedy: "give it another name")
            }
            var actions: [NotificationCategory.Action] = []
            for action in section.list("actions").compactMap(\.section) {
                let actionID = action.text("id")
                if let owner = owners[actionID], !actionID.isEmpty {
                    problems.report(
                        "\"\(actionID)\" is an action of \(owner) already", at: action.place(of: "id"),
                        remedy: "an app tells actions apart by their id alone")
                }
                owners[actionID] = id
                actions.append(
                    .init(
                        id: actionID, title: action.text("title"),
                        options: action.list("options").compactMap(\.text)))
            }
            categories[id] = NotificationCategory(
                id: id, actions: actions, options: section.list("options").compactMap(\.text),
                hiddenPreview: section.textIfSet("hidden_preview"))
        }
        return categories
    }
}

extension Setting {
    /// Whether what stands there has the right shape.
    var isReadable: Bool {
        if case .unreadable = content { false } else { true }
    }
}

extension Catalog {
    fileprivate static let empty = Catalog(defaultLocale: english, categories: [:], types: [:])

    /// The language of a catalog that names none.
    fileprivate static var english: LocaleTag {
        guard let tag = LocaleTag("en") else { preconditionFailure("\"en\" is a language") }
        return tag
    }
}
