import AegisCore
import Foundation
import Synchronization

/// Spells numbers, sums and dates as people of one locale read them, and remembers how.
///
/// Foundation is the authority; what it said of a locale, a currency and a day is kept, so that it is not asked again for each
/// notification. What is written needs no escape in JSON.
final class LocaleFormats: Sendable {
    private let tag: LocaleTag
    private let state = Mutex(State())

    private struct State {
        /// Nil inside: Foundation is asked each time.
        var number: NumberPattern??
        var money: [CurrencyCode: NumberPattern?] = [:]
        /// By style and local day; of the style `time` by local minute.
        var dates: [DateKey: [UInt8]] = [:]
        var moments: MomentPattern??
    }

    private struct DateKey: Hashable {
        var style: TemplateFilter.DateStyle
        var unit: Int64
    }

    /// How many spelled days are remembered; dates come from outside.
    private static let capacity = 8_192

    init(_ tag: LocaleTag) {
        self.tag = tag
    }

    private var locale: Locale { Locale(identifier: tag.text) }

    /// False, and nothing written, for what is no number.
    func appendNumber(_ text: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard let digits = DecimalDigits(text) else { return false }
        let pattern = state.withLock { state in
            if let known = state.number { return known }
            let learned = NumberPattern(places: 0) { $0.formatted(.number.locale(locale)) }
            state.number = .some(learned)
            return learned
        }
        // Foundation rounds at the sixth digit.
        if let pattern, digits.fraction <= 6 {
            pattern.append(digits, to: &bytes)
        } else if let number = Self.decimal(digits) {
            bytes.append(contentsOf: Self.plain(number.formatted(.number.locale(locale))))
        }
        return true
    }

    /// `text` counts the currency's minor units; false, and nothing written, where it is no whole number.
    func appendMoney(_ text: ArraySlice<UInt8>, _ currency: CurrencyCode, to bytes: inout [UInt8]) -> Bool {
        let pattern = state.withLock { state in
            if let known = state.money[currency] { return known }
            // Codes may come from events, so how many are remembered has a bound.
            if state.money.count >= 512 { state.money.removeAll() }
            let places = currency.minorDigits
            let learned = NumberPattern(places: places) { spell($0, currency, places: places) }
            state.money[currency] = .some(learned)
            return learned
        }
        let places = pattern?.places ?? currency.minorDigits
        guard let digits = DecimalDigits(minorUnits: text, places: places) else { return false }
        if let pattern {
            pattern.append(digits, to: &bytes)
        } else if let sum = Self.decimal(digits) {
            bytes.append(contentsOf: Self.plain(spell(sum, currency, places: places)))
        }
        return true
    }

    /// - Parameter offset: What local time is ahead of UTC by, in seconds.
    func appendDate(
        _ time: UnixTime, offset: Int64, style: TemplateFilter.DateStyle, to bytes: inout [UInt8]
    ) {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(offset * 1_000)
        let local = overflow ? time.milliseconds : sum
        switch style {
        case .short, .medium, .long, .full:
            appendUnit(DateKey(style: style, unit: Self.floor(local, 86_400_000)), at: local, to: &bytes)
        case .time:
            let minute = Self.floor(local, 60_000) - Self.floor(local, 86_400_000) * 1_440
            appendUnit(DateKey(style: style, unit: minute), at: local, to: &bytes)
        case .datetime:
            guard let pattern = momentPattern() else {
                bytes.append(contentsOf: Self.plain(spell(local, style)))
                return
            }
            bytes.append(contentsOf: pattern.before)
            appendDate(UnixTime(milliseconds: local), offset: 0, style: pattern.dateFirst ? .medium : .time, to: &bytes)
            bytes.append(contentsOf: pattern.between)
            appendDate(UnixTime(milliseconds: local), offset: 0, style: pattern.dateFirst ? .time : .medium, to: &bytes)
            bytes.append(contentsOf: pattern.after)
        }
    }

    private func appendUnit(_ key: DateKey, at local: Int64, to bytes: inout [UInt8]) {
        let spelled = state.withLock { state in
            if let known = state.dates[key] { return known }
            if state.dates.count >= Self.capacity { state.dates.removeAll(keepingCapacity: true) }
            let spelled = Self.plain(spell(local, key.style))
            state.dates[key] = spelled
            return spelled
        }
        bytes.append(contentsOf: spelled)
    }

    private func momentPattern() -> MomentPattern? {
        state.withLock { state in
            if let known = state.moments { return known }
            let learned = MomentPattern { local, style in spell(local, style) }
            state.moments = .some(learned)
            return learned
        }
    }

    private func spell(_ sum: Decimal, _ currency: CurrencyCode, places: Int) -> String {
        sum.formatted(.currency(code: currency.text).precision(.fractionLength(places)).locale(locale))
    }

    /// `local` is a wall clock's milliseconds since 1970, as if that clock were in UTC.
    private func spell(_ local: Int64, _ style: TemplateFilter.DateStyle) -> String {
        let date: Date.FormatStyle.DateStyle
        let clock: Date.FormatStyle.TimeStyle
        switch style {
        case .short: (date, clock) = (.numeric, .omitted)
        case .medium: (date, clock) = (.abbreviated, .omitted)
        case .long: (date, clock) = (.long, .omitted)
        case .full: (date, clock) = (.complete, .omitted)
        case .time: (date, clock) = (.omitted, .shortened)
        case .datetime: (date, clock) = (.abbreviated, .shortened)
        }
        let format = Date.FormatStyle(date: date, time: clock, locale: locale, timeZone: .gmt)
        return Date(timeIntervalSince1970: Double(local) / 1_000).formatted(format)
    }

    /// Leaves out what JSON would escape; no locale is known to write any of it.
    private static func plain(_ text: String) -> [UInt8] {
        text.utf8.filter { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    private static func decimal(_ digits: DecimalDigits) -> Decimal? {
        Decimal(string: digits.text, locale: Locale(identifier: "en_US_POSIX"))
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }
}

/// How a locale joins a day and a time of day.
private struct MomentPattern: Sendable {
    var before: [UInt8]
    var between: [UInt8]
    var after: [UInt8]
    var dateFirst: Bool

    /// Nil where a moment is not always the spelled day and the spelled time with the same text around.
    init?(_ spell: (Int64, TemplateFilter.DateStyle) -> String) {
        var found: [String]?
        var isDateFirst = true
        for month in Int64(0)..<24 {
            // Another day, hour and minute each time.
            let local = 1_767_225_600_000 + (month * 30 + month % 7) * 86_400_000 + (month * 67 % 1_440) * 60_000
            let whole = spell(local, .datetime)
            let day = spell(local, .medium)
            let time = spell(local, .time)
            guard let dayRange = whole.firstRange(of: day), let timeRange = whole.firstRange(of: time),
                !dayRange.overlaps(timeRange)
            else { return nil }
            isDateFirst = dayRange.lowerBound < timeRange.lowerBound
            let (first, second) = isDateFirst ? (dayRange, timeRange) : (timeRange, dayRange)
            let parts = [
                String(whole[..<first.lowerBound]), String(whole[first.upperBound..<second.lowerBound]),
                String(whole[second.upperBound...]), isDateFirst ? "date" : "time",
            ]
            if let found, found != parts { return nil }
            found = parts
        }
        guard let found else { return nil }
        before = Array(found[0].utf8)
        between = Array(found[1].utf8)
        after = Array(found[2].utf8)
        dateFirst = isDateFirst
    }
}
