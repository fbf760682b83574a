import AegisCore

/// What templates are filled with: one event for one person.
struct TemplateValues: Sendable {
    let event: DomainEvent
    let user: UserID
    /// The person's IANA zone; nil or unknown takes UTC.
    let timeZone: String?
    /// How many notifications a digest stands for; 0 for anything else.
    let items: Int
}

/// How values are spelled for one reader.
struct TemplateSpelling {
    let formats: LocaleFormats
    /// Of the text's own language, which may be another than the reader's.
    let plurals: PluralRule
    let zones: ZoneRules
}

/// Where a filled template goes, and so how it is written.
enum TemplateTarget {
    /// Between the quotes of a JSON string.
    case json
    case text
    /// Into a link; what stands in for a place is percent-encoded.
    case link
}

extension Template {
    /// Fills every place, literals copied as they were compiled.
    ///
    /// - Throws: A rejection of kind `content`, which names the path and quotes no value.
    func append(
        to bytes: inout [UInt8], as target: TemplateTarget, _ values: borrowing TemplateValues,
        _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        for piece in pieces {
            switch piece {
            case .literal(let literal):
                bytes.append(contentsOf: target == .json ? literal.escaped : literal.text)
            case .place(let place):
                try place.append(to: &bytes, as: target, values, spelling)
            }
        }
    }

    func text(
        _ values: borrowing TemplateValues, _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        try append(to: &bytes, as: .text, values, spelling)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether one value is all there is.
    var isOnePlace: Bool {
        guard pieces.count == 1, case .place = pieces[0] else { return false }
        return true
    }
}

extension TemplatePlace {
    func append(
        to bytes: inout [UInt8], as target: TemplateTarget, _ values: borrowing TemplateValues,
        _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        if let value = try path.value(values) {
            try Self.append(value, filters, of: path, to: &bytes, as: target, values, spelling)
        } else if let substitute {
            let value = PlainText(utf8: substitute.text.text[...], isEscapeFree: false)
            try Self.append(value, substitute.filters, of: path, to: &bytes, as: target, values, spelling)
        } else {
            throw .content("\(path.name) is missing")
        }
    }

    private static func append(
        _ value: PlainText, _ filters: [TemplateFilter], of path: ValuePath, to bytes: inout [UInt8],
        as target: TemplateTarget, _ values: borrowing TemplateValues, _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        var value = value
        for index in filters.indices {
            // The last filter writes where the text goes, if its words need no more care there.
            if index == filters.count - 1, target == .json {
                try filters[index].append(value, of: path, to: &bytes, isEscaping: true, values, spelling)
                return
            }
            var filtered: [UInt8] = []
            try filters[index].append(value, of: path, to: &filtered, isEscaping: false, values, spelling)
            value = PlainText(utf8: filtered[...], isEscapeFree: false)
        }
        switch target {
        case .json: value.appendEscaped(to: &bytes)
        case .text: bytes.append(contentsOf: value.utf8)
        case .link: try DeepLink.append(value.utf8, of: path, to: &bytes)
        }
    }
}

/// A value as text, where it stands if it can stay there.
struct PlainText {
    let utf8: ArraySlice<UInt8>
    /// Whether JSON takes every byte as it is.
    let isEscapeFree: Bool

