/// The words that the rules know, and the cutting of a text into tokens that carry their meaning.
///
/// Words are found by a 64-bit hash of their small letters, in an open-addressed table; words of scripts that put no
/// blanks between words are looked for from each character on, the longest first.
struct Vocabulary: Sendable {
    private var hashes: [UInt64]
    private var meanings: [Meaning]
    private var unspaced: [UnspacedWord] = []
    private let compoundTails = WordLists.compoundEndings.map { tail(of: $0.ending, at: $0.ending.count) }
    private static let slots = 8_192

    private struct UnspacedWord: Sendable {
        let head: UInt32
        let bytes: [UInt8]
        let meaning: Meaning
    }

    init() {
        hashes = Array(repeating: 0, count: Self.slots)
        meanings = Array(repeating: [], count: Self.slots)
        for (words, meaning) in WordLists.spaced {
            for word in words.utf8.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }) {
                let spelling = Array(word)
                let folded = FoldedText(spelling.span).bytes
                add(Self.hash(of: folded, from: 0, to: folded.count), meaning)
            }
        }
        for (words, meaning) in WordLists.unspaced {
            for word in words.utf8.split(separator: UInt8(ascii: " ")) {
                let bytes = Array(word)
                unspaced.append(UnspacedWord(head: Self.head(of: bytes, at: 0), bytes: bytes, meaning: meaning))
            }
        }
        unspaced.sort { ($0.head, $1.bytes.count) < ($1.head, $0.bytes.count) }
    }

    private mutating func add(_ hash: UInt64, _ meaning: Meaning) {
        var slot = Int(truncatingIfNeeded: hash) & (Self.slots - 1)
        while hashes[slot] != 0, hashes[slot] != hash { slot = (slot + 1) & (Self.slots - 1) }
        hashes[slot] = hash
        meanings[slot].formUnion(meaning)
    }

    /// FNV-1a over small letters; never zero.
    private static func hash(of bytes: [UInt8], from start: Int, to end: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in start..<end {
            let byte = bytes[index]
            let small = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
            hash = (hash ^ UInt64(small)) &* 0x100_0000_01B3
        }
        return hash | 1
    }

    private func meaning(of hash: UInt64) -> Meaning {
        var slot = Int(truncatingIfNeeded: hash) & (Self.slots - 1)
        while hashes[slot] != 0 {
            if hashes[slot] == hash { return meanings[slot] }
            slot = (slot + 1) & (Self.slots - 1)
        }
        return []
    }

    /// The first three bytes of a character.
    private static func head(of bytes: [UInt8], at position: Int) -> UInt32 {
        guard position + 2 < bytes.count else { return 0 }
        return UInt32(bytes[position]) << 16 | UInt32(bytes[position + 1]) << 8 | UInt32(bytes[position + 2])
    }

    // MARK: Tokens

    func tokens(of bytes: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        tokens.reserveCapacity(bytes.count / 4 + 4)
        var gap = Token.Gap.none
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte <= UInt8(ascii: " ") {
                gap = gap == .none && byte == UInt8(ascii: " ") ? .blank : .wide
                position += 1
                continue
            }
            let token = token(in: bytes, at: position, gap: gap)
            tokens.append(token)
            position = token.end
            gap = .none
        }
        return tokens
    }

    private func token(in bytes: [UInt8], at start: Int, gap: Token.Gap) -> Token {
        var end = start + 1
        switch ByteClass(bytes[start]) {
        case .mark:
            return Token(start: start, end: end, kind: .mark, gap: gap, meaning: [])
        case .currency:
            return Token(start: start, end: end, kind: .currency, gap: gap, meaning: [])
        case .other:
            while end < bytes.count, ByteClass(bytes[end]) == .other { end += 1 }
            var meaning = meaning(of: Self.hash(of: bytes, from: start, to: end))
            if meaning.isEmpty, bytes[start] >= 0xE3 { meaning = unspacedMeaning(in: bytes, from: start, to: end) }
            return Token(start: start, end: end, kind: .other, gap: gap, meaning: meaning)
        case .letter, .digit:
            var hasLetter = false
            var hasDigit = false
            end = start
            while end < bytes.count {
                let kind = ByteClass(bytes[end])
                if kind == .letter {
                    hasLetter = true
                } else if kind == .digit {
                    hasDigit = true
                } else {
                    break
                }
                end += 1
            }
            guard hasLetter else { return Token(start: start, end: end, kind: .number, gap: gap, meaning: []) }
            // No word that the rules know is longer.
            let isShort = end - start <= 32
            var meaning = isShort ? meaning(of: Self.hash(of: bytes, from: start, to: end)) : []
            if meaning.isEmpty, isShort, !hasDigit { meaning = compoundMeaning(in: bytes, from: start, to: end) }
            return Token(start: start, end: end, kind: hasDigit ? .mixed : .word, gap: gap, meaning: meaning)
        }
    }

    /// Languages that write compounds in one word make new ones at will: the last part says what it is.
    private func compoundMeaning(in bytes: [UInt8], from start: Int, to end: Int) -> Meaning {
        guard end - start > 4, compoundTails.contains(Self.tail(of: bytes, at: end)) else { return [] }
        for (ending, meaning) in WordLists.compoundEndings where end - start > ending.count + 1 {
            if ending.indices.allSatisfy({ bytes[end - ending.count + $0] | 0x20 == ending[$0] }) { return meaning }
        }
        return []
    }

    /// The last three letters, small.
    private static func tail(of bytes: [UInt8], at end: Int) -> UInt32 {
        head(of: bytes, at: end - 3) | 0x20_2020
    }

    /// The meaning of the last known word in a run of characters.
    private func unspacedMeaning(in bytes: [UInt8], from start: Int, to end: Int) -> Meaning {
        var meaning: Meaning = []
        var position = start
        while position + 2 < end {
            guard let word = unspacedWord(in: bytes, at: position, to: end) else {
                position += bytes[position] < 0xE0 ? 1 : bytes[position] < 0xF0 ? 3 : 4
                continue
            }
            meaning = word.meaning
            position += word.bytes.count
        }
        return meaning
    }

    private func unspacedWord(in bytes: [UInt8], at position: Int, to end: Int) -> UnspacedWord? {
        let head = Self.head(of: bytes, at: position)
        var (low, high) = (0, unspaced.count)
        while low < high {
            let middle = (low + high) / 2
            if unspaced[middle].head < head { low = middle + 1 } else { high = middle }
        }
        while low < unspaced.count, unspaced[low].head == head {
            let word = unspaced[low]
            if position + word.bytes.count <= end,
                word.bytes.indices.allSatisfy({ word.bytes[$0] == bytes[position + $0] })
            {
                return word
            }
            low += 1
        }
        return nil
    }
}

/// What a byte of a folded text can be part of.
enum ByteClass {
    case letter, digit, other, currency, mark

    @inline(__always)
    init(_ byte: UInt8) {
        if byte &- UInt8(ascii: "0") < 10 {
            self = .digit
        } else if (byte | 0x20) &- UInt8(ascii: "a") < 26 {
            self = .letter
        } else if byte == FoldedText.currencySign || byte == UInt8(ascii: "$") {
            self = .currency
        } else {
            self = byte >= 0x80 ? .other : .mark
        }
    }
}
