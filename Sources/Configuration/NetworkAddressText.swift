extension NetworkAddress {
    /// Reads `host:port`, or `[IPv6]:port`; without a port it takes `defaultPort`, nil if there is none either.
    init?(_ text: some StringProtocol, defaultPort: UInt16?) {
        let host: Substring
        let rest: Substring
        let text = Substring(text)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[..<end].dropFirst()
            rest = text[end...].dropFirst()
            guard host.contains(":") else { return nil }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text.dropFirst(host.count)
        }
        let isHost = host.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_", ":": true
            default: false
            }
        }
        guard !host.isEmpty, isHost else { return nil }
        if rest.isEmpty, let defaultPort {
            self.init(host: String(host), port: defaultPort)
        } else {
            guard rest.first == ":", let number = ScalarText.digits(rest.dropFirst()),
                let port = UInt16(exactly: number)
            else { return nil }
            self.init(host: String(host), port: port)
        }
    }
}
