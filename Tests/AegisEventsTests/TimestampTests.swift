import AegisCore
import AegisEvents
import Testing

@Suite struct TimestampTests {
    @Test(
        arguments: [
            ("2026-01-02T03:04:05Z", 1_767_323_045_000), ("2026-01-02t03:04:05.1z", 1_767_323_045_100),
            ("2026-01-02 03:04:05.123456789Z", 1_767_323_045_123),
            ("2026-01-02T03:04:05.1234567+05:45", 1_767_302_345_123),
            ("2026-01-01T23:34:05-03:30", 1_767_323_045_000), ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999Z", -1), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("Fri, 2 Jan 2026 03:04:05 GMT", 1_767_323_045_000), ("Fri, 02 Jan 2026 03:04:05 +0100", 1_767_319_445_000),
            ("1767323045", 1_767_323_045_000), ("1767323045123", 1_767_323_045_123),
            ("1767323045123456", 1_767_323_045_123), ("1767323045123456789", 1_767_323_045_123),
            ("1767323045.123456000", 1_767_323_045_123), ("0", 0),
        ] as [(String, Int64)]) func `every form of a moment is read`(text: String, milliseconds: Int64)
    {
        #expect(Timestamp.parse(text) == UnixTime(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "x", "2026-01-02", "2026-01-02T03:04:05", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-02T24:00:00Z", "2026-01-02T03:60:00Z", "2026-01-02T03:04:61Z",
        "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.1234567890Z", "2026-01-02T03:04:05+0100", "2026-01-02T03:04:05Zx",
        "2026-1-2T03:04:05Z", "-5", "1e9", "1767323045.", "99999999999999999999", "Fri, 2 Jxx 2026 03:04:05 GMT",
        "Fri, 31 Feb 2026 03:04:05 GMT", "２026-01-02T03:04:05Z", String(repeating: "1", count: 10_000),
    ]) func `anything else is no moment`(text: String) {
        #expect(Timestamp.parse(text) == nil)
    }

    @Test func `a naive time is read only where its offset is known`() {
        #expect(Timestamp.parse("2026-01-02T03:04:05", naiveOffset: .zero) == UnixTime(milliseconds: 1_767_323_045_000))
        #expect(
            Timestamp.parse("2026-01-02T03:04:05", naiveOffset: .seconds(3_600))
                == UnixTime(milliseconds: 1_767_319_445_000))
    }

    @Test func `a count or RFC 1123 is not RFC 3339`() {
        #expect(Timestamp.parseRFC3339("1767323045") == nil)
        #expect(Timestamp.parseRFC3339("Fri, 2 Jan 2026 03:04:05 GMT") == nil)
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `every moment from year 0 to 9999 is written and read back`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let time = UnixTime(
                milliseconds: Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random))
            #expect(Timestamp.parse(Timestamp.rfc3339(time)) == time)
        }
    }

    @Test func `moments are written in UTC, with milliseconds only where there are any`() {
        #expect(Timestamp.rfc3339(UnixTime(milliseconds: 1_767_323_045_000)) == "2026-01-02T03:04:05Z")
        #expect(Timestamp.rfc3339(UnixTime(milliseconds: -1)) == "1969-12-31T23:59:59.999Z")
        #expect(Timestamp.rfc3339(UnixTime(milliseconds: .max)) == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp.rfc3339(UnixTime(milliseconds: .min)) == "0000-01-01T00:00:00Z")
    }
}
