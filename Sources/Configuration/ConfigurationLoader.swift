package import AegisContent
import AegisCore

/// A configuration with its catalog, ready for a service.
package struct LoadedConfiguration: Sendable {
    package var configuration: AegisConfiguration
    package var catalog: Catalog
    /// What an operator should see, in the order of files and lines.
    package var warnings: [Problem]
    /// For problems that show later.
    package var sources: SourceMap
}

/// Reads `aegis.yaml` and the catalog it names.
package enum ConfigurationLoader {
    /// Reads, checks and completes the file at `path`.
    ///
    /// `environment` is the process's: it fills `${NAME}` and overrides single keys by `AEGIS_<SECTION>_<KEY>`.
    ///
    /// - Throws: every problem of both files at once. The catalog is looked at even where the configuration is wrong,
    ///   as far as its place is known.
    package static func load(
        path: String, environment: [String: String]
    ) throws(ConfigurationProblems) -> LoadedConfiguration {
        let document: YAMLDocument
        do {
            document = YAMLDocument(parsing: try TextFile.read(path), file: path, hasVariables: true)
        } catch {
            throw ConfigurationProblems([error])
        }
        guard document.root != nil || document.problems.isEmpty else {
            throw ConfigurationProblems(document.problems)
        }
        var reader = SettingsReader(file: path, environment: EnvironmentText(environment))
        let root = reader.read(document.root, by: ConfigurationKeys.root)
        var assembly = ConfigurationAssembly(file: path, problems: document.problems + reader.problems)
        let configuration = assembly.configuration(root)
        var problems = assembly.problems.sortedByLine()
        let (scalars, others) = paths(of: ConfigurationKeys.root, below: "")
        problems += reader.environment?.warnings(scalarPaths: scalars, otherPaths: others) ?? []

        // With a wrong list of apps nobody can say which entitlements the catalog may count on.
        let apps = configuration.map { Array($0.appRules.values) }
        let catalog = CatalogLoader.read(
            path: TextFile.path(root.text("catalog"), besideFile: path), apps: apps,
            retention: configuration?.store.retention)
        problems += catalog.problems
        guard !problems.hasErrors, let configuration else { throw ConfigurationProblems(problems) }
        return LoadedConfiguration(
            configuration: configuration, catalog: catalog.catalog, warnings: problems,
            sources: SourceMap(file: path, root: root))
    }

    /// The paths of all keys that a file can have once: those of single values, and the others.
    private static func paths(of keys: [KeyDescription], below path: String) -> (scalars: [String], others: [String]) {
        var result: (scalars: [String], others: [String]) = ([], [])
        for key in keys {
            let path = path.isEmpty ? key.name : "\(path).\(key.name)"
            if key.kind.isScalar {
                result.scalars.append(path)
            } else {
                result.others.append(path)
            }
            if case .section(let inner) = key.kind {
                let inner = paths(of: inner, below: path)
                result.scalars += inner.scalars
                result.others += inner.others
            }
        }
        return result
    }
}
