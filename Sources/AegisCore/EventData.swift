/// The `data` object of an event: its JSON text and an index of it, made once by the scanner.
///
/// Nothing is decoded before a template asks for it: a string stays as it was escaped and can be copied into a payload so.
///
/// - Shape: `nodes` is in document order; the root object is `nodes[0]`. `bytes` is valid JSON in valid UTF-8.
package struct EventData: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        case object, array, string, number, `true`, `false`, null
    }

    package struct Node: Sendable, Hashable {
        package var kind: Kind
        /// Whether the key or the string holds a backslash escape.
        package var keyHasEscapes: Bool
        package var valueHasEscapes: Bool
        /// The key between its quotes, as written; empty for the root and for array elements.
        package var key: Range<Int32>
        /// The value as written; of a string, what stands between its quotes.
        package var value: Range<Int32>
        /// One past the last node of this subtree, so that a sibling is found in one step.
        package var end: Int32

        package init(
            kind: Kind, key: Range<Int32>, keyHasEscapes: Bool, value: Range<Int32>, valueHasEscapes: Bool, end: Int32
        ) {
            self.kind = kind
            self.key = key
            self.keyHasEscapes = keyHasEscapes
            self.value = value
            self.valueHasEscapes = valueHasEscapes
            self.end = end
        }
    }

    package let bytes: [UInt8]
    package let nodes: [Node]

    package init(bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// `{}`.
    package static let empty = EventData(
        bytes: Array("{}".utf8),
        nodes: [Node(kind: .object, key: 0..<0, keyHasEscapes: false, value: 0..<2, valueHasEscapes: false, end: 1)])

    /// The node at a path of object keys and array indices, or nil.
    ///
    /// Keys are compared as written; where a key repeats, the first is found.
    package func node(at path: [[UInt8]]) -> Node? {
        guard var current = nodes.first else { return nil }
        var index = 0
        for step in path {
            guard let next = child(named: step, of: current, at: index) else { return nil }
            index = next
            current = nodes[next]
        }
        return current
    }

    private func isKey(_ key: Range<Int32>, _ step: [UInt8]) -> Bool {
        guard key.count == step.count else { return false }
        let start = Int(key.lowerBound)
        for index in step.indices where bytes[start + index] != step[index] { return false }
        return true
    }

    private func child(named step: [UInt8], of parent: Node, at parentIndex: Int) -> Int? {
        var index = parentIndex + 1
        let end = Int(parent.end)
        switch parent.kind {
        case .object:
            while index < end {
                let node = nodes[index]
                if isKey(node.key, step) { return index }
                index = Int(node.end)
            }
            return nil
        case .array:
            guard let text = Int(String(decoding: step, as: UTF8.self)), text >= 0 else { return nil }
            var position = 0
            while index < end {
                if position == text { return index }
                position += 1
                index = Int(nodes[index].end)
            }
            return nil
        case .string, .number, .true, .false, .null:
            return nil
        }
    }
}
