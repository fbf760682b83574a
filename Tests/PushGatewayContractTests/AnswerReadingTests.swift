import AegisCore
import Testing

@testable import APNsSender

@Suite struct AnswerReadingTests {
    private static func body(_ text: String) -> ErrorBody { ErrorBody(Array(text.utf8)) }

    @Test func `reason and timestamp are found wherever they stand`() {
        let plain = Self.body(#"{"reason":"Unregistered","timestamp":1754000000123}"#)
        #expect(plain.reason == APNsReason("Unregistered"))
        #expect(plain.timestamp == UnixTime(milliseconds: 1_754_000_000_123))
        let odd = Self.body(
            "\n{ \"a\" : [1,{\"reason\":\"Wrong\"},\"}\"], \"timestamp\" : 1754000000123.0 ,\"reason\"\t:\r\"Right\" }")
        #expect(odd.reason == APNsReason("Right"))
        #expect(odd.timestamp == UnixTime(milliseconds: 1_754_000_000_123))
    }

    @Test(arguments: [
        "", "{", "{}", "[]", "null", "<html>", #"{"reason"}"#, #"{"reason":}"#, #"{"reason":42}"#, #"{"reason":"open"#,
        #"{"reason":""}"#, #"{"timestamp":"soon"}"#, #"{"timestamp":99999999999999999999999}"#, #"{"timestamp":-5}"#,
        #"{"timestamp":1e12}"#, #"{"reason":"two\nlines"}"#.replacing("\\n", with: "\n"), "{\"reason\":\"\\", "{\"\\",
    ])
    func `what cannot be read is absent`(text: String) {
        let body = Self.body(text)
        #expect(body.reason == nil)
        #expect(body.timestamp == nil)
    }

    @Test func `a body that is cut short gives what came before`() {
        #expect(Self.body(#"{"reason":"Unregistered","timest"#).reason == APNsReason("Unregistered"))
    }

    @Test func `a reason of any length is not taken`() {
        #expect(Self.body(#"{"reason":"\#(String(repeating: "x", count: 65))"}"#).reason == nil)
    }

    @Test func `every prefix and every broken byte of a body is survived`() {
        let whole = Array(#"{"reason":"Unregistered","x":{"y":[1,2,"\u0041"]},"timestamp":1754000000123}"#.utf8)
        for length in 0...whole.count { _ = ErrorBody(Array(whole.prefix(length))) }
        var survived = 0
        for position in whole.indices {
            for byte: UInt8 in [0, 0x22, 0x5C, 0x7B, 0x7D, 0xFF] {
                var broken = whole
                broken[position] = byte
                let reason = ErrorBody(broken).reason
                #expect((reason?.text.utf8.count ?? 0) <= 64)
                survived += 1
            }
        }
        #expect(survived == whole.count * 6)
    }

    @Test func `retry-after is seconds or a date`() {
        let now = UnixTime(milliseconds: 784_111_777_000)  // Sun, 06 Nov 1994 08:49:37 GMT
        #expect(RetryAfter.duration("7", at: now) == .seconds(7))
        #expect(RetryAfter.duration(" 0 ", at: now) == .zero)
        #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:50:07 GMT", at: now) == .seconds(30))
        #expect(RetryAfter.duration("sun, 06 nov 1994 08:50:07 gmt", at: now) == .seconds(30))
        #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:00:00 GMT", at: now) == .zero)
        let leap = UnixTime(milliseconds: 1_709_164_799_000)  // Wed, 28 Feb 2024 23:59:59 GMT
        #expect(RetryAfter.duration("Thu, 29 Feb 2024 00:00:00 GMT", at: leap) == .seconds(1))
        #expect(RetryAfter.duration("99999999999", at: now) == .seconds(86_400))
        #expect(RetryAfter.duration("soon", at: now) == nil)
        #expect(RetryAfter.duration("", at: now) == nil)
        #expect(RetryAfter.duration("Sun, 06 Foo 1994 08:50:07 GMT", at: now) == nil)
    }
}
