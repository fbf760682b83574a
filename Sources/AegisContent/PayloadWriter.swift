import AegisCore

/// Writes one payload into one buffer, and knows where in it stands what may have to go.
struct PayloadWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var badgeOffset: Int?
    /// Where each text of the alert stands, escaped and between its quotes.
    private var title: Range<Int>?
    private var subtitle: Range<Int>?
    private var body: Range<Int>?
    /// What goes into texts that the app itself writes.
    private var arguments: [Range<Int>] = []
    private(set) var deepLink: Range<Int>?
    /// The whole members of custom keys by name, commas included; noted only where some may have to go.
    private var custom: [String: Range<Int>] = [:]

    init() {
        bytes.reserveCapacity(640)
    }

    var size: Int { bytes.count + (badgeOffset == nil ? 0 : PushPayload.badgeReserve) }
    var titleRange: Range<Int>? { title }

    mutating func append(_ text: [UInt8]) {
        bytes.append(contentsOf: text)
    }

    mutating func append(escaping text: String) {
        JSONText.appendEscaped(text, to: &bytes)
    }

    mutating func quote() {
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func badge() {
        badgeOffset = bytes.count
    }

    mutating func template(
        _ template: Template, _ values: borrowing TemplateValues, _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        try template.append(to: &bytes, as: .json, values, spelling)
    }

    mutating func text(
        _ name: AlertText, _ template: Template, _ values: borrowing TemplateValues,
        _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        let start = bytes.count
        try template.append(to: &bytes, as: .json, values, spelling)
        self[name] = start..<bytes.count
    }

    mutating func argument(
        _ template: Template, _ values: borrowing TemplateValues, _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        let start = bytes.count
        try template.append(to: &bytes, as: .json, values, spelling)
        arguments.append(start..<bytes.count)
    }

    /// What a person reads, a line for each text: a code may stand in the body and its name in the title.
    var visibleText: [UInt8] {
        var visible: [UInt8] = []
        visible.reserveCapacity(256)
        for range in [title, subtitle, body].compactMap(\.self) + arguments {
            if !visible.isEmpty { visible.append(UInt8(ascii: "\n")) }
            visible.append(contentsOf: JSONText.unescaped(bytes[range]))
        }
        return visible
    }

    mutating func deepLink(
        _ template: Template, _ values: borrowing TemplateValues, _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        let start = bytes.count
        try DeepLink.append(template, to: &bytes, values, spelling)
        deepLink = start..<bytes.count
    }

    /// Notes that everything since `start` is the member of a custom key.
    mutating func noteCustom(_ name: String, from start: Int) {
        custom[name] = start..<bytes.count
    }
}

// MARK: Giving things up

extension PayloadWriter {
    private subscript(text: AlertText) -> Range<Int>? {
        get {
            switch text {
            case .title: title
            case .subtitle: subtitle
            case .body: body
            }
        }
        set {
            switch text {
            case .title: title = newValue
            case .subtitle: subtitle = newValue
            case .body: body = newValue
            }
        }
    }

    /// Takes each step until the payload fits `limit`, its badge included.
    ///
    /// - Throws: A rejection of kind `tooLarge` where that is not enough.
    mutating func fit(_ limit: Int, by steps: [TrimStep]) throws(Rejection) {
        let original = size
        // A notification whose only text is gone is none; the first text keeps at least a character.
        let first = AlertText.allCases.first { self[$0] != nil }
        for step in steps where size > limit {
            switch step {
            case .custom(let name):
                guard let range = custom[name] else { continue }
                custom[name] = nil
                replace(range, by: [])
            case .text(let text):
                guard let range = self[text] else { continue }
                let plain = String(decoding: JSONText.unescaped(bytes[range]), as: UTF8.self)
                let trimmed = TextTrimmer.trim(plain, to: range.count - (size - limit))
                if text == first, trimmed.isEmpty { continue }
                var escaped: [UInt8] = []
                JSONText.appendEscaped(trimmed, to: &escaped)
                replace(range, by: escaped)
                self[text] = range.lowerBound..<range.lowerBound + escaped.count
            }
        }
        guard size <= limit else {
            throw Rejection(
                kind: .tooLarge, stage: .render,
                reason: "the payload has \(original) bytes, \(size) without what can be cut; \(limit) are taken")
        }
    }

    private mutating func replace(_ range: Range<Int>, by replacement: [UInt8]) {
        bytes.replaceSubrange(range, with: replacement)
        let shift = replacement.count - range.count
        func moved(_ other: Range<Int>) -> Range<Int> {
            other.lowerBound < range.upperBound ? other : other.lowerBound + shift..<other.upperBound + shift
        }
        for text in AlertText.allCases { self[text] = self[text].map(moved) }
        deepLink = deepLink.map(moved)
        custom = custom.mapValues(moved)
        if let offset = badgeOffset, offset >= range.upperBound { badgeOffset = offset + shift }
    }
}
