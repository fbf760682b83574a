/// An ISO 4217 code of three letters, packed so that it is compared and hashed as a number.
struct CurrencyCode: Hashable, Sendable {
    private let packed: UInt32

    /// Nil for other than three ASCII letters, in either case.
    init?(_ utf8: some Collection<UInt8>) {
        guard utf8.count == 3 else { return nil }
        var packed: UInt32 = 0
        for byte in utf8 {
            let upper = byte & 0xDF
            guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(upper) else { return nil }
            packed = packed << 8 | UInt32(upper)
        }
        self.packed = packed
    }

    var text: String {
        String(decoding: [16, 8, 0].map { UInt8(truncatingIfNeeded: packed >> $0) }, as: UTF8.self)
    }

    /// How many digits the minor unit has.
    ///
    /// - Source: ISO 4217, list one.
    var minorDigits: Int {
        switch text {
        case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
            "XOF", "XPF":
            0
        case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND": 3
        case "CLF", "UYW": 4
        default: 2
        }
    }
}
