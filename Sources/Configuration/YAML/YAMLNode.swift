/// Where something stands in a file.
package struct YAMLMark: Hashable, Sendable {
    /// From 1.
    package var line: Int
    /// From 1, in characters.
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// A value of a YAML document with the place it was written at.
///
/// - Shape: at most ``YAMLDocument/deepest`` levels; aliases are replaced by what they name, marks included.
package struct YAMLNode: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// `isPlain` tells a bare word, which may mean a null, from a quoted one, which never does.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// In the document's order, no key twice.
        case mapping([YAMLEntry])
    }

    package var content: Content
    package var mark: YAMLMark

    package init(content: Content, mark: YAMLMark) {
        self.content = content
        self.mark = mark
    }
}

/// One key of a mapping with its value.
package struct YAMLEntry: Hashable, Sendable {
    package var key: String
    package var mark: YAMLMark
    package var value: YAMLNode

    package init(key: String, mark: YAMLMark, value: YAMLNode) {
        self.key = key
        self.mark = mark
        self.value = value
    }
}
