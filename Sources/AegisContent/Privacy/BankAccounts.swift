extension Screening {
    /// Whether an international bank account number starts with this token, whole or in groups.
    func isIBAN(from index: Int) -> Bool {
        let start = tokens[index].start
        guard tokens[index].end - start >= 4, ByteClass(bytes[start]) == .letter,
            ByteClass(bytes[start + 1]) == .letter,
            ByteClass(bytes[start + 2]) == .digit, ByteClass(bytes[start + 3]) == .digit,
            let length = BankAccount.length(of: bytes[start] & 0xDF, bytes[start + 1] & 0xDF)
        else { return false }
        var characters: [UInt8] = []
        var position = start
        while characters.count < length {
            let byte = byte(position)
            switch ByteClass(byte) {
            case .letter: characters.append(byte & 0xDF)
            case .digit: characters.append(byte)
            case .mark where byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "."):
                let before = ByteClass(self.byte(position - 1))
                guard before == .letter || before == .digit else { return false }
            case .mark, .other, .currency: return false
            }
            position += 1
        }
        let behind = ByteClass(byte(position))
        return behind != .letter && behind != .digit && BankAccount.checks(characters)
    }
}

/// What makes letters and digits an account number.
enum BankAccount {
    /// The length of a country's numbers.
    ///
    /// - Source: SWIFT, "IBAN Registry".
    static func length(of first: UInt8, _ second: UInt8) -> Int? {
        lengths[UInt16(first) << 8 | UInt16(second)]
    }

    private static let lengths: [UInt16: Int] = {
        let table = """
            AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23\
            GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30\
            NL18NO15PK24PL28PS29PT25QA29RO24RS22SA24SC31SD18SE24SI19SK24SM27SV28TL23TN24TR26UA29VA22VG24XK20
            """
        let bytes = Array(table.utf8)
        var lengths: [UInt16: Int] = [:]
        for start in stride(from: 0, to: bytes.count - 3, by: 4) {
            let tens = Int(bytes[start + 2] &- UInt8(ascii: "0"))
            lengths[UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])] =
                tens * 10 + Int(bytes[start + 3] &- UInt8(ascii: "0"))
        }
        return lengths
    }()

    /// Whether capitals and digits leave 1 modulo 97, the first four moved to the end.
    ///
    /// - Source: ISO 13616-1 with ISO 7064, MOD 97-10.
    static func checks(_ characters: [UInt8]) -> Bool {
        guard characters.count > 4 else { return false }
        var remainder = 0
        for character in characters[4...] + characters[..<4] {
            let value = Int(character &- (character <= UInt8(ascii: "9") ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10))
            remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
        }
        return remainder == 1
    }
}
