import AegisContent
import AegisCore
import Testing

@Suite struct TemplateTests {
    private func plain(_ text: String) -> String {
        // CLDR writes narrow and unbreakable blanks, which vary between versions.
        String(text.map { "\u{A0}\u{202F}".contains($0) ? " " : $0 })
    }

    @Test func `places take values by path, the reserved ones too`() throws {
        let data = #"{"a":{"b":[{"c":"x \"y\" é"}]},"n":12345678901234567890,"t":true,"event":{"id":"shadow"}}"#
        #expect(
            try Sample.body("<{{a.b.0.c}}|{{ n }}|{{t}}|{{event.id}}|{{event.type}}|{{user.id}}>", data)
                == #"<x "y" é|12345678901234567890|true|evt-1|Shop.OrderPaid|user-42>"#)
    }

    @Test(arguments: [
        ("{{s | money(EUR)}}", "en", "€1,234.56"), ("{{s|money(cur)}}", "de", "1.234,56 €"),
        ("{{s | money(\"JPY\")}}", "en", "¥123,456"), ("{{s | money(KWD)}}", "en", "KWD 123.456"),
        ("{{x | number}}", "fr", "1 234 567,5"), ("{{x | number}}", "en", "1,234,567.5"),
        ("{{one | plural(one: \"# item\", other: \"# items\")}}", "en", "1 item"),
        ("{{s | plural(one: \"# item\", other: \"# items\")}}", "en", "123,456 items"),
        ("{{two | plural(one: \"# rok\", few: \"# roky\", other: \"# let\")}}", "cs", "2 roky"),
        ("{{name | truncate(4)}}", "en", "👨‍👩‍👧‍👦ab…"), ("{{name | truncate(5)}}", "en", "👨‍👩‍👧‍👦abcd"),
        ("{{nothing | default(\"a \\\"b\\\"\")}}", "en", "a \"b\""),
        ("{{null | money(EUR) | default(\"free\")}}", "en", "free"),
        ("{{name | default(\"no\") | truncate(2)}}", "en", "👨‍👩‍👧‍👦…"),
    ]) func `filters format in the recipient's locale`(source: String, locale: String, expected: String) throws {
        let data = #"{"s":123456,"cur":"EUR","x":1234567.5,"one":1,"two":"2","name":"👨‍👩‍👧‍👦abcd","null":null}"#
        #expect(plain(try Sample.body(source, data, locale: locale)) == expected)
    }

    @Test func `dates are written in the recipient's zone`() throws {
        let data = #"{"at":"2026-01-02T23:30:00Z","ms":1767396600000}"#
        #expect(plain(try Sample.body("{{at | date(long)}}", data)) == "January 2, 2026")
        #expect(
            plain(try Sample.body("{{at | date(long)}}", data, locale: "de", zone: "Europe/Berlin")) == "3. Januar 2026"
        )
        #expect(plain(try Sample.body("{{ms | date(time)}}", data, locale: "de", zone: "Asia/Kathmandu")) == "5:15")
        #expect(plain(try Sample.body("{{at | date(time)}}", data, locale: "de", zone: "Mars/Base")) == "23:30")
    }

    @Test(arguments: [
        ("{{gone.deep}}", "gone.deep is missing"), ("{{o}}", "o is an object, not a text"),
        ("{{t | money(EUR)}}", "t is no whole number of minor units"),
        ("{{f | money(EUR)}}", "f is no whole number of minor units"),
        ("{{t | number}}", "t is no number"), ("{{t | date(short)}}", "t is no time"),
        ("{{n | money(t)}}", "t is no currency code"),
        ("{{n | money(gone)}}", "gone is missing"), ("{{t | plural(other: \"x\")}}", "t is no whole number"),
    ]) func `a value that does not fit is a rejection that names its path alone`(source: String, reason: String) throws
    {
        #expect(throws: Rejection(kind: .content, stage: .render, reason: reason)) {
            try Sample.body(source, #"{"o":{},"t":"SECRET","f":1.5,"n":5}"#)
        }
    }

    @Test(arguments: [
        ("{{a", "the place of 'a' is not closed by }}"), ("{{}}", "a place without a path"),
        ("{{a..b}}", "'a..b' is no path"),
        ("{{a | mony(EUR)}}", "there is no filter 'mony', perhaps money"),
        ("{{a | qqqqqqq}}", "there is no filter 'qqqqqqq'"),
        ("{{a | money}}", "money takes a currency such as EUR, or the path of one"),
        ("{{a | date(lang)}}", "date has no style 'lang'; it has short, medium, long, full, time, datetime"),
        ("{{a | plural(one: \"x\")}}", "plural needs a text for 'other'"),
        ("{{a | plural(oen: \"x\", other: \"y\")}}", "plural has no category 'oen', perhaps one"),
        ("{{a | truncate(0)}}", "truncate takes a number of characters, 1 to 4096"),
        ("{{a | default(b)}}", "default takes a quoted text"),
        ("{{a | default(\"b)}}", "a quoted text in 'default' is not closed"),
        ("{{a | number(1)}}", "number takes no argument"), ("{{a b}}", "the place of 'a' is not closed by }}"),
    ]) func `a faulty template says what is wrong`(source: String, problem: String) {
        #expect(throws: TemplateProblem(description: problem)) { try Template(parsing: source) }
    }

    @Test func `single braces are text`() throws {
        #expect(try Sample.body("{a} } }} \\ \"q\"", "{}") == "{a} } }} \\ \"q\"")
    }
}
