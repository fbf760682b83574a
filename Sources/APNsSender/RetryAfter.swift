import AegisCore

/// Reads `retry-after` (RFC 9110 section 10.2.3): whole seconds, or a moment in the form of RFC 1123.
enum RetryAfter {
    /// Nobody means longer than this.
    private static let longest = Duration.seconds(86_400)
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// The wait from `now` on, from nothing to a day; nil for what is neither form.
    static func duration(_ text: String, at now: UnixTime) -> Duration? {
        let words = text.split { " ,:-".contains($0) }.map { $0.lowercased() }
        if words.count == 1, let seconds = Int64(words[0]) {
            return min(.seconds(max(0, min(seconds, 86_400))), longest)
        }
        // Sun, 06 Nov 1994 08:49:37 GMT
        guard words.count == 8, words[7] == "gmt" || words[7] == "utc",
            let day = Int64(words[1]), let month = months.firstIndex(of: words[2]), let year = Int64(words[3]),
            let hour = Int64(words[4]), let minute = Int64(words[5]), let second = Int64(words[6]),
            (1...31).contains(day), (1970...9999).contains(year), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let days = daysSinceEpoch(year: year, month: Int64(month) + 1, day: day)
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        let wait = UnixTime(milliseconds: seconds * 1_000).since(now)
        return max(.zero, min(wait, longest))
    }

    /// Days of the Gregorian calendar, its years counted from March so that the leap day comes last.
    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted % 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
