import AegisCore
import AegisEvents

/// Reads the members of a JSON object and collects everything that is wrong with them.
///
/// Null means absent. A member that was never asked for is a fault: a misspelt one must not be lost in silence.
struct RequestBody {
    private let document: EventData
    private var faults: [Problem.Field] = []
    private var known: [String] = []

    /// - Throws: 400 for what is no JSON object.
    init(_ bytes: [UInt8]) throws(Problem) {
        do throws(JSONFault) {
            document = try JSONScanner.scan(bytes, limits: JSONLimits(bytes: bytes.count, depth: 16, numberBytes: 64))
        } catch {
            throw .badRequest("The body is not JSON: \(error.description)")
        }
        guard document.nodes.first?.kind == .object else { throw .badRequest("The body must be a JSON object.") }
    }

    mutating func report(_ fault: Problem.Field) {
        faults.append(fault)
    }

    mutating func report(_ name: String, _ message: String) {
        report(Problem.Field(path: name, message: message))
    }

    /// - Throws: 422 with every fault reported so far, and every member that nobody asked for.
    mutating func finish() throws(Problem) {
        for index in document.children(at: 0) {
            let name = document.key(of: document.nodes[index])
            if !known.contains(name) { report("", "has an unknown member; known are \(known.joined(separator: ", "))") }
        }
        guard faults.isEmpty else { throw .invalid(faults) }
    }

    /// - Parameter length: in bytes of UTF-8.
    mutating func text(_ name: String, length: ClosedRange<Int>) -> String? {
        guard let node = member(name) else { return nil }
        guard let text = document.text(of: node) else {
            report(name, "must be a string")
            return nil
        }
        guard length.contains(text.utf8.count) else {
            report(name, "must have \(length.lowerBound) to \(length.upperBound) bytes")
            return nil
        }
        return text
    }

    mutating func requiredText(_ name: String, length: ClosedRange<Int>) -> String? {
        guard member(name) != nil else {
            report(name, "is missing")
            return nil
        }
        return text(name, length: length)
    }

    /// A word of a closed list.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, of _: Choice.Type
    ) -> Choice? {
        guard let text = text(name, length: 1...64) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            report(name, "must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
            return nil
        }
        return choice
    }

    mutating func requiredInteger(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let node = member(name) else {
            report(name, "is missing")
            return nil
        }
        guard let number = document.integerText(of: node).flatMap({ Int($0) }), range.contains(number) else {
            report(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    private mutating func member(_ name: String) -> EventData.Node? {
        if !known.contains(name) { known.append(name) }
        for index in document.children(at: 0) where document.key(of: document.nodes[index]) == name {
            let node = document.nodes[index]
            return node.kind == .null ? nil : node
        }
        return nil
    }
}
