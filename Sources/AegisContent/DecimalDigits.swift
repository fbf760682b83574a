/// A plain decimal number as its digits: what formatting needs, without arithmetic.
///
/// - Shape: at most 38 digits, a sign before them, one point among them; no exponent, no grouping.
struct DecimalDigits {
    /// Values 0 to 9, without leading zeros but for the one before the point.
    private(set) var digits = InlineArray<48, UInt8>(repeating: 0)
    private(set) var count = 0
    /// How many of the digits stand after the point.
    private(set) var fraction = 0
    private(set) var isNegative = false

    /// Nil for what is no such number.
    init?(_ text: ArraySlice<UInt8>) {
        var seen = 0
        var hasPoint = false
        for index in text.indices {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                seen += 1
                guard seen <= 38 else { return nil }
                if count == 0, byte == UInt8(ascii: "0"), !hasPoint { continue }
                digits[count] = byte &- UInt8(ascii: "0")
                count += 1
                if hasPoint { fraction += 1 }
            case UInt8(ascii: "."):
                guard !hasPoint else { return nil }
                hasPoint = true
                // A number below one keeps a zero to stand before its point.
                if count == 0 { count = 1 }
            case UInt8(ascii: "-"):
                guard index == text.startIndex else { return nil }
                isNegative = true
            default:
                return nil
            }
        }
        guard seen > 0 else { return nil }
        if count == 0 { count = 1 }
        while fraction > 0, digits[count - 1] == 0 {
            count -= 1
            fraction -= 1
        }
        if isZero { isNegative = false }
    }

    private var isZero: Bool {
        for index in 0..<count where digits[index] != 0 { return false }
        return true
    }

    /// Reads a whole number of minor units as a sum with `places` digits after the point.
    ///
    /// Nil for what is no whole number.
    init?(minorUnits text: ArraySlice<UInt8>, places: Int) {
        self.init(text)
        guard fraction == 0, text.count <= 28, !text.contains(UInt8(ascii: ".")) else { return nil }
        let missing = places + 1 - count
        if missing > 0 {
            for index in (0..<count).reversed() { digits[index + missing] = digits[index] }
            for index in 0..<missing { digits[index] = 0 }
            count += missing
        }
        fraction = places
    }

    /// One more digit after the point.
    mutating func appendZero() {
        guard count < digits.count else { return }
        digits[count] = 0
        count += 1
        fraction += 1
    }

    /// The number as plain text, for formatters that want it so.
    var text: String {
        var text = isNegative ? "-" : ""
        for index in 0..<count {
            if index == count - fraction { text += "." }
            text += String(digits[index])
        }
        return text
    }
}
