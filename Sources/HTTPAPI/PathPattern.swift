/// The path of a route, such as `/v1/users/{user}/devices`.
struct PathPattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case parameter(String)
    }

    /// As the route table writes it: for logs, in which no path of a request may stand.
    let text: String
    private let segments: [Segment]

    init(_ text: String) {
        self.text = text
        segments = text.split(separator: "/").map { segment in
            segment.first == "{" && segment.last == "}"
                ? .parameter(String(segment.dropFirst().dropLast())) : .literal(String(segment))
        }
    }

    /// The parameters by name, or nil for a path of another route.
    func match(_ path: RequestPath) -> [String: String]? {
        guard path.segments.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (pattern, segment) in zip(segments, path.segments) {
            switch pattern {
            case .literal(let literal):
                guard segment == literal else { return nil }
            case .parameter(let name):
                parameters[name] = segment
            }
        }
        return parameters
    }
}

/// The path of a request, its segments decoded one by one, so that an encoded slash is part of a name.
struct RequestPath {
    let segments: [String]

    /// Nil for what is no path: not absolute, or with an encoding that stands for no text.
    init?(raw: [UInt8]) {
        guard raw.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        for segment in raw.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let text = PercentEncoding.decode(segment) else { return nil }
            segments.append(text)
        }
        self.segments = segments
    }
}

/// - Source: RFC 3986, section 2.1.
enum PercentEncoding {
    /// Nil where an escape is cut off, where the bytes are no UTF-8, and for NUL, which no store can hold.
    static func decode(_ encoded: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Texts as the value of a header, joined by commas: every byte that is no letter or digit is encoded.
    ///
    /// As many whole texts as fit into `limit` bytes.
    static func list(_ texts: [String], limit: Int) -> String {
        var list = ""
        for text in texts {
            var encoded = list.isEmpty ? "" : ","
            for byte in text.utf8 {
                let scalar = Unicode.Scalar(byte)
                if scalar.isASCII,
                    scalar.properties.isAlphabetic || scalar.properties.numericType != nil || byte == 0x5F
                {
                    encoded.unicodeScalars.append(scalar)
                } else {
                    encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
                }
            }
            guard list.utf8.count + encoded.utf8.count <= limit else { break }
            list += encoded
        }
        return list
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