    func appendEscaped(to bytes: inout [UInt8]) {
        if isEscapeFree {
            bytes.append(contentsOf: utf8)
        } else {
            JSONText.appendEscaped(utf8, to: &bytes)
        }
    }
}

extension ValuePath {
    /// The value as text; nil where it is missing or null.
    fileprivate func value(_ values: borrowing TemplateValues) throws(Rejection) -> PlainText? {
        switch root {
        case .eventID: return PlainText(utf8: Array(values.event.identity.id.utf8)[...], isEscapeFree: false)
        case .eventType: return PlainText(utf8: Array(values.event.type.utf8)[...], isEscapeFree: false)
        case .userID: return PlainText(utf8: Array(values.user.text.utf8)[...], isEscapeFree: false)
        case .digestCount:
            guard values.items > 0 else { return nil }
            return PlainText(utf8: Array(String(values.items).utf8)[...], isEscapeFree: true)
        case .data(let path):
            guard let node = values.event.data.node(at: path) else { return nil }
            switch node.kind {
            case .string:
                let raw = values.event.data.rawValue(of: node)
                guard node.valueHasEscapes else { return PlainText(utf8: raw, isEscapeFree: true) }
                return PlainText(utf8: JSONText.unescaped(raw)[...], isEscapeFree: false)
            case .number, .true, .false:
                return PlainText(utf8: values.event.data.rawValue(of: node), isEscapeFree: true)
            case .null: return nil
            case .object: throw .content("\(name) is an object, not a text")
            case .array: throw .content("\(name) is an array, not a text")
            }
        }
    }
}

extension TemplateFilter {
    /// - Parameter isEscaping: Whether `bytes` are those of a JSON string.
    fileprivate func append(
        _ value: PlainText, of path: ValuePath, to bytes: inout [UInt8], isEscaping: Bool,
        _ values: borrowing TemplateValues, _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        switch self {
        case .number:
            guard spelling.formats.appendNumber(value.utf8, to: &bytes) else {
                throw .content("\(path.name) is no number")
            }
        case .money(let currency):
            guard spelling.formats.appendMoney(value.utf8, try currency.code(values), to: &bytes) else {
                throw .content("\(path.name) is no whole number of minor units")
            }
        case .date(let style):
            guard let time = Timestamp.parse(utf8: value.utf8) else { throw .content("\(path.name) is no time") }
            let offset = values.timeZone.flatMap { spelling.zones.offset(at: time, in: $0) } ?? 0
            spelling.formats.appendDate(time, offset: offset, style: style, to: &bytes)
        case .plural(let texts):
            guard let count = Self.wholeNumber(value.utf8) else { throw .content("\(path.name) is no whole number") }
            let parts = texts.parts(for: spelling.plurals.category(of: count))
            for index in parts.indices {
                if index > 0 { _ = spelling.formats.appendNumber(value.utf8, to: &bytes) }
                bytes.append(contentsOf: isEscaping ? parts[index].escaped : parts[index].text)
            }
        case .truncate(let length):
            guard let kept = TextTrimmer.beginning(of: value.utf8, longerThan: length) else {
                if isEscaping { value.appendEscaped(to: &bytes) } else { bytes.append(contentsOf: value.utf8) }
                return
            }
            let beginning = PlainText(utf8: kept, isEscapeFree: value.isEscapeFree)
            if isEscaping { beginning.appendEscaped(to: &bytes) } else { bytes.append(contentsOf: kept) }
            bytes.append(contentsOf: TextTrimmer.ellipsis)
        }
    }

    /// Digits, perhaps after a minus, that fit 64 bits.
    private static func wholeNumber(_ text: ArraySlice<UInt8>) -> Int64? {
        var magnitude: Int64 = 0
        var isNegative = false
        var hasDigits = false
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: "-"), index == text.startIndex {
                isNegative = true
                continue
            }
            guard TextCursor.isDigit(byte) else { return nil }
            let (shifted, overflowed) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carried) = shifted.addingReportingOverflow(Int64(byte &- UInt8(ascii: "0")))
            guard !overflowed, !carried else { return nil }
            magnitude = sum
            hasDigits = true
        }
        guard hasDigits else { return nil }
        return isNegative ? -magnitude : magnitude
    }
}

extension TemplateFilter.Currency {
    fileprivate func code(_ values: borrowing TemplateValues) throws(Rejection) -> CurrencyCode {
        switch self {
        case .code(let code): return code
        case .path(let path):
            guard let value = try path.value(values) else { throw .content("\(path.name) is missing") }
            guard let code = CurrencyCode(value.utf8) else { throw .content("\(path.name) is no currency code") }
            return code
        }
    }
}

extension Rejection {
    static func content(_ reason: String) -> Rejection {
        Rejection(kind: .content, stage: .render, reason: reason)
    }
}
