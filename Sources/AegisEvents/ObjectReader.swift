import AegisCore

/// The members of one object by name; null counts as absent.
///
/// What is wrong is told by the member's name, which is ours, and never by its value, which is not.
struct ObjectReader {
    let document: EventData
    private var members: [String: Int] = [:]

    init(_ document: EventData, at index: Int) {
        self.document = document
        for child in document.children(at: index) where document.nodes[child].kind != .null {
            members[document.key(of: document.nodes[child])] = child
        }
    }

    func has(_ name: String) -> Bool { members[name] != nil }

    func index(of name: String) -> Int? { members[name] }

    func kind(of name: String) -> EventData.Kind? { members[name].map { document.nodes[$0].kind } }

    /// - Throws: A rejection for what is no text, is empty or has more than `limit` bytes.
    func text(_ name: String, limit: Int) throws(Rejection) -> String? {
        guard let index = members[name] else { return nil }
        guard let text = document.text(of: document.nodes[index]) else {
            throw .malformed("\(name) is \(document.nodes[index].kind.words), not a text")
        }
        return try Self.bounded(text, name, limit: limit)
    }

    /// A text, or a whole number with every digit.
    func identifier(_ name: String, limit: Int) throws(Rejection) -> String? {
        guard let index = members[name] else { return nil }
        let node = document.nodes[index]
        guard let text = document.text(of: node) ?? document.integerText(of: node) else {
            throw .malformed("\(name) is neither a text nor a whole number")
        }
        return try Self.bounded(text, name, limit: limit)
    }

    static func bounded(_ text: String, _ name: String, limit: Int) throws(Rejection) -> String {
        guard !text.isEmpty else { throw .malformed("\(name) is empty") }
        guard text.utf8.count <= limit else { throw .malformed("\(name) has more than \(limit) bytes") }
        return text
    }

    /// A moment that decides when something is sent: one that cannot be read must not be guessed.
    func time(_ name: String) throws(Rejection) -> UnixTime? {
        guard has(name) else { return nil }
        guard let time = leniently(timeOf: name) else { throw .malformed("\(name) is no time") }
        return time
    }

    /// A moment that only describes; nil where it cannot be read.
    func leniently(timeOf name: String) -> UnixTime? {
        guard let index = members[name] else { return nil }
        let node = document.nodes[index]
        switch node.kind {
        case .string: return document.text(of: node).flatMap { Timestamp.parse($0) }
        case .number: return Timestamp.parse(String(decoding: document.rawValue(of: node), as: UTF8.self))
        case .object, .array, .true, .false, .null: return nil
        }
    }

    /// A user, named by a text or a whole number.
    func user(_ name: String) throws(Rejection) -> UserID? {
        guard let index = members[name] else { return nil }
        return try Self.user(document, at: index, name)
    }

    static func user(_ document: EventData, at index: Int, _ name: String) throws(Rejection) -> UserID {
        let node = document.nodes[index]
        guard let text = document.text(of: node) ?? document.integerText(of: node) else {
            throw .recipient("\(name) is \(node.kind.words); a user id is a text or a whole number")
        }
        do throws(InvalidUserID) {
            return try UserID(text)
        } catch {
            throw .recipient("\(name): \(error.description)")
        }
    }

    /// The subtree of a member as data of its own.
    func data(at index: Int) -> EventData {
        document.subtree(at: index)
    }
}

extension EventData {
    /// A copy of one value with just its own bytes and nodes.
    func subtree(at index: Int) -> EventData {
        let root = nodes[index]
        let value = Int(root.value.lowerBound)..<Int(root.value.upperBound)
        if index == 0, value == 0..<bytes.count { return self }
        let start = root.value.lowerBound
        let first = Int32(truncatingIfNeeded: index)
        var copies: [Node] = []
        copies.reserveCapacity(Int(root.end) - index)
        for node in nodes[index..<Int(root.end)] {
            var copy = node
            copy.value = node.value.lowerBound - start..<node.value.upperBound - start
            // The key of the root stands outside of what is copied; the root of its own has none.
            copy.key =
                copies.isEmpty || node.key.isEmpty
                ? 0..<0 : node.key.lowerBound - start..<node.key.upperBound - start
            copy.end = node.end - first
            copies.append(copy)
        }
        copies[0].keyHasEscapes = false
        return EventData(bytes: Array(bytes[value]), nodes: copies)
    }
}
