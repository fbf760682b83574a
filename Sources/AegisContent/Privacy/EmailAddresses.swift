extension Screening {
    /// The longest part of a domain name.
    ///
    /// - Source: RFC 1035 §2.3.4.
    private static let longestDomain = 255

    /// Whether the `@` at a position stands in an address: a name before it, a domain with a top level behind it.
    ///
    /// `@anna@social.example` is a handle, `git@host:path` a repository.
    func isEmail(around at: Int) -> Bool {
        var start = at
        while start > 0, at - start < 64, isLocalPart(bytes[start - 1]) { start -= 1 }
        guard start < at, byte(start - 1) != UInt8(ascii: "@"), hasDomain(from: at + 1) else { return false }
        return !(at - start == 3 && bytes[start] == UInt8(ascii: "g") && bytes[start + 1] == UInt8(ascii: "i"))
    }

    private func isLocalPart(_ byte: UInt8) -> Bool {
        switch ByteClass(byte) {
        case .letter, .digit, .other: true
        case .currency: false
        case .mark:
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "%"),
                UInt8(ascii: "'"):
                true
            default: false
            }
        }
    }

    private func hasDomain(from start: Int) -> Bool {
        var label = start
        var letters = 0
        var labels = 0
        var position = start
        while position - start <= Self.longestDomain {
            let byte = byte(position)
            switch ByteClass(byte) {
            case .letter:
                letters += 1
            case .digit, .other:
                // A label of another script, or a word that follows without a blank.
                if labels > 0, letters >= 2, ByteClass(byte) == .other { return true }
            case .mark where byte == UInt8(ascii: "-"):
                break
            case .mark where byte == UInt8(ascii: ".") && position > label:
                if labels > 0, letters >= 2, !isLabelStart(position + 1) { return true }
                labels += 1
                label = position + 1
                letters = 0
            case .mark, .currency:
                return labels > 0 && letters >= 2 && letters == position - label
            }
            position += 1
        }
        return false
    }

    private func isLabelStart(_ position: Int) -> Bool {
        let kind = ByteClass(byte(position))
        return kind == .letter || kind == .digit || kind == .other
    }
}
