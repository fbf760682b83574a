import AegisCore

/// Writes one payload into one buffer.
///
/// - Source: Apple, "Generating a remote notification".
struct PayloadWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var badgeOffset: Int?
    private(set) var texts: [VisibleText] = []
    private var needsComma = false
    private var rootKeys: Set<String> = ["aps"]

    init() {
        bytes.reserveCapacity(1_024)
    }

    var size: Int { bytes.count + (badgeOffset == nil ? 0 : PushPayload.badgeReserve) }

    mutating func open(_ key: StaticString?) {
        if let key { self.key(key) }
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    mutating func close() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    mutating func member(_ name: StaticString, _ text: String) {
        key(name)
        JSONText.appendQuoted(text, to: &bytes)
    }

    /// A value that needs no quotes.
    mutating func member(_ name: StaticString, raw: String) {
        key(name)
        bytes.append(contentsOf: raw.utf8)
    }

    mutating func badge() {
        key("badge")
        badgeOffset = bytes.count
    }

    mutating func text(
        _ name: StaticString, _ template: Template?, _ context: TemplateContext
    ) throws(Rejection) {
        guard let template else { return }
        key(name)
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        try template.append(to: &bytes, as: .json, context)
        texts.append(VisibleText(key: name, range: start..<bytes.count))
        bytes.append(UInt8(ascii: "\""))
    }

    /// A key beside `aps`, under the name the app knows it by.
    ///
    /// - Throws: A rejection of kind `configuration` where that name is taken.
    mutating func root(_ name: String, _ app: AppRules, _ text: String) throws(Rejection) {
        try rootKey(name, app)
        JSONText.appendQuoted(text, to: &bytes)
    }

    mutating func root(
        _ name: String, _ app: AppRules, _ template: Template, _ context: TemplateContext
    ) throws(Rejection) {
        try rootKey(name, app)
        bytes.append(UInt8(ascii: "\""))
        try template.append(to: &bytes, as: .json, context)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func rootKey(_ name: String, _ app: AppRules) throws(Rejection) {
        let renamed = app.rootKeys[name] ?? name
        guard rootKeys.insert(renamed).inserted else {
            throw Rejection(
                kind: .configuration, stage: .render, reason: "two values of the payload are called \(renamed)")
        }
        comma()
        JSONText.appendQuoted(renamed, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Puts another text in the place of one that was written.
    mutating func replace(_ index: Int, by text: String) {
        let old = texts[index].range
        var escaped: [UInt8] = []
        JSONText.appendEscaped(text, to: &escaped)
        bytes.replaceSubrange(old, with: escaped)
        let shift = escaped.count - old.count
        texts[index].range = old.lowerBound..<old.upperBound + shift
        for later in texts.indices where later > index {
            let range = texts[later].range
            texts[later].range = range.lowerBound + shift..<range.upperBound + shift
        }
        if let offset = badgeOffset, offset > old.lowerBound { badgeOffset = offset + shift }
    }

    /// What stands in a text's place, escapes resolved.
    func plainText(_ index: Int) -> String {
        String(decoding: JSONText.unescaped(bytes[texts[index].range]), as: UTF8.self)
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func key(_ name: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.description.utf8)
        bytes.append(contentsOf: "\":".utf8)
    }
}
