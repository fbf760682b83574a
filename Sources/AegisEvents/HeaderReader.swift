import AegisCore

/// The headers of one record, as far as formats look at them: the last of a name counts, a null value is no header.
struct HeaderReader {
    private let headers: [RecordHeader]

    /// - Throws: A rejection where names and values together have more than `limit` bytes.
    init(_ headers: [RecordHeader], limit: Int) throws(Rejection) {
        var size = 0
        for header in headers {
            size += header.name.utf8.count + (header.value?.count ?? 0)
        }
        guard size <= limit else { throw .malformed("the headers have \(size) bytes, more than \(limit)") }
        self.headers = headers
    }

    func has(_ name: String) -> Bool {
        value(of: name) != nil
    }

    /// - Throws: A rejection for a value that is not UTF-8 or has control characters.
    func text(_ name: String) throws(Rejection) -> String? {
        guard let bytes = value(of: name) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed("the header \(name) is no text")
        }
        return text
    }

    /// The media type in lower case, without parameters and quotation marks.
    var contentType: String? {
        for name in ["content-type", "Content-Type", "contentType"] {
            guard let bytes = value(of: name), bytes.count <= 256 else { continue }
            let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self).lowercased()
            return String(text.filter { $0 != "\"" && $0 != " " })
        }
        return nil
    }

    private func value(of name: String) -> [UInt8]? {
        headers.last { $0.name == name }?.value
    }
}

/// W3C trace context.
enum TraceParent {
    /// The text if it is a valid `traceparent`, else nil: a broken trace never stops an event.
    static func valid(_ text: String?) -> String? {
        guard let text else { return nil }
        let bytes = Array(text.utf8)
        guard bytes.count == 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
        for (position, byte) in bytes.enumerated() where position != 2 && position != 35 && position != 52 {
            guard TextCursor.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) else { return nil }
        }
        let zero = UInt8(ascii: "0")
        guard !text.hasPrefix("ff"), bytes[3..<35].contains(where: { $0 != zero }),
            bytes[36..<52].contains(where: { $0 != zero })
        else { return nil }
        return text
    }

    private static let dash = UInt8(ascii: "-")
}
