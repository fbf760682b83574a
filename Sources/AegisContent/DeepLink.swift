import AegisCore

/// Where a tap leads: a path of the app, a web address or an address of an app's own scheme.
///
/// A value of an event fills a place of the path, the query or the fragment and can be nothing but a part of it: it is
/// percent-encoded, and one that would take a segment away or add one is refused. Scheme and host stand in the catalog, or the
/// whole link comes from the event and is checked as such.
///
/// - Source: RFC 3986 §2.3, §3.3 and §5.2.4.
package enum DeepLink {
    /// What is wrong with a template as a link; nil for a good one.
    package static func problem(in template: Template) -> String? {
        if template.isOnePlace { return nil }
        guard case .literal(let first) = template.pieces.first else {
            return "a deep link begins with / or with its scheme and host, not with a place"
        }
        let bytes = first.text[...]
        guard isAllowed(bytes) else { return "a deep link begins with / or with an allowed scheme and its host" }
        if bytes.first != UInt8(ascii: "/"), template.pieces.count > 1, pathStart(in: bytes) == nil {
            return "the host of a deep link is no place for a value"
        }
        for piece in template.pieces {
            guard case .literal(let literal) = piece else { continue }
            guard literal.text.allSatisfy(isVisible), literal.text == literal.escaped else {
                return "a deep link has no blanks, quotes, backslashes or control characters"
            }
        }
        return nil
    }

    /// Appends a link as the inside of a JSON string.
    ///
    /// - Throws: A rejection for a link that no app should follow; it quotes nothing.
    static func append(
        _ template: Template, to bytes: inout [UInt8], _ values: borrowing TemplateValues,
        _ spelling: borrowing TemplateSpelling
    ) throws(Rejection) {
        // A link that comes whole from the event is one already; encoding it would break it.
        guard !template.isOnePlace else {
            var link: [UInt8] = []
            try template.append(to: &link, as: .text, values, spelling)
            guard link.allSatisfy(isVisible) else { throw .content("the deep link has blanks or control characters") }
            guard isAllowed(link[...]) else {
                throw .content("the deep link begins with neither / nor an allowed scheme")
            }
            JSONText.appendEscaped(link[...], to: &bytes)
            return
        }
        let start = bytes.count
        try template.append(to: &bytes, as: .link, values, spelling)
        guard template.pieces.count > 1 else { return }
        try checkSegments(bytes[start...])
    }

    /// Writes a value into a link: the unreserved characters alone stay as they are.
    static func append(_ value: ArraySlice<UInt8>, of path: ValuePath, to bytes: inout [UInt8]) throws(Rejection) {
        guard !value.isEmpty else { throw .content("\(path.name) is empty, which leaves a gap in the deep link") }
        for byte in value {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexadecimal(byte >> 4))
                bytes.append(hexadecimal(byte & 0xF))
            }
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }

    /// A segment of one or two points leads elsewhere; percent-encoding them would change nothing.
    private static func checkSegments(_ link: ArraySlice<UInt8>) throws(Rejection) {
        var length = 0
        var isPoints = true
        for byte in link {
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                if isPoints, length == 1 || length == 2 { break }
                (length, isPoints) = (0, true)
                if byte != UInt8(ascii: "/") { return }
            } else {
                length += 1
                isPoints = isPoints && byte == UInt8(ascii: ".")
            }
        }
        guard !(isPoints && (length == 1 || length == 2)) else {
            throw .content("a segment of the deep link is nothing but points")
        }
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F }

    /// Where the path, the query or the fragment begins after `scheme://host`.
    private static func pathStart(in link: ArraySlice<UInt8>) -> Int? {
        guard let colon = link.firstIndex(of: UInt8(ascii: ":")), colon + 3 < link.endIndex else { return nil }
        return link[(colon + 3)...].firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
    }

    private static func isAllowed(_ link: ArraySlice<UInt8>) -> Bool {
        let slash = UInt8(ascii: "/")
        if link.first == slash {
            // Two slashes name another host.
            let second = link.dropFirst().first
            return second != slash && second != UInt8(ascii: "\\")
        }
        let scheme = String(decoding: link.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
        let rest = link.dropFirst(scheme.utf8.count)
        guard rest.starts(with: "://".utf8), let first = scheme.utf8.first, (0x61...0x7A).contains(first),
            scheme.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            })
        else { return false }
        return !["javascript", "data", "file", "vbscript", "about", "blob"].contains(scheme)
    }
}
