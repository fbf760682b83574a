import AegisCore

/// Where a tap leads: a path of the app, a web address or an address of an app's own scheme.
enum DeepLink {
    /// - Throws: A rejection for a link that no app should follow; it quotes nothing.
    static func render(_ template: Template, _ context: TemplateContext) throws(Rejection) -> String {
        var bytes: [UInt8] = []
        // A link that comes whole from the event is one already; encoding it would break it.
        try template.append(to: &bytes, as: template.isOnePlace ? .text : .link, context)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .content("the deep link has blanks or control characters")
        }
        let link = String(decoding: bytes, as: UTF8.self)
        guard isAllowed(bytes) else { throw .content("the deep link begins with neither / nor an allowed scheme") }
        return link
    }

    private static func isAllowed(_ bytes: [UInt8]) -> Bool {
        let slash = UInt8(ascii: "/")
        if bytes.first == slash {
            // Two slashes name another host.
            return bytes.count == 1 || bytes[1] != slash && bytes[1] != UInt8(ascii: "\\")
        }
        let scheme = String(decoding: bytes.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
        let rest = bytes.dropFirst(scheme.utf8.count)
        guard rest.starts(with: "://".utf8), let first = scheme.utf8.first, (0x61...0x7A).contains(first),
            scheme.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            })
        else { return false }
        return !["javascript", "data", "file", "vbscript"].contains(scheme)
    }
}
