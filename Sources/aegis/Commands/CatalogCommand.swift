import AegisContent
import AegisCore
import Configuration

/// `aegis catalog`: a catalog by itself, without the service that uses it.
enum CatalogCommand: Command {
    static let name = "catalog"
    static let summary = "Validates a catalog, or exports its categories, types and deep links for the app."
    static let usage = "check|export [--format json|swift] FILE"
    static let options = [
        Option(name: "format", value: "json|swift", help: "What export writes to standard output; default: json.")
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        let steps = ["check", "export"]
        guard let step = arguments.positional.first else { return misuse("check or export is needed") }
        guard steps.contains(step) else {
            return misuse("no \"\(step)\"" + (Spelling.question(step, among: steps).map { "; " + $0 } ?? ""))
        }
        guard arguments.positional.count == 2, let file = arguments.positional.last else {
            return misuse("\(step) takes one FILE")
        }
        guard step == "export" || !arguments.has("format") else { return misuse("--format belongs to export") }
        let written = arguments.last("format") ?? CatalogExport.json.rawValue
        guard let format = CatalogExport(rawValue: written) else {
            let nearest = Spelling.question(written, among: CatalogExport.allCases.map(\.rawValue))
            return misuse("--format \(written): json or swift" + (nearest.map { "; " + $0 } ?? ""))
        }
        do throws(ConfigurationProblems) {
            let loaded = try CatalogLoader.load(path: file)
            for warning in loaded.warnings { writeError("\(warning)\n") }
            if step == "check" {
                let catalog = loaded.catalog
                print("ok    catalog  \(file), \(catalog.types.count) types, \(catalog.categories.count) categories")
            } else {
                print(try format.text(of: loaded), terminator: "")
            }
            return ExitCode.success
        } catch {
            writeError("\(error)\n")
            return ExitCode.usage
        }
    }

    private static func misuse(_ message: String) -> Int32 {
        writeError("aegis catalog: \(message)\nUsage: aegis catalog \(usage)\n")
        return ExitCode.usage
    }
}
