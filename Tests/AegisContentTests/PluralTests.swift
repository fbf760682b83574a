import AegisContent
import AegisCore
import Testing

@Suite struct PluralTests {
    /// Numbers by language and category, from the samples of CLDR's plural rules.
    @Test(arguments: [
        ("en", "one: 1 -1; other: 0 2 11 21 1000000"), ("de", "one: 1; other: 0 2 21"),
        ("fr", "one: 0 1; many: 1000000 2000000; other: 2 17 1000001"),
        ("es", "one: 1; many: 1000000; other: 0 2 100"), ("it", "one: 1; many: 3000000; other: 0 2 11"),
        ("pt", "one: 0 1; many: 1000000; other: 2"), ("pt-BR", "one: 0 1; other: 2"), ("pt-PT", "one: 1; other: 0 2"),
        ("nl", "one: 1; other: 0 2"), ("tr", "one: 1; other: 0 2 11"), ("sv", "one: 1; other: 0 2"),
        ("da", "one: 1; other: 0 2"), ("fi", "one: 1; other: 0 2"),
        ("pl", "one: 1; few: 2 4 22 34 102; many: 0 5 11 12 14 21 25 112"),
        ("cs", "one: 1; few: 2 3 4; other: 0 5 11 22"),
        ("ru", "one: 1 21 101 1001; few: 2 4 22 104; many: 0 5 11 12 14 19 111 112"),
        ("uk", "one: 1 31; few: 3 24; many: 0 5 11 13"),
        ("ar", "zero: 0; one: 1; two: 2; few: 3 10 103 110; many: 11 99 111 199; other: 100 102 200 1000"),
        ("he", "one: 1; two: 2; other: 0 3 10 20 100"), ("ja", "other: 0 1 2 11"), ("zh", "other: 0 1 2"),
        ("ko", "other: 0 1 2"), ("ro", "one: 1; few: 0 2 16 19 101 119; other: 20 35 100"),
        ("lt", "one: 1 21 101; few: 2 9 22 102; other: 0 10 11 12 19 20 111"),
        ("lv", "zero: 0 10 11 19 20 30; one: 1 21 101; other: 2 9 22"),
        ("sl", "one: 1 101 201; two: 2 102; few: 3 4 103; other: 0 5 11 100"),
        ("hi", "one: 0 1; other: 2 17"), ("xx", "one: 1; other: 0 2"),
    ]) func `a counted thing takes the form that the language has for the number`(
        language: String, samples: String
    ) throws {
        let template =
            #"{{n | plural(zero: "zero", one: "one", two: "two", few: "few", many: "many", other: "other")}}"#
        for group in samples.split(separator: "; ") {
            let words = group.split(separator: " ")
            let category = String(words[0].dropLast())
            for number in words.dropFirst() {
                #expect(
                    try Sample.body(template, "{\"n\":\(number)}", locale: language) == category,
                    "\(number) in \(language)")
            }
        }
    }

    @Test func `a form that the catalog does not give is the other one, and the number is spelled in it`() throws {
        let template = ##"{{n | plural(one: "\"#\" Ding", other: "# Dinge (#)")}}"##
        #expect(try Sample.body(template, #"{"n":1}"#, locale: "de") == "\"1\" Ding")
        #expect(try Sample.body(template, #"{"n":12345}"#, locale: "de") == "12.345 Dinge (12.345)")
        #expect(try Sample.body(template, #"{"n":1000000}"#, locale: "fr").hasSuffix("Dinge (1\u{202F}000\u{202F}000)"))
    }
}
