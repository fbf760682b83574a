import AegisContent

/// Writes what the app has to know of a catalog.
package enum CatalogExport: String, CaseIterable, Sendable {
    case json, swift

    /// The text of one file.
    ///
    /// - Throws: what keeps a catalog that the service can use from becoming code, all at once: two names that Swift would
    ///   write alike, or a key of the app's string table with two numbers of arguments.
    package func text(of loaded: LoadedCatalog) throws(ConfigurationProblems) -> String {
        let document = CatalogDocument(loaded.catalog)
        var problems = Self.stringKeyProblems(document, loaded.sources)
        switch self {
        case .json:
            guard problems.isEmpty else { throw ConfigurationProblems(problems) }
            do {
                return try document.json()
            } catch {
                throw ConfigurationProblems([error])
            }
        case .swift:
            problems += CatalogSwiftFile.collisions(in: document, loaded.sources)
            guard problems.isEmpty else { throw ConfigurationProblems(problems.sortedByLine()) }
            return CatalogSwiftFile(document, deepLinks: loaded.catalog.types.compactMapValues(\.deepLink)).text
        }
    }

    private static func stringKeyProblems(_ document: CatalogDocument, _ sources: SourceMap) -> [Problem] {
        var problems: [Problem] = []
        var seen: [String: (arguments: Int, type: String)] = [:]
        for type in document.types {
            for key in type.stringKeys {
                guard let first = seen[key.key] else {
                    seen[key.key] = (key.arguments, type.name)
                    continue
                }
                guard first.arguments != key.arguments else { continue }
                problems.append(
                    sources.problem(
                        "the string-table key \"\(key.key)\" has \(key.arguments) arguments here and "
                            + "\(first.arguments) in \(first.type)",
                        at: "types.\(type.name)", remedy: "one key has one text, with one number of arguments"))
            }
        }
        return problems
    }
}
