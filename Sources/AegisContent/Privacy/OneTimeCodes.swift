extension Screening {
    /// Whether four to eight digits are a code that is named, or asked for, as a secret.
    func isNumericCode(_ run: DigitRun) -> Bool {
        guard !run.hasPlus, !run.isFraction, let first = run.groups.first, !isMark(run.nextToken, UInt8(ascii: "%"))
        else {
            return false
        }
        var next = run.nextToken
        if run.digits.count > 8 || !run.isParted(by: UInt8(ascii: " "), UInt8(ascii: "-")) {
            guard run.groups.count > 1, (4...8).contains(first.count), run.groups[1].separator == UInt8(ascii: " ")
            else {
                return false
            }
            next = first.token + 1
        }
        let isYear = run.groups.count == 1 && self.isYear(tokens[first.token])
        return isCalledCode(from: first.token, to: next, isDoubtful: isYear, isLettered: false)
            || !isYear && isEntered(from: first.token, to: next)
    }

    /// Whether capitals and digits, perhaps in groups, are a code that is named as a secret.
    func isLetteredCode(from index: Int) -> Bool {
        guard !(tokens[index].gap == .none && isMark(index - 1, UInt8(ascii: "-"))) else { return false }
        var next = index + 1
        while next - index < 8, isMark(next, UInt8(ascii: "-")), tokens[next].gap == .none,
            let part = token(next + 1), part.gap == .none, part.kind != .mark, part.kind != .other
        {
            next += 2
        }
        let value = bytes[tokens[index].start..<tokens[next - 1].end]
        guard (5...14).contains(value.count), hasCodeLetters(value) else { return false }
        return isCalledCode(from: index, to: next, isDoubtful: false, isLettered: true)
    }

    /// Capitals and digits, and not a slogan with a number behind it such as SUMMER20.
    private func hasCodeLetters(_ value: ArraySlice<UInt8>) -> Bool {
        var digits = 0
        var letters = 0
        for byte in value {
            switch ByteClass(byte) {
            case .digit: digits += 1
            case .letter where byte & 0x20 == 0: letters += 1
            case .letter, .currency, .other: return false
            case .mark: break
            }
        }
        let leading = value.prefix { ByteClass($0) == .letter }.count
        return digits > 0 && letters > 0 && !(leading >= 4 && leading == letters)
    }

    private func isCalledCode(from first: Int, to next: Int, isDoubtful: Bool, isLettered: Bool) -> Bool {
        isNamedBefore(first, isDoubtful: isDoubtful, isLettered: isLettered)
            || isNamedBehind(next, isLettered: isLettered)
    }

    /// "Your code is …", "PIN …", "認証コード: …".
    ///
    /// - Parameters:
    ///   - isDoubtful: for a value that may be a year: the name must be joined to it.
    ///   - isLettered: for a value with letters: the name must be a secret by itself.
    private func isNamedBefore(_ first: Int, isDoubtful: Bool, isLettered: Bool) -> Bool {
        var unknown = 0
        var isLinked = false
        var position = first - 1
        while position >= 0, position >= first - 10 {
            let token = tokens[position]
            let meaning = token.meaning
            if endsSentence(position) { return false }
            if token.kind == .mark {
                switch bytes[token.start] {
                case UInt8(ascii: ":"), UInt8(ascii: "="): isLinked = isLinked || unknown == 0
                case UInt8(ascii: "-") where token.gap != .none: isLinked = isLinked || unknown == 0
                case UInt8(ascii: "#"): return false
                case UInt8(ascii: ","), UInt8(ascii: ";"): unknown += 1
                default: break
                }
            } else if !meaning.isDisjoint(with: [.code, .secretCode, .password])
                || meaning.contains(.credential) && isLinked && unknown == 0
            {
                guard !isHarmless(position) else { return false }
                let isSecret = !meaning.contains(.code) || isSecured(position)
                if isDoubtful, !isLinked, unknown > 0 { return false }
                if isLettered, !isSecret || meaning.contains(.credential) { return false }
                return unknown <= (isLinked ? (isSecret ? 5 : 3) : (isSecret ? 2 : 0))
            } else if meaning.contains(.copula) {
                isLinked = isLinked || unknown == 0
            } else if meaning.contains(.harmless) {
                return false
            } else if meaning.contains(.securing) || meaning.contains(.filler) {
                // Neither parts a name from its value.
            } else if !meaning.isDisjoint(with: [.reference, .phone, .nationalID]) {
                return false
            } else {
                if meaning.contains(.state), !isLinked { return false }
                unknown += 1
            }
            position -= 1
        }
        return false
    }

    /// "… is your code".
    private func isNamedBehind(_ next: Int, isLettered: Bool) -> Bool {
        guard let link = token(next) else { return false }
        if link.kind == .other, !link.meaning.isDisjoint(with: [.code, .secretCode]) {
            return link.gap != .wide && !link.meaning.contains(.harmless)
        }
        guard link.meaning.contains(.copula) || link.gap != .none && isMark(next, UInt8(ascii: "-")) else {
            return false
        }
        for position in next + 1..<next + 9 {
            guard let token = token(position), !endsSentence(position) else { return false }
            if !token.meaning.isDisjoint(with: [.code, .secretCode]) {
                let isSecret = token.meaning.contains(.secretCode) || isSecured(position)
                return !isHarmless(position) && (isSecret || !isLettered)
            }
            if !token.meaning.isDisjoint(with: [.reference, .harmless]), !token.meaning.contains(.securing) {
                return false
            }
        }
        return false
    }

    /// "Enter … to sign in".
    private func isEntered(from first: Int, to next: Int) -> Bool {
        var position = first - 1
        while position >= first - 3, let before = token(position), before.meaning.isDisjoint(with: .entering) {
            guard !before.meaning.isDisjoint(with: [.filler, .purpose]) else { return false }
            position -= 1
        }
        guard position >= first - 3, token(position) != nil, let behind = token(next) else { return false }
        return behind.meaning.contains(.purpose) || isMark(next, UInt8(ascii: ","))
    }

    /// Whether the words beside "code" make it one that anybody may see.
    private func isHarmless(_ index: Int) -> Bool {
        isBeside(index, .harmless, reachBefore: 2, reachBehind: 3)
    }

    private func isSecured(_ index: Int) -> Bool {
        isBeside(index, .securing, reachBefore: 3, reachBehind: 4)
    }

    /// Whether a word of a meaning stands beside, nothing but signs and fillers between.
    private func isBeside(_ index: Int, _ meaning: Meaning, reachBefore: Int, reachBehind: Int) -> Bool {
        if tokens[index].meaning.contains(meaning) { return true }
        for position in (max(0, index - reachBefore)..<index).reversed() {
            if endsSentence(position) { break }
            let token = tokens[position]
            if !token.meaning.isDisjoint(with: meaning) { return true }
            if token.kind != .mark, token.meaning.isDisjoint(with: [.filler, .securing]) { break }
        }
        for position in index + 1..<index + 1 + reachBehind {
            guard let token = token(position), !endsSentence(position) else { return false }
            if !token.meaning.isDisjoint(with: meaning) { return true }
            if token.kind == .mark, bytes[token.start] == UInt8(ascii: ":") { return false }
            if token.kind != .mark, token.meaning.isDisjoint(with: [.filler, .securing]) { return false }
        }
        return false
    }
}
