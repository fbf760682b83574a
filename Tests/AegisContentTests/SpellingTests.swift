import AegisContent
import AegisCore
import AegisTestKit
import Foundation
import Testing

/// How one locale spells the same values.
struct Spelled: Sendable, CustomTestStringConvertible {
    var locale: String
    var number: String
    var euros: String
    var yen: String
    var short: String
    var moment: String
    var full: String

    var testDescription: String { locale }

    init(
        _ locale: String, number: String, euros: String, yen: String, short: String, moment: String, full: String
    ) {
        self.locale = locale
        self.number = number
        self.euros = euros
        self.yen = yen
        self.short = short
        self.moment = moment
        self.full = full
    }

    static let all = [
        Spelled(
            "en", number: "-1,234,567.5", euros: "€1,234,567.89", yen: "¥12,345",
            short: "1/3/2026", moment: "Jan 3, 2026 at 12:30\u{202F}AM", full: "Saturday, January 3, 2026"),
        Spelled(
            "en-GB", number: "-1,234,567.5", euros: "€1,234,567.89", yen: "JP¥12,345",
            short: "03/01/2026", moment: "3 Jan 2026 at 0:30", full: "Saturday, 3 January 2026"),
        Spelled(
            "de", number: "-1.234.567,5", euros: "1.234.567,89\u{A0}€", yen: "12.345\u{A0}¥",
            short: "3.1.2026", moment: "3. Jan. 2026, 0:30", full: "Samstag, 3. Januar 2026"),
        Spelled(
            "de-AT", number: "-1.234.567,5", euros: "€\u{A0}1.234.567,89", yen: "¥\u{A0}12.345",
            short: "3.1.2026", moment: "3. Jän. 2026, 0:30", full: "Samstag, 3. Jänner 2026"),
        Spelled(
            "fr", number: "-1\u{202F}234\u{202F}567,5", euros: "1\u{202F}234\u{202F}567,89\u{A0}€",
            yen: "12\u{202F}345\u{A0}JPY",
            short: "03/01/2026", moment: "3 janv. 2026 à 0:30", full: "samedi 3 janvier 2026"),
        Spelled(
            "es", number: "-1.234.567,5", euros: "1.234.567,89\u{A0}€", yen: "12.345\u{A0}JPY",
            short: "3/1/2026", moment: "3 ene 2026, 0:30", full: "sábado, 3 de enero de 2026"),
        Spelled(
            "it", number: "-1.234.567,5", euros: "1.234.567,89\u{A0}€", yen: "12.345\u{A0}JPY",
            short: "03/01/2026", moment: "3 gen 2026, 0:30", full: "sabato 3 gennaio 2026"),
        Spelled(
            "pt-BR", number: "-1.234.567,5", euros: "€\u{A0}1.234.567,89", yen: "JP¥\u{A0}12.345",
            short: "03/01/2026", moment: "3 de jan. de 2026, 0:30", full: "sábado, 3 de janeiro de 2026"),
        Spelled(
            "nl", number: "-1.234.567,5", euros: "€\u{A0}1.234.567,89", yen: "JP¥\u{A0}12.345",
            short: "3-1-2026", moment: "3 jan 2026, 0:30", full: "zaterdag 3 januari 2026"),
        Spelled(
            "pl", number: "-1\u{A0}234\u{A0}567,5", euros: "1\u{A0}234\u{A0}567,89\u{A0}€", yen: "12\u{A0}345\u{A0}JPY",
            short: "3.01.2026", moment: "3 sty 2026 o 0:30", full: "sobota, 3 stycznia 2026"),
        Spelled(
            "ja", number: "-1,234,567.5", euros: "€1,234,567.89", yen: "¥12,345",
            short: "2026/1/3", moment: "2026年1月3日 0:30", full: "2026年1月3日 土曜日"),
        Spelled(
            "zh", number: "-1,234,567.5", euros: "€1,234,567.89", yen: "JP¥12,345",
            short: "2026/1/3", moment: "2026年1月3日 0:30", full: "2026年1月3日 星期六"),
        Spelled(
            "ar", number: "\u{200E}-1,234,567.5", euros: "\u{200F}1,234,567.89\u{A0}€", yen: "\u{200F}12,345\u{A0}JP¥",
            short: "3\u{200F}/1\u{200F}/2026", moment: "3 يناير، 2026، 12:30\u{A0}ص", full: "السبت، 3 يناير، 2026"),
        Spelled(
            "hi", number: "-12,34,567.5", euros: "€12,34,567.89", yen: "JP¥12,345",
            short: "3/1/2026", moment: "3 जन॰ 2026, पू 12:30", full: "शनिवार, 3 जनवरी 2026"),
    ]
}

