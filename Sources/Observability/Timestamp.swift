import AegisCore

/// A moment as RFC 3339 writes it: in UTC, with milliseconds.
///
/// Moments outside the years 0 to 9999, which RFC 3339 cannot write, become its first or last.
struct Timestamp {
    let text: String

    init(_ time: UnixTime) {
        let milliseconds = min(max(time.milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let day = Int(UnixTime(milliseconds: milliseconds).day.number)
        let rest = Int(milliseconds) - day * 86_400_000
        let (year, month, dayOfMonth) = Self.civil(daysSince1970: day)
        let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60)
        let (seconds, fraction) = (rest / 1_000 % 60, rest % 1_000)
        text =
            "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))"
            + "T\(Self.padded(hours, 2)):\(Self.padded(minutes, 2)):\(Self.padded(seconds, 2))"
            + ".\(Self.padded(fraction, 3))Z"
    }

    /// The proleptic Gregorian date of a day, counted in cycles of 400 years that begin in March, so that the leap day is
    /// the last of a year.
    private static func civil(daysSince1970 day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}
