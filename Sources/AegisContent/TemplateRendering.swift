import AegisCore

/// What a template is filled with.
struct TemplateContext {
    let event: DomainEvent
    let user: UserID
    /// The language of the text, for plurals.
    let language: LocaleTag
    let formatter: ValueFormatter
}

/// Where a filled template goes, and so how it is written.
enum TemplateTarget {
    /// Between the quotes of a JSON string.
    case json
    case text
    /// A link: values are percent-encoded, the template's own text is not.
    case link
}

extension Template {
    /// - Throws: A rejection of kind `content` that names the path and quotes no value.
    func append(
        to bytes: inout [UInt8], as target: TemplateTarget, _ context: TemplateContext
    ) throws(Rejection) {
        for piece in pieces {
            switch piece {
            case .literal(let text, let escaped):
                bytes.append(contentsOf: target == .json ? escaped : text)
            case .place(let place):
                try append(place, to: &bytes, as: target, context)
            }
        }
    }

    func text(_ context: TemplateContext) throws(Rejection) -> String {
        var bytes: [UInt8] = []
        try append(to: &bytes, as: .text, context)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether one value is all there is.
    var isOnePlace: Bool {
        guard pieces.count == 1, case .place = pieces[0] else { return false }
        return true
    }

    private func append(
        _ place: TemplatePlace, to bytes: inout [UInt8], as target: TemplateTarget, _ context: TemplateContext
    ) throws(Rejection) {
        if place.filters.isEmpty, target == .json, case .data(let path) = place.path.root,
            let node = context.event.data.node(at: path), node.kind == .string, !node.valueHasEscapes
        {
            bytes.append(contentsOf: context.event.data.rawValue(of: node))
            return
        }
        var value = try place.path.text(context)
        for filter in place.filters {
            value = try filter.apply(to: value, of: place.path, context)
        }
        guard let value else { throw .content("\(place.path.name) is missing") }
        switch target {
        case .json: JSONText.appendEscaped(value, to: &bytes)
        case .text: bytes.append(contentsOf: value.utf8)
        case .link: Self.appendPercentEncoded(value, to: &bytes)
        }
    }

    /// Keeps the unreserved characters of RFC 3986 §2.3 alone, so that a value cannot leave its place in the link.
    private static func appendPercentEncoded(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                for digit in [byte >> 4, byte & 0xF] {
                    bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
                }
            }
        }
    }
}

extension ValuePath {
    /// The value as text; nil where it is missing or null.
    fileprivate func text(_ context: TemplateContext) throws(Rejection) -> String? {
        switch root {
        case .eventID: return context.event.identity.id
        case .eventType: return context.event.type
        case .userID: return context.user.text
        case .data(let path):
            let data = context.event.data
            guard let node = data.node(at: path) else { return nil }
            switch node.kind {
            case .string: return data.text(of: node)
            case .number, .true, .false: return String(decoding: data.rawValue(of: node), as: UTF8.self)
            case .null: return nil
            case .object: throw .content("\(name) is an object, not a text")
            case .array: throw .content("\(name) is an array, not a text")
            }
        }
    }
}

extension TemplateFilter {
    fileprivate func apply(
        to value: String?, of path: ValuePath, _ context: TemplateContext
    ) throws(Rejection) -> String? {
        guard let value else {
            guard case .default(let text) = self else { return nil }
            return text
        }
        switch self {
        case .default:
            return value
        case .number:
            guard let text = context.formatter.number(value) else { throw .content("\(path.name) is no number") }
            return text
        case .money(let currency):
            let code = try currency.code(context)
            guard let text = context.formatter.money(value, currency: code) else {
                throw .content("\(path.name) is no whole number of minor units")
            }
            return text
        case .date(let style):
            guard let time = Timestamp.parse(value) else { throw .content("\(path.name) is no time") }
            return context.formatter.date(time, style: style)
        case .plural(let texts):
            guard let count = Int64(value), let number = context.formatter.number(value) else {
                throw .content("\(path.name) is no whole number")
            }
            let category = PluralCategory(of: count, in: context.language)
            let text = texts[category] ?? texts[.other] ?? ""
            return text.split(separator: "#", omittingEmptySubsequences: false).joined(separator: number)
        case .truncate(let length):
            // Two characters past the end of a string are no index, so a long text is not counted to its end.
            guard value.index(value.startIndex, offsetBy: length + 1, limitedBy: value.endIndex) != nil else {
                return value
            }
            return String(value.prefix(length - 1)) + "…"
        }
    }
}

extension TemplateFilter.Currency {
    fileprivate func code(_ context: TemplateContext) throws(Rejection) -> String {
        switch self {
        case .code(let code): return code
        case .path(let path):
            guard let code = try path.text(context)?.uppercased() else { throw .content("\(path.name) is missing") }
            guard TemplateParser.isCurrency(code) else { throw .content("\(path.name) is no currency code") }
            return code
        }
    }
}

extension Rejection {
    static func content(_ reason: String) -> Rejection {
        Rejection(kind: .content, stage: .render, reason: reason)
    }
}
