extension Screening {
    /// No credential is shorter.
    private static let shortest = 16
    /// What a PEM file starts with; nothing shorter is looked at.
    private static let pemHead: [UInt8] = Array("-----BEGIN".utf8)
    /// What is longer is looked at in parts of this size.
    private static let longest = 4_096

    /// Whether the text holds a key, a token or the head of a PEM file.
    func showsCredential() -> Bool {
        var start = 0
        while start + Self.pemHead.count <= bytes.count {
            // Looking from the far end first skips a word at a time.
            var end = start + Self.pemHead.count
            var first = end
            while first > start, Self.isPart(bytes[first - 1]) { first -= 1 }
            guard first == start else {
                start = first
                continue
            }
            while end < bytes.count, end - start < Self.longest, Self.isPart(bytes[end]) { end += 1 }
            if end - start >= Self.shortest, isCredential(start..<end) { return true }
            if isParameter(start..<end) { return true }
            if Self.pemHead.indices.allSatisfy({ bytes[start + $0] == Self.pemHead[$0] }) { return true }
            start = end
        }
        return false
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch ByteClass(byte) {
        case .letter, .digit: true
        case .other, .currency: false
        case .mark:
            switch byte {
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                true
            default: false
            }
        }
    }

    /// What tokens of well-known issuers start with.
    private static let prefixes = [
        "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
        "github_pat_", "xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "glpat-", "npm_", "pypi-", "dop_v1_",
        "shpat_", "hf_", "SG.", "AIza", "AKIA", "ASIA", "eyJ", "sk-ant-", "sk-proj-", "ya29.",
    ].map { Array($0.utf8) }

    private func isCredential(_ chunk: Range<Int>) -> Bool {
        if hasPrefix(chunk) { return true }
        let index = tokenIndex(at: chunk.lowerBound)
        let isNamed = isNamed(before: index, reach: 6)
        if let before = token(index - 1), before.meaning.contains(.scheme), chunk.count >= Self.shortest {
            if looksRandom(chunk, isNamed: true) { return true }
        }
        let isPublic = isDigest(around: index)
        if bytes[chunk.lowerBound] != UInt8(ascii: "/"), looksLikeBase64(chunk) { return true }
        var start = chunk.lowerBound
        for position in chunk.lowerBound...chunk.upperBound {
            if position < chunk.upperBound {
                let byte = bytes[position]
                guard byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ".") else {
                    continue
                }
            }
            if !isPublic, looksRandom(start..<position, isNamed: isNamed) { return true }
            start = position + 1
        }
        return false
    }

    private func hasPrefix(_ chunk: Range<Int>) -> Bool {
        for start in chunk {
            if start > chunk.lowerBound {
                let before = ByteClass(bytes[start - 1])
                if before == .letter || before == .digit { continue }
            }
            for prefix in Self.prefixes where bytes[start] == prefix[0] && start + Self.shortest <= chunk.upperBound {
                guard prefix.indices.allSatisfy({ bytes[start + $0] == prefix[$0] }) else { continue }
                if prefix.count > 4 || prefix.last == UInt8(ascii: "_") || mixes(start..<chunk.upperBound) {
                    return true
                }
            }
        }
        return false
    }

    /// Whether capitals or small letters and digits are both there.
    private func mixes(_ range: Range<Int>) -> Bool {
        bytes[range].contains { ByteClass($0) == .digit } && bytes[range].contains { ByteClass($0) == .letter }
    }

    /// `token=…`, `key=…` with a value of eight characters and more that has digits and letters.
    private func isParameter(_ chunk: Range<Int>) -> Bool {
        guard let equals = bytes[chunk].firstIndex(of: UInt8(ascii: "=")), chunk.upperBound - equals > 8 else {
            return false
        }
        let index = tokenIndex(at: equals)
        guard let name = token(index - 1), name.end == equals,
            name.meaning.contains(.credential)
        else { return false }
        return mixes(equals + 1..<chunk.upperBound)
    }

    /// The first token that starts at a position or behind it.
    private func tokenIndex(at position: Int) -> Int {
        var (low, high) = (0, tokens.count)
        while low < high {
            let middle = (low + high) / 2
            if tokens[middle].start < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func isNamed(before index: Int, reach: Int) -> Bool {
        var position = index - 1
        while position >= 0, position >= index - reach {
            if endsSentence(position) { return false }
            if !tokens[position].meaning.isDisjoint(with: [.credential, .scheme]) { return true }
            if !tokens[position].meaning.isDisjoint(with: [.reference, .digest]) { return false }
            position -= 1
        }
        return false
    }

    /// Whether a commit, a checksum or the like is spoken of directly before.
    private func isDigest(around index: Int) -> Bool {
        var position = index - 1
        while position >= 0, position >= index - 4 {
            if !tokens[position].meaning.isDisjoint(with: .credential) { return false }
            if !tokens[position].meaning.isDisjoint(with: .digest) { return true }
            position -= 1
        }
        return false
    }

    /// Standard Base64 with its signs inside or its padding.
    private func looksLikeBase64(_ chunk: Range<Int>) -> Bool {
        let signs = bytes[chunk].contains {
            $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=")
        }
        let others = bytes[chunk].contains {
            $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "~")
        }
        return signs && !others && chunk.count >= 32 && CharacterMix(bytes[chunk]).isMixedCase
    }

    /// Whether a run is as mixed as only keys are; a run that is called a key may be shorter.
    private func looksRandom(_ range: Range<Int>, isNamed: Bool) -> Bool {
        guard range.count >= Self.shortest else { return false }
        let mix = CharacterMix(bytes[range])
        if mix.isHexadecimal { return range.count >= (isNamed ? 16 : 32) }
        if mix.isMixedCase { return range.count >= (isNamed ? 16 : 28) }
        return mix.isMixed && range.count >= (isNamed ? 20 : 40)
    }
}

/// What kinds of characters a run is made of, and how often they change.
struct CharacterMix {
    private var count = 0
    private var digits = 0
    private var small = 0
    private var capitals = 0
    private var hexLetters = 0
    private var signs = 0
    private var changes = 0

    init(_ run: ArraySlice<UInt8>) {
        var previous = 0
        for byte in run {
            count += 1
            let kind: Int
            switch ByteClass(byte) {
            case .digit:
                (kind, digits) = (1, digits + 1)
            case .letter:
                if (byte | 0x20) <= UInt8(ascii: "f") { hexLetters += 1 }
                if byte & 0x20 == 0 { (kind, capitals) = (2, capitals + 1) } else { (kind, small) = (3, small + 1) }
            case .mark, .other, .currency:
                signs += 1
                previous = 0
                continue
            }
            if previous != 0, kind != previous { changes += 1 }
            previous = kind
        }
    }

    /// Hexadecimal digits of one case, as evenly mixed as chance does.
    var isHexadecimal: Bool {
        digits + hexLetters == count && (small == 0 || capitals == 0) && digits * 4 >= count && hexLetters * 10 >= count
    }

    /// Both cases and digits, changing at least at every third character.
    var isMixedCase: Bool {
        digits >= 1 && small >= 3 && capitals >= 3 && changes * 10 >= (count - signs) * 3
    }

    /// One case and digits.
    var isMixed: Bool {
        digits >= 3 && small + capitals >= 4 && changes * 6 >= count - signs
    }
}
