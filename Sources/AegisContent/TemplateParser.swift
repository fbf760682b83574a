import AegisCore

/// Reads the source of a template once, from left to right.
struct TemplateParser {
    // Scalars, since a mark after a brace would make one character of the two.
    private let characters: [Unicode.Scalar]
    private var position = 0

    init(_ source: String) {
        characters = Array(source.unicodeScalars)
    }

    mutating func pieces() throws(TemplateProblem) -> [TemplatePiece] {
        var pieces: [TemplatePiece] = []
        var literal = ""
        while position < characters.count {
            guard isAhead("{", "{") else {
                literal.unicodeScalars.append(characters[position])
                position += 1
                continue
            }
            Self.append(literal, to: &pieces)
            literal = ""
            position += 2
            pieces.append(.place(try place()))
        }
        Self.append(literal, to: &pieces)
        return pieces
    }

    private static func append(_ literal: String, to pieces: inout [TemplatePiece]) {
        guard !literal.isEmpty else { return }
        pieces.append(.literal(LiteralText(literal)))
    }

    private func isAhead(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        position + 1 < characters.count && characters[position] == first && characters[position + 1] == second
    }

    private mutating func place() throws(TemplateProblem) -> TemplatePlace {
        let name = word()
        guard let path = ValuePath(name) else {
            throw TemplateProblem(description: name.isEmpty ? "a place without a path" : "'\(name)' is no path")
        }
        var steps: [TemplateStep] = []
        while true {
            skipBlanks()
            if isAhead("}", "}") {
                position += 2
                return TemplatePlace(path: path, steps: steps)
            }
            guard take("|") else {
                throw TemplateProblem(description: "the place of '\(name)' is not closed by }}")
            }
            steps.append(try step())
        }
    }

    private mutating func step() throws(TemplateProblem) -> TemplateStep {
        let name = word()
        let arguments = try arguments(of: name)
        switch name {
        case "number":
            guard arguments.isEmpty else { throw TemplateProblem(description: "number takes no argument") }
            return .filter(.number)
        case "money":
            guard let only = Self.only(arguments) else {
                throw TemplateProblem(description: "money takes a currency such as EUR, or the path of one")
            }
            if Self.isUpperCase(only.text), let code = CurrencyCode(only.text.utf8) {
                return .filter(.money(.code(code)))
            }
            guard !only.isQuoted, let path = ValuePath(only.text) else {
                throw TemplateProblem(description: "'\(only.text)' is neither a currency code nor a path")
            }
            return .filter(.money(.path(path)))
        case "date":
            guard let only = Self.only(arguments) else {
                throw TemplateProblem(description: "date takes a style: \(Self.styles)")
            }
            guard let style = TemplateFilter.DateStyle(rawValue: only.text) else {
                throw TemplateProblem(description: "date has no style '\(only.text)'; it has \(Self.styles)")
            }
            return .filter(.date(style))
        case "plural":
            return .filter(.plural(PluralTexts(try Self.plural(arguments))))
        case "truncate":
            guard let only = Self.only(arguments), let length = Int(only.text), (1...4_096).contains(length) else {
                throw TemplateProblem(description: "truncate takes a number of characters, 1 to 4096")
            }
            return .filter(.truncate(length))
        case "default":
            guard let only = Self.only(arguments), only.isQuoted else {
                throw TemplateProblem(description: "default takes a quoted text")
            }
            return .default(only.text)
        default:
            let nearest = Spelling.nearest(to: name, among: TemplateStep.names).map { ", perhaps \($0)" } ?? ""
            throw TemplateProblem(description: "there is no filter '\(name)'\(nearest)")
        }
    }

    private static let styles = TemplateFilter.DateStyle.allCases.map(\.rawValue).joined(separator: ", ")

    private static func isUpperCase(_ text: String) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }

    private static func plural(_ arguments: [Argument]) throws(TemplateProblem) -> [PluralCategory: String] {
        var texts: [PluralCategory: String] = [:]
        let known = PluralCategory.allCases.map(\.rawValue)
        for argument in arguments {
            guard let label = argument.label, argument.isQuoted else {
                throw TemplateProblem(description: "plural takes labelled quoted texts: one: \"…\", other: \"…\"")
            }
            guard let category = PluralCategory(rawValue: label) else {
                let nearest = Spelling.nearest(to: label, among: known).map { ", perhaps \($0)" } ?? ""
                throw TemplateProblem(description: "plural has no category '\(label)'\(nearest)")
            }
            guard texts.updateValue(argument.text, forKey: category) == nil else {
                throw TemplateProblem(description: "plural has two texts for '\(label)'")
            }
        }
        guard texts[.other] != nil else { throw TemplateProblem(description: "plural needs a text for 'other'") }
        return texts
    }
}

// MARK: Words and arguments

extension TemplateParser {
    private struct Argument {
        var label: String?
        var text: String
        var isQuoted: Bool
    }

    private static func only(_ arguments: [Argument]) -> Argument? {
        guard arguments.count == 1, let first = arguments.first, first.label == nil else { return nil }
        return first
    }

    private mutating func skipBlanks() {
        while position < characters.count, characters[position].properties.isWhitespace { position += 1 }
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < characters.count, characters[position] == mark else { return false }
        position += 1
        return true
    }

    private mutating func word() -> String {
        skipBlanks()
        let start = position
        while position < characters.count, !characters[position].properties.isWhitespace,
            !"|(){}\",:".unicodeScalars.contains(characters[position])
        {
            position += 1
        }
        return String(String.UnicodeScalarView(characters[start..<position]))
    }

    private mutating func arguments(of filter: String) throws(TemplateProblem) -> [Argument] {
        guard take("(") else { return [] }
        var arguments: [Argument] = []
        while true {
            if take(")") { return arguments }
            if !arguments.isEmpty, !take(",") {
                throw TemplateProblem(description: "the arguments of '\(filter)' are not closed by )")
            }
            var argument = try value(of: filter)
            if !argument.isQuoted, take(":") {
                let label = argument.text
                argument = try value(of: filter)
                argument.label = label
            }
            arguments.append(argument)
        }
    }

    private mutating func value(of filter: String) throws(TemplateProblem) -> Argument {
        guard take("\"") else {
            let text = word()
            guard !text.isEmpty else {
                throw TemplateProblem(description: "the arguments of '\(filter)' are not closed by )")
            }
            return Argument(text: text, isQuoted: false)
        }
        var text = ""
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == "\"" { return Argument(text: text, isQuoted: true) }
            if character == "\\", position < characters.count {
                text.unicodeScalars.append(characters[position])
                position += 1
            } else {
                text.unicodeScalars.append(character)
            }
        }
        throw TemplateProblem(description: "a quoted text in '\(filter)' is not closed")
    }
}
