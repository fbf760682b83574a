/// A YAML file as a tree, read within bounds: no input, however hostile, costs more than them.
package struct YAMLDocument: Sendable {
    /// The largest file that is read, in bytes.
    package static let largestFile = 1 << 20
    /// How many levels of mappings and sequences there may be.
    package static let deepest = 32
    /// How many values there may be when every alias is written out.
    package static let mostNodes = 50_000

    /// Nil when the file is empty or could not be read to its end.
    package let root: YAMLNode?
    /// What is wrong with it as YAML; keys that are there twice leave the rest readable.
    package let problems: [Problem]

    /// Reads the bytes of `file`, a name for messages alone.
    ///
    /// With `hasVariables`, `${NAME}` may stand unquoted anywhere; it is kept as written.
    package init(parsing bytes: [UInt8], file: String, hasVariables: Bool = false) {
        guard bytes.count <= Self.largestFile else {
            root = nil
            problems = [Problem(file: file, message: "is larger than \(Self.largestFile >> 10) KiB")]
            return
        }
        let masked = hasVariables ? VariableMask.masked(bytes) : nil
        var builder = YAMLTreeBuilder(file: file, isMasked: masked != nil)
        do {
            var parser = try YAMLParser(masked ?? bytes)
            var isOpen = true
            while isOpen {
                let (event, mark) = try parser.next()
                isOpen = try builder.take(event, at: mark)
            }
            root = builder.root
            problems = builder.problems
        } catch {
            root = nil
            problems =
                builder.problems + [
                    Problem(file: file, line: error.mark.line, column: error.mark.column, message: error.message)
                ]
        }
    }
}

/// Puts events together to a tree, without recursion.
private struct YAMLTreeBuilder {
    /// A mapping or sequence that is not closed yet.
    private struct Frame {
        var mark: YAMLMark
        var anchor: String?
        /// Nil for a sequence.
        var entries: [YAMLEntry]?
        var elements: [YAMLNode] = []
        /// The key whose value comes next.
        var key: (text: String, mark: YAMLMark)?
        var seenKeys: Set<String> = []
        var size = 1
        var height = 1
    }

    /// A finished value with what it costs to write it out again.
    private struct Anchored {
        var node: YAMLNode
        var size: Int
        var height: Int
    }

    private let file: String
    private let isMasked: Bool
    private(set) var root: YAMLNode?
    private(set) var problems: [Problem] = []
    private var stack: [Frame] = []
    private var anchors: [String: Anchored] = [:]
    private var hasDocument = false

    init(file: String, isMasked: Bool) {
        self.file = file
        self.isMasked = isMasked
    }

    /// Whether more events follow.
    mutating func take(_ event: YAMLEvent, at mark: YAMLMark) throws(YAMLSyntaxError) -> Bool {
        switch event {
        case .streamStart, .documentEnd:
            break
        case .streamEnd:
            return false
        case .documentStart:
            guard !hasDocument else { throw YAMLSyntaxError(mark: mark, message: "a second document begins here") }
            hasDocument = true
        case .alias(let name):
            guard let anchored = anchors[name] else {
                throw YAMLSyntaxError(mark: mark, message: "the alias names nothing that was finished before it")
            }
            var node = anchored.node
            node.mark = mark
            try add(Anchored(node: node, size: anchored.size, height: anchored.height), anchor: nil)
        case .scalar(let written, let isPlain, let anchor, let tag):
            try refuse(tag: tag, at: mark)
            let text = isMasked ? VariableMask.unmasked(written) : written
            if let last = stack.indices.last, stack[last].entries != nil, stack[last].key == nil {
                stack[last].key = (text, mark)
            } else {
                let node = YAMLNode(content: .scalar(text, isPlain: isPlain), mark: mark)
                try add(Anchored(node: node, size: 1, height: 0), anchor: anchor)
            }
        case .sequenceStart(let anchor, let tag):
            try open(Frame(mark: mark, anchor: anchor), tag: tag)
        case .mappingStart(let anchor, let tag):
            try open(Frame(mark: mark, anchor: anchor, entries: []), tag: tag)
        case .sequenceEnd, .mappingEnd:
            guard let frame = stack.popLast() else { break }
            let content = frame.entries.map(YAMLNode.Content.mapping) ?? .sequence(frame.elements)
            let node = YAMLNode(content: content, mark: frame.mark)
            try add(Anchored(node: node, size: frame.size, height: frame.height), anchor: frame.anchor)
        }
        return true
    }

    private mutating func open(_ frame: Frame, tag: String?) throws(YAMLSyntaxError) {
        try refuse(tag: tag, at: frame.mark)
        if let last = stack.last, last.entries != nil, last.key == nil {
            throw YAMLSyntaxError(mark: frame.mark, message: "a key must be a plain text")
        }
        guard stack.count < YAMLDocument.deepest else {
            throw YAMLSyntaxError(mark: frame.mark, message: "more than \(YAMLDocument.deepest) levels deep")
        }
        stack.append(frame)
    }

    private func refuse(tag: String?, at mark: YAMLMark) throws(YAMLSyntaxError) {
        guard tag == nil else { throw YAMLSyntaxError(mark: mark, message: "tags are not understood") }
    }

    private mutating func add(_ value: Anchored, anchor: String?) throws(YAMLSyntaxError) {
        let mark = value.node.mark
        if let anchor { anchors[anchor] = value }
        guard let last = stack.indices.last else {
            root = value.node
            return
        }
        guard stack.count + value.height <= YAMLDocument.deepest else {
            throw YAMLSyntaxError(mark: mark, message: "more than \(YAMLDocument.deepest) levels deep")
        }
        stack[last].size += value.size
        stack[last].height = max(stack[last].height, value.height + 1)
        // Nothing larger than the limit is ever kept, so no sum of sizes comes near the end of an Int.
        guard stack[last].size <= YAMLDocument.mostNodes else {
            throw YAMLSyntaxError(
                mark: mark, message: "more than \(YAMLDocument.mostNodes) values, aliases written out")
        }
        guard stack[last].entries != nil else {
            stack[last].elements.append(value.node)
            return
        }
        guard let key = stack[last].key else {
            throw YAMLSyntaxError(mark: mark, message: "a key must be a plain text")
        }
        stack[last].key = nil
        guard stack[last].seenKeys.insert(key.text).inserted else {
            problems.append(
                Problem(
                    file: file, line: key.mark.line, column: key.mark.column, path: path(to: key.text),
                    message: "this key is here twice"))
            return
        }
        stack[last].entries?.append(YAMLEntry(key: key.text, mark: key.mark, value: value.node))
    }

    /// The path of a key of the innermost mapping.
    private func path(to key: String) -> String {
        var path = ""
        for frame in stack.dropLast() {
            if frame.entries == nil {
                path += "[\(frame.elements.count)]"
            } else if let outer = frame.key {
                path += path.isEmpty ? outer.text : ".\(outer.text)"
            }
        }
        return path.isEmpty ? key : "\(path).\(key)"
    }
}
