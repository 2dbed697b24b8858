import RelayBase
import RelayHTTP
import RelayTestSupport
import Testing

@Suite("A date")
struct DateTests {
    static let known: [(seconds: Int64, text: String)] = [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        (2_147_483_648, "Tue, 19 Jan 2038 03:14:08 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
    ]

    @Test("is written in the preferred form and read back", arguments: known)
    func formats(_ row: (seconds: Int64, text: String)) {
        #expect(String(decoding: IMFDate.format(row.seconds), as: UTF8.self) == row.text)
        #expect(IMFDate.parse(Array(row.text.utf8).span, now: 0) == row.seconds)
    }

    @Test("outside the years 1 to 9999 is clamped")
    func clamps() {
        #expect(IMFDate.format(.max) == IMFDate.format(253_402_300_799))
        #expect(IMFDate.format(.min) == IMFDate.format(-62_135_596_800))
    }

    @Test("reads back as written, for any second")
    func roundTrips() {
        var numbers = SplitMix64(seed: 1)
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &numbers)
            #expect(IMFDate.parse(IMFDate.format(seconds).span, now: 0) == seconds)
        }
    }

    @Test("is read in the two obsolete forms too")
    func obsoleteForms() {
        let asctime = Array("Sun Nov  6 08:49:37 1994".utf8)
        #expect(IMFDate.parse(asctime.span, now: 0) == 784_111_777)
        #expect(IMFDate.parse(Array("Wed Nov 16 08:49:37 1994".utf8).span, now: 0) == 784_975_777)
        let dashed = Array("Sunday, 06-Nov-94 08:49:37 GMT".utf8)
        #expect(IMFDate.parse(dashed.span, now: 784_111_777) == 784_111_777)
        // In 2026, "94" is more than fifty years ahead as 2094.
        #expect(IMFDate.parse(dashed.span, now: 1_780_000_000) == 784_111_777)
        // In 2050 it is not.
        #expect(IMFDate.parse(dashed.span, now: 2_540_000_000) == 3_939_871_777)
        #expect(IMFDate.parse(dashed.span, now: .max) != nil)
        #expect(IMFDate.parse(dashed.span, now: .min) != nil)
    }

    static let malformed = [
        "", "Sun", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 gmt", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMTx", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 19x4 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 94  ",
        "Sun Nov  6 08:49:37 1994 GMT", "1994-11-06T08:49:37.000000Z", "Sun, 06 Nov 1994 08:49:37 +0000",
    ]

    @Test("that strays from its form by a byte is none", arguments: malformed)
    func refuses(_ text: String) {
        #expect(IMFDate.parse(Array(text.utf8).span, now: 0) == nil)
    }
}

@Suite("Retry-After")
struct RetryAfterTests {
    static let table: [(values: [String], wait: Duration?)] = [
        ([], nil),
        (["120"], .seconds(120)),
        (["0"], .zero),
        (["5 "], .seconds(5)),
        (["\t5"], .seconds(5)),
        (["007"], .seconds(7)),
        (["315360000"], .seconds(315_360_000)),
        (["315360001"], .seconds(315_360_000)),
        (["999999999999999999"], .seconds(315_360_000)),
        (["9223372036854775806"], .seconds(315_360_000)),
        (["9223372036854775807"], .seconds(315_360_000)),
        (["9223372036854775808"], .seconds(315_360_000)),
        (["18446744073709551616"], .seconds(315_360_000)),
        ([String(repeating: "9", count: 4_000)], .seconds(315_360_000)),
        ([String(repeating: "0", count: 4_000) + "5"], .seconds(5)),
        ([String(repeating: "9", count: 40) + "x"], nil),
        (["-3"], nil), (["+3"], nil), (["nan"], nil), (["NaN"], nil), (["inf"], nil), (["1e300"], nil),
        (["1.5"], nil), (["0x10"], nil), (["5s"], nil), (["5, 5"], nil), ([""], nil), (["  "], nil),
        (["\u{B2}"], nil),
        (["soon"], nil),
        (["5", "5"], .seconds(5)),
        (["5", "6"], nil),
        (["5", "x"], nil),
        (["5", "5", "6"], nil),
        (["Sun, 06 Nov 1994 08:49:47 GMT"], .seconds(10)),
        (["Sun, 06 Nov 1994 08:49:37 GMT"], .zero),
        (["Sun, 06 Nov 1994 08:49:36 GMT"], .zero),
        (["Thu, 01 Jan 1970 00:00:00 GMT"], .zero),
        (["Sunday, 06-Nov-94 08:50:37 GMT"], .seconds(60)),
        (["Sun Nov  6 08:49:38 1994"], .seconds(1)),
        (["Fri, 31 Dec 9999 23:59:59 GMT"], .seconds(315_360_000)),
        (["Sun, 06 Nov 1994 08:49:47"], nil),
        (["Sun, 06 Nov 1994 08:49:47 GMT", "10"], .seconds(10)),
    ]

    @Test("gives a bounded wait or none", arguments: table)
    func parses(_ row: (values: [String], wait: Duration?)) {
        var fields = HeaderFields()
        for value in row.values { fields.append("retry-after", value) }
        #expect(RetryAfter.parse(fields, wallSeconds: 784_111_777) == row.wait)
    }

    @Test("as a date bears any clock", arguments: [Int64.min, -1, 0, .max])
    func anyClock(_ now: Int64) {
        for seconds in [-62_135_596_800, 0, 253_402_300_799] as [Int64] {
            let wait = RetryAfter.parse(IMFDate.format(seconds).span, wallSeconds: now)
            #expect(wait.map { $0 >= .zero && $0 <= .seconds(315_360_000) } == true)
        }
    }
}
