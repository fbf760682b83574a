import AegisCore
import Foundation

/// Writes numbers, sums and dates as a person reads them.
///
/// Foundation keeps its formatters by style and locale, so a style made anew costs no formatter.
struct ValueFormatter: Sendable {
    private let tag: LocaleTag
    private let zone: String?
    private let zones: ZoneRules

    /// - Parameter zone: An IANA name; nil or unknown takes UTC.
    init(locale: LocaleTag, zone: String?, zones: ZoneRules) {
        tag = locale
        self.zone = zone
        self.zones = zones
    }

    // Found when asked for: most templates format nothing.
    private var locale: Locale { Locale(identifier: tag.text) }
    private var timeZone: TimeZone { zone.flatMap { zones.timeZone($0) } ?? .gmt }

    /// Nil for what is no number.
    func number(_ text: String) -> String? {
        Self.decimal(text)?.formatted(.number.locale(locale))
    }

    /// `text` counts the currency's minor units; nil where it is no whole number.
    func money(_ text: String, currency: String) -> String? {
        guard text.utf8.count <= 28, let units = Self.decimal(text), !text.contains(".") else { return nil }
        let digits = Self.minorDigits(of: currency)
        let sum = Decimal(sign: .plus, exponent: -digits, significand: units)
        return sum.formatted(.currency(code: currency).precision(.fractionLength(digits)).locale(locale))
    }

    func date(_ time: UnixTime, style: TemplateFilter.DateStyle) -> String {
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
        let format = Date.FormatStyle(date: date, time: clock, locale: locale, timeZone: timeZone)
        return Date(timeIntervalSince1970: Double(time.milliseconds) / 1_000).formatted(format)
    }

    /// A plain decimal of at most 38 digits, which is what `Decimal` holds exactly.
    private static func decimal(_ text: String) -> Decimal? {
        var digits = 0
        var points = 0
        for (index, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "."): points += 1
            case UInt8(ascii: "-") where index == 0: continue
            default: return nil
            }
        }
        guard (1...38).contains(digits), points <= 1 else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// How many digits the minor unit has.
    ///
    /// - Source: ISO 4217, list one.
    private static func minorDigits(of currency: String) -> Int {
        switch currency {
        case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
            "XOF", "XPF":
            0
        case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND": 3
        default: 2
        }
    }
}
