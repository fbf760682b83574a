import AegisCore
import Glibc

/// One verb of the executable.
protocol Command {
    static var name: String { get }
    /// One line for the list of verbs.
    static var summary: String { get }
    /// What stands after the verb: `--config F FILE`.
    static var usage: String { get }
    static var options: [Option] { get }
    /// - Returns: the exit code.
    static func run(_ arguments: Arguments) async -> Int32
}

/// A flag of a verb.
struct Option {
    let name: String
    /// What its value is called; nil for a switch.
    var value: String?
    var help: String
}

/// Exit codes, as the verbs share them.
enum ExitCode {
    static let success: Int32 = 0
    static let failure: Int32 = 1
    static let usage: Int32 = 2
    static let unknown: Int32 = 3
}

/// Finds the verb, reads its flags and runs it.
enum CommandLineTool {
    static let version = "0.1.0"

    static var commands: [any Command.Type] {
        [
            ServeCommand.self, DemoCommand.self, CheckCommand.self, MigrateCommand.self, PublishCommand.self,
            PreviewCommand.self, ExplainCommand.self, CatalogCommand.self, SimulatorCommand.self, BenchCommand.self,
        ]
    }

    static func run(_ words: [String]) async -> Int32 {
        guard let verb = words.first else {
            writeError(overview)
            return ExitCode.usage
        }
        switch verb {
        case "--help", "-h", "help":
            print(overview)
            return ExitCode.success
        case "--version":
            print("aegis \(version)")
            return ExitCode.success
        default:
            break
        }
        guard let command = commands.first(where: { $0.name == verb }) else {
            let nearest = Spelling.nearest(to: verb, among: commands.map { $0.name })
            writeError("aegis: no verb \"\(verb)\"" + (nearest.map { "; did you mean \"\($0)\"?" } ?? "") + "\n")
            writeError("Run \"aegis --help\" for the list.\n")
            return ExitCode.usage
        }
        let rest = Array(words.dropFirst())
        if rest.contains("--help") || rest.contains("-h") {
            print(help(of: command))
            return ExitCode.success
        }
        do throws(UsageError) {
            return await command.run(try Arguments(rest, options: command.options))
        } catch {
            writeError("aegis \(verb): \(error.message)\n")
            return ExitCode.usage
        }
    }

    private static var overview: String {
        let width = commands.map { $0.name.count }.max() ?? 0
        let verbs = commands.map { "  \($0.name.padded(to: width))  \($0.summary)" }
        return """
            aegis: domain events from Kafka become push notifications on iPhones.

            Usage: aegis VERB [flags]

            \(verbs.joined(separator: "\n"))

            "aegis VERB --help" tells a verb's flags.

            """
    }

    private static func help(of command: any Command.Type) -> String {
        let flags = command.options.map { option in
            ("--" + option.name + (option.value.map { " " + $0 } ?? ""), option.help)
        }
        let width = flags.map(\.0.count).max() ?? 0
        let lines = flags.map { "  \($0.0.padded(to: width))  \($0.1)" }
        return """
            \(command.summary)

            Usage: aegis \(command.name) \(command.usage)

            \(lines.joined(separator: "\n"))
            """
    }
}

/// Wrong words on the command line.
struct UsageError: Error {
    let message: String
}

/// The words after a verb: flags with their values, and what is no flag.
struct Arguments {
    private var values: [String: [String]] = [:]
    private(set) var positional: [String] = []

    init(_ words: [String], options: [Option]) throws(UsageError) {
        var index = words.startIndex
        while index < words.endIndex {
            let word = words[index]
            index += 1
            guard word.hasPrefix("--"), word != "--" else {
                positional.append(word)
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            guard let option = options.first(where: { $0.name == name }) else {
                let nearest = Spelling.nearest(to: name, among: options.map(\.name))
                throw UsageError(
                    message: "unknown flag --\(name)" + (nearest.map { "; did you mean --\($0)?" } ?? ""))
            }
            if option.value == nil {
                guard parts.count == 1 else { throw UsageError(message: "--\(name) takes no value") }
                values[name, default: []].append("")
            } else if parts.count == 2 {
                values[name, default: []].append(String(parts[1]))
            } else if index < words.endIndex {
                values[name, default: []].append(words[index])
                index += 1
            } else {
                throw UsageError(message: "--\(name) needs a value")
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }
    func last(_ name: String) -> String? { values[name]?.last }
    func all(_ name: String) -> [String] { values[name] ?? [] }
}

func writeError(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let written = unsafe rest.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