@Suite struct SpellingTests {
    private static let locales =
        Spelled.all.map(\.locale) + [
            "ar-EG", "fa", "en-IN", "de-CH", "fr-CH", "sv", "he", "tr", "th", "cs", "ru", "uk", "pt-PT", "es-MX", "ko",
            "fi", "lt",
            "bn", "zz-unknown",
        ]

    @Test(arguments: Spelled.all) func `numbers, sums and dates are spelled as the locale does, byte for byte`(
        spelled: Spelled
    ) throws {
        let data = #"{"n":-1234567.5,"eur":123456789,"jpy":12345,"at":"2026-01-02T23:30:00Z"}"#
        for (template, expected) in [
            ("{{n | number}}", spelled.number), ("{{eur | money(EUR)}}", spelled.euros),
            ("{{jpy | money(JPY)}}", spelled.yen), ("{{at | date(short)}}", spelled.short),
            ("{{at | date(datetime)}}", spelled.moment), ("{{at | date(full)}}", spelled.full),
        ] {
            let text = try Sample.body(template, data, locale: spelled.locale, zone: "Europe/Berlin")
            #expect(Array(text.utf8) == Array(expected.utf8), "\(template)")
        }
    }

    @Test(arguments: locales) func `what was learned of numbers spells any number as Foundation does`(tag: String)
        throws
    {
        var generator = SeededGenerator(seed: 7)
        let locale = Locale(identifier: tag)
        for _ in 0..<8 {
            let digits = Int.random(in: 1...15, using: &generator)
            let number =
                Int64.random(in: 0..<(1 << (digits * 3)), using: &generator) * (Bool.random(using: &generator) ? 1 : -1)
            let fraction = ["", ".5", ".25", ".123456", ".1234567", ".000001"].randomElement(using: &generator) ?? ""
            let decimal = try #require(
                Decimal(string: "\(number)\(fraction)", locale: Locale(identifier: "en_US_POSIX")))
            let data = "{\"n\":\(number)\(fraction),\"m\":\(number)}"
            #expect(
                try Sample.body("{{n | number}}", data, locale: tag) == decimal.formatted(.number.locale(locale)))
            for (code, places) in [("EUR", 2), ("USD", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4)] {
                let sum = Decimal(sign: .plus, exponent: -places, significand: Decimal(number))
                #expect(
                    try Sample.body("{{m | money(\(code))}}", data, locale: tag)
                        == sum.formatted(.currency(code: code).precision(.fractionLength(places)).locale(locale)))
            }
        }
    }

    @Test(arguments: locales) func `days and moments are those of the reader's zone as Foundation spells them`(
        tag: String
    ) throws {
        var generator = SeededGenerator(seed: 11)
        for zone in ["Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia"] {
            let timeZone = try #require(TimeZone(identifier: zone))
            for _ in 0..<4 {
                let milliseconds = Int64.random(in: 0..<4_102_444_800_000, using: &generator)
                for (name, date, time) in [
                    ("short", Date.FormatStyle.DateStyle.numeric, Date.FormatStyle.TimeStyle.omitted),
                    ("long", .long, .omitted), ("time", .omitted, .shortened), ("datetime", .abbreviated, .shortened),
                ] {
                    let style = Date.FormatStyle(
                        date: date, time: time, locale: Locale(identifier: tag), timeZone: timeZone)
                    #expect(
                        try Sample.body(
                            "{{t | date(\(name))}}",
                            "{\"t\":\"\(Timestamp.rfc3339(UnixTime(milliseconds: milliseconds)))\"}",
                            locale: tag, zone: zone)
                            == Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(style))
                }
            }
        }
    }

    @Test(arguments: [
        ("JPY", "¥1,234,567"), ("KRW", "₩1,234,567"), ("KWD", "KWD\u{A0}1,234.567"), ("TND", "TND\u{A0}1,234.567"),
        ("EUR", "€12,345.67"), ("XAF", "FCFA\u{A0}1,234,567"), ("CLF", "CLF\u{A0}123.4567"),
    ]) func `minor units have the currency's own number of digits`(code: String, expected: String) throws {
        #expect(try Sample.body("{{m | money(\(code))}}", #"{"m":1234567}"#) == expected)
    }

    @Test(arguments: [("5", "€0.05"), ("-5", "-€0.05"), ("0", "€0.00"), ("-0", "€0.00"), ("100", "€1.00")])
    func `small sums keep their zeros`(units: String, expected: String) throws {
        #expect(try Sample.body("{{m | money(EUR)}}", "{\"m\":\"\(units)\"}") == expected)
    }
}
