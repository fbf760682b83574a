/// Moments as publishers write them.
///
/// - Shape: RFC 3339 with 0 to 9 fraction digits and any offset, RFC 1123, and seconds, milliseconds, microseconds or
///   nanoseconds since 1970 told apart by magnitude; a decimal fraction means seconds. What is finer than a millisecond is cut.
/// - Range: 1970 to 9999 for counts, 0000 to 9999 for dates.
package enum Timestamp {
    /// Reads any of the forms; nil for anything else, a naive time among it unless its offset is known.
    ///
    /// - Parameter naiveOffset: What a time without an offset is ahead of UTC by.
    package static func parse(_ text: String, naiveOffset: Duration? = nil) -> UnixTime? {
        parse(utf8: Array(text.utf8)[...], naiveOffset: naiveOffset)
    }

    /// The same of a text that stands among other bytes.
    package static func parse(utf8 bytes: ArraySlice<UInt8>, naiveOffset: Duration? = nil) -> UnixTime? {
        guard let first = bytes.first, bytes.count <= 64 else { return nil }
        guard TextCursor.isDigit(first) else { return rfc1123(bytes) }
        if bytes.count > 4, bytes[bytes.startIndex + 4] == UInt8(ascii: "-") {
            return rfc3339(bytes, naiveOffset: naiveOffset)
        }
        return epoch(bytes)
    }

    /// The strict form of RFC 3339, which always has an offset.
    package static func parseRFC3339(_ text: String) -> UnixTime? {
        guard text.utf8.count <= 64 else { return nil }
        return rfc3339(Array(text.utf8)[...], naiveOffset: nil)
    }

    /// RFC 3339 in UTC, with milliseconds where there are any; moments outside the years 0000 to 9999 stay at their ends.
    package static func rfc3339(_ time: UnixTime, alwaysMilliseconds: Bool = false) -> String {
        let clamped = min(max(time.milliseconds, earliest), latest)
        let (days, milliseconds) = flooredDivision(clamped, by: 86_400_000)
        let date = CivilDate(daysSince1970: days)
        let seconds = milliseconds / 1_000
        var text: [UInt8] = []
        text.reserveCapacity(24)
        append(date.year, width: 4, to: &text)
        for (mark, value) in [
            ("-", date.month), ("-", date.day), ("T", seconds / 3_600), (":", seconds / 60 % 60), (":", seconds % 60),
        ] {
            text.append(contentsOf: mark.utf8)
            append(value, width: 2, to: &text)
        }
        if alwaysMilliseconds || milliseconds % 1_000 != 0 {
            text.append(UInt8(ascii: "."))
            append(milliseconds % 1_000, width: 3, to: &text)
        }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    private static let earliest: Int64 = -62_167_219_200_000
    private static let latest: Int64 = 253_402_300_799_999

    fileprivate static func flooredDivision(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = value % divisor
        return remainder < 0 ? (value / divisor - 1, remainder + divisor) : (value / divisor, remainder)
    }

    private static func append(_ value: Int64, width: Int, to text: inout [UInt8]) {
        let digits = String(value).utf8
        for _ in 0..<max(0, width - digits.count) { text.append(UInt8(ascii: "0")) }
        text.append(contentsOf: digits)
    }

    private static func rfc3339(_ bytes: ArraySlice<UInt8>, naiveOffset: Duration?) -> UnixTime? {
        var cursor = TextCursor(bytes)
        guard let year = cursor.number(digits: 4), cursor.take("-"), let month = cursor.number(digits: 2),
            cursor.take("-"), let day = cursor.number(digits: 2),
            cursor.take("T") || cursor.take("t") || cursor.take(" "),
            let clock = cursor.clock(), let fraction = cursor.fraction(),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        let offset: Int64
        if cursor.take("Z") || cursor.take("z") {
            offset = 0
        } else if cursor.isAtEnd {
            guard let naiveOffset else { return nil }
            offset = naiveOffset.wholeMilliseconds / 1_000
        } else {
            guard let written = cursor.offset(separator: ":") else { return nil }
            offset = written
        }
        guard cursor.isAtEnd else { return nil }
        return moment(date, seconds: clock &- offset, milliseconds: fraction)
    }

    /// Such as `Fri, 2 Jan 2026 03:04:05 GMT`; the weekday is not compared with the date.
    private static func rfc1123(_ bytes: ArraySlice<UInt8>) -> UnixTime? {
        var cursor = TextCursor(bytes)
        guard cursor.word(of: weekdays) != nil, cursor.take(","), cursor.take(" "),
            let day = cursor.number(digits: 2) ?? cursor.number(digits: 1), cursor.take(" "),
            let month = cursor.word(of: months), cursor.take(" "), let year = cursor.number(digits: 4),
            cursor.take(" "), let clock = cursor.clock(), cursor.take(" "),
            let date = CivilDate(year: year, month: Int64(month + 1), day: day)
        else { return nil }
        let offset: Int64
        if cursor.word(of: ["GMT", "UTC"]) != nil {
            offset = 0
        } else {
            guard let written = cursor.offset(separator: nil) else { return nil }
            offset = written
        }
        guard cursor.isAtEnd else { return nil }
        return moment(date, seconds: clock &- offset, milliseconds: 0)
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func moment(_ date: CivilDate, seconds: Int64, milliseconds: Int64) -> UnixTime? {
        let total = (date.daysSince1970 * 86_400 + seconds) * 1_000 + milliseconds
        return (earliest...latest).contains(total) ? UnixTime(milliseconds: total) : nil
    }

    /// The borders lie where no plausible moment is: 10¹¹ seconds are the year 5138, 10¹¹ milliseconds are 1973.
    private static func epoch(_ bytes: ArraySlice<UInt8>) -> UnixTime? {
        var cursor = TextCursor(bytes)
        guard let whole = cursor.number(atMost: 19) else { return nil }
        let milliseconds: Int64
        if cursor.isAtEnd {
            switch whole {
            case ..<100_000_000_000: milliseconds = whole * 1_000
            case ..<100_000_000_000_000: milliseconds = whole
            case ..<100_000_000_000_000_000: milliseconds = whole / 1_000
            default: milliseconds = whole / 1_000_000
            }
        } else {
            guard let fraction = cursor.fraction(), cursor.isAtEnd, whole < 100_000_000_000_000 else { return nil }
            milliseconds = whole * 1_000 + fraction
        }
        return milliseconds <= latest ? UnixTime(milliseconds: milliseconds) : nil
    }
}

/// A day of the proleptic Gregorian calendar.
private struct CivilDate {
    let year: Int64
    let month: Int64
    let day: Int64

    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month) else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let length: Int64 =
            switch month {
            case 2: isLeap ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        guard (1...length).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Counts in eras of 400 years that begin on the first of March, so that the leap day comes last.
    init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = Timestamp.flooredDivision(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = Timestamp.flooredDivision(shiftedYear, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// A place in a short text; what does not fit leaves it where it is.
package struct TextCursor {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    package var isAtEnd: Bool { position >= bytes.endIndex }

    package static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    package mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard !isAtEnd, UInt32(bytes[position]) == mark.value else { return false }
        position += 1
        return true
    }

    /// A number of exactly so many digits.
    package mutating func number(digits: Int) -> Int64? {
        guard position + digits <= bytes.endIndex else { return nil }
        for index in position..<position + digits where !Self.isDigit(bytes[index]) { return nil }
        return number(atMost: digits)
    }

    /// A number of 1 to 19 digits; nil where it has more than `limit` or does not fit.
    package mutating func number(atMost limit: Int) -> Int64? {
        var value: Int64 = 0
        var end = position
        while end < bytes.endIndex, end - position < limit, Self.isDigit(bytes[end]) {
            let (shifted, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = shifted.addingReportingOverflow(Int64(bytes[end] &- UInt8(ascii: "0")))
            guard !overflowed, !carried else { return nil }
            value = sum
            end += 1
        }
        guard end > position else { return nil }
        position = end
        return value
    }

    /// One of some words of ASCII letters, in any case; its index.
    package mutating func word(of words: [String]) -> Int? {
        for (index, word) in words.enumerated() {
            let letters = word.utf8
            guard position + letters.count <= bytes.endIndex,
                zip(bytes[position...], letters).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
            else { continue }
            position += letters.count
            return index
        }
        return nil
    }

    /// `HH:MM:SS` in seconds; a leap second counts as the next minute's first.
    package mutating func clock() -> Int64? {
        guard let hours = number(digits: 2), hours < 24, take(":"), let minutes = number(digits: 2), minutes < 60,
            take(":"), let seconds = number(digits: 2), seconds <= 60
        else { return nil }
        return hours * 3_600 + minutes * 60 + seconds
    }

    /// A point and 1 to 9 digits in whole milliseconds, or nothing at all, which is 0.
    package mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var milliseconds: Int64 = 0
        var weight: Int64 = 100
        var count = 0
        while !isAtEnd, count < 9, Self.isDigit(bytes[position]) {
            milliseconds += Int64(bytes[position] &- UInt8(ascii: "0")) * weight
            weight /= 10
            count += 1
            position += 1
        }
        return count > 0 ? milliseconds : nil
    }

    /// `+HH:MM` or, without a separator, `+HHMM`, in seconds.
    package mutating func offset(separator: Unicode.Scalar?) -> Int64? {
        let sign: Int64
        if take("+") {
            sign = 1
        } else if take("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hours = number(digits: 2), hours < 24 else { return nil }
        if let separator, !take(separator) { return nil }
        guard let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }
}
