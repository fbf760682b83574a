extension Screening {
    /// Whether a password follows, or precedes, the word for it at this token.
    ///
    /// Numbers are left to the one-time codes.
    func showsPassword(named index: Int) -> Bool {
        if isValueBefore(index) { return true }
        var unknown = 0
        for position in index + 1..<index + 10 {
            guard let token = token(position), !endsSentence(position) else { return false }
            if token.kind == .mark {
                switch bytes[token.start] {
                case UInt8(ascii: ":"), UInt8(ascii: "="):
                    let isPhrase = tokens[index].meaning.contains(.phrase)
                    return isPassword(from: position + 1, isDirect: unknown == 0, isPhrase: isPhrase)
                case UInt8(ascii: ","), UInt8(ascii: ";"):
                    return false
                default:
                    continue
                }
            }
            if token.meaning.contains(.state) { return false }
            if token.meaning.contains(.copula), isPassword(from: position + 1, isDirect: false, isPhrase: false) {
                return true
            }
            let isFirst = (index + 1..<position).allSatisfy { tokens[$0].kind == .mark }
            if isFirst, looksSecret(value(from: token.start)) { return true }
            if token.meaning.isDisjoint(with: [.filler, .securing, .copula]) { unknown += 1 }
            if unknown > 4 { return false }
        }
        return false
    }

    /// "hunter2 is your password".
    private func isValueBefore(_ index: Int) -> Bool {
        var position = index - 1
        while position >= 0, position >= index - 4 {
            let meaning = tokens[position].meaning
            if meaning.contains(.copula), let value = token(position - 1) {
                return value.kind == .mixed && looksSecret(bytes[value.start..<value.end])
            }
            guard meaning.contains(.filler) else { return false }
            position -= 1
        }
        return false
    }

    /// - Parameters:
    ///   - isDirect: for `password: value`, where even a plain word is a value if nothing follows it.
    ///   - isPhrase: for a name whose value is made of plain words.
    private func isPassword(from index: Int, isDirect: Bool, isPhrase: Bool) -> Bool {
        var index = index
        while isMark(index, UInt8(ascii: "\"")) || isMark(index, UInt8(ascii: "'")) || isMark(index, UInt8(ascii: "("))
        {
            index += 1
        }
        guard let token = token(index) else { return false }
        // A phrase may start with any word; news about it is one word.
        if token.meaning.contains(.state) { return isDirect && isPhrase && self.token(index + 2)?.kind == .word }
        let value = value(from: token.start)
        if looksSecret(value) { return true }
        guard isDirect, value.count >= 4, token.kind == .word || token.kind == .other else { return false }
        guard token.meaning.isDisjoint(with: [.filler, .copula, .purpose]) else { return false }
        return isPhrase || !bytes[value.endIndex...].contains { $0 > UInt8(ascii: " ") && ByteClass($0) != .mark }
    }

    /// From a position to the next blank, without the signs that end a sentence.
    private func value(from start: Int) -> ArraySlice<UInt8> {
        var end = start
        while end < bytes.count, bytes[end] > UInt8(ascii: " "), end - start <= 80 { end += 1 }
        while end > start, ByteClass(bytes[end - 1]) == .mark { end -= 1 }
        return bytes[start..<end]
    }

    /// Whether letters are mixed with digits, capitals or signs as no word has them.
    private func looksSecret(_ value: ArraySlice<UInt8>) -> Bool {
        guard (5...64).contains(value.count) else { return false }
        var (letters, digits, signs, humps) = (0, 0, 0, 0)
        var wasSmall = false
        for byte in value {
            switch ByteClass(byte) {
            case .digit:
                digits += 1
            case .letter:
                letters += 1
                if wasSmall, byte & 0x20 == 0 { humps += 1 }
            case .currency:
                signs += 1
            case .other:
                return false
            case .mark:
                switch byte {
                case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "*"),
                    UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: "^"), UInt8(ascii: "?"), UInt8(ascii: "~"):
                    signs += 1
                case UInt8(ascii: "/"), UInt8(ascii: ":"):
                    return false
                default:
                    break
                }
            }
            wasSmall = ByteClass(byte) == .letter && byte & 0x20 != 0
        }
        return letters > 0 && (digits > 0 || signs > 0 || humps > 0)
    }
}
