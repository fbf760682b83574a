import AegisCore

/// What the environment contributes: values for `${NAME}` and overrides of single keys.
struct EnvironmentText: Sendable {
    private static let prefix = "AEGIS_"
    /// Variables of the project's own tools, which configure no service.
    private static let foreign = ["AEGIS_NOIDA_DB", "AEGIS_REQUIRE_ALL"]
    private static let foreignPrefix = "AEGIS_TEST_"

    let variables: [String: String]
    /// Overrides that named a key, and names that the file asked for.
    private(set) var used: Set<String> = []

    init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// The variable that overrides the key at this path.
    static func name(overriding path: String) -> String {
        prefix + path.uppercased().replacing(".", with: "_")
    }

    mutating func override(of path: String) -> (name: String, text: String)? {
        let name = Self.name(overriding: path)
        guard let text = variables[name] else { return nil }
        used.insert(name)
        return (name, text)
    }

    /// A text with every `${NAME}` and `${NAME:-default}` replaced; `$${` stands for `${` itself.
    ///
    /// What a variable holds is not looked at again, and an empty one counts as missing where there is a default.
    /// `missing` are the names that have neither value nor default.
    mutating func substitute(
        _ text: String
    ) throws(SubstitutionError) -> (text: String, isSubstituted: Bool, missing: [String]) {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return (text, false, []) }
        var result = ""
        var missing: [String] = []
        var isSubstituted = false
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                result += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else {
                    throw SubstitutionError(message: "\"${\" is not closed")
                }
                let (name, fallback) = try Self.parts(of: rest[..<end].dropFirst(2))
                used.insert(name)
                isSubstituted = true
                if let value = variables[name], !(value.isEmpty && fallback != nil) {
                    result += value
                } else if let fallback {
                    result += fallback
                } else {
                    missing.append(name)
                }
                rest = rest[end...].dropFirst()
            } else {
                result += "$"
                rest = rest.dropFirst()
            }
        }
        return (result + rest, isSubstituted, missing)
    }

    private static func parts(of place: Substring) throws(SubstitutionError) -> (name: String, fallback: Substring?) {
        let name = place.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        let rest = place.dropFirst(name.count)
        guard let first = name.first, !first.isNumber else {
            throw SubstitutionError(message: "\"${\" wants the name of an environment variable")
        }
        if rest.isEmpty { return (String(name), nil) }
        guard rest.hasPrefix(":-") else {
            throw SubstitutionError(message: "the name in \"${\(name)…}\" is followed by neither \"}\" nor \":-\"")
        }
        return (String(name), rest.dropFirst(2))
    }

    /// A warning for each variable that looks like an override and names no key.
    func warnings(scalarPaths: [String], otherPaths: [String]) -> [Problem] {
        let names = scalarPaths.map(Self.name(overriding:))
        let others = Set(otherPaths.map(Self.name(overriding:)))
        let stray = variables.keys.filter { name in
            name.hasPrefix(Self.prefix) && !used.contains(name) && !Self.foreign.contains(name)
                && !name.hasPrefix(Self.foreignPrefix) && !names.contains(name)
        }
        return stray.sorted().map { name in
            let message =
                others.contains(name) ? "only single values can be set by the environment" : "names no key"
            return Problem(
                severity: .warning, file: "environment", path: name, message: message,
                remedy: others.contains(name) ? nil : Spelling.question(name, among: names))
        }
    }
}

/// A `${` that cannot be read.
struct SubstitutionError: Error {
    let message: String
}
