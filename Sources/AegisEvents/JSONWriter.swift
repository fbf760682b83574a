import AegisCore

/// Appends JSON to one buffer, commas included.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    /// Whether the container being written has a member yet.
    private var needsComma = false

    package init() {}

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        contained(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
    }

    package mutating func array(_ elements: (inout JSONWriter) -> Void) {
        contained(UInt8(ascii: "["), UInt8(ascii: "]"), elements)
    }

    private mutating func contained(_ first: UInt8, _ last: UInt8, _ content: (inout JSONWriter) -> Void) {
        bytes.append(first)
        needsComma = false
        content(&self)
        bytes.append(last)
        needsComma = true
    }

    /// Begins a member; its value is written next.
    package mutating func key(_ name: String) {
        element()
        JSONText.appendQuoted(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Begins an element of an array; its value is written next.
    package mutating func element() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    package mutating func string(_ text: String) {
        JSONText.appendQuoted(text, to: &bytes)
    }

    /// Bytes that are JSON already.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        bytes.append(contentsOf: json)
    }

    package mutating func member(_ name: String, _ text: String) {
        key(name)
        string(text)
    }

    package mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        raw((flag ? "true" : "false").utf8)
    }
}
