import RelayBase
import Testing

@Suite("Planned windows", .timeLimit(.minutes(1)))
struct ClosedTimesTests {
    /// The windows `from`–`to`, or `from`–`to` on some days of the week or dates, in a zone.
    private static func times(_ windows: [String], _ line: String = berlin) throws -> ClosedTimes {
        ClosedTimes(
            try windows.map { text in
                let words = text.split(separator: " ").map(String.init)
                let hours = words[0].split(separator: "–").map(String.init)
                var days = ClosedTimes.Window.Days.weekdays(127)
                if words.count > 1, let bits = UInt8(words[1]) { days = .weekdays(bits) }
                if words.count > 1, words[1].contains("-") {
                    days = .dates(try words[1...].map { try #require(ClosedTimes.day($0)) })
                }
                return ClosedTimes.Window(
                    days: days,
                    from: try #require(ClosedTimes.time(hours[0])),
                    to: try #require(ClosedTimes.time(hours[1])),
                    zone: try zone(line)
                )
            }
        )
    }

    @Test(
        "A route is closed until the end of its window, by the clocks of the zone",
        arguments: [
            // Over midnight, in winter and in summer.
            (["22:00–06:00"], "2026-12-01T20:59Z", nil),
            (["22:00–06:00"], "2026-12-01T21:00Z", "2026-12-02T05:00Z"),
            (["22:00–06:00"], "2026-12-02T04:59Z", "2026-12-02T05:00Z"),
            (["22:00–06:00"], "2026-12-02T05:00Z", nil),
            (["22:00–06:00"], "2026-07-01T20:00Z", "2026-07-02T04:00Z"),
            // On Mondays (bit 1), the day on which it begins; 2026-12-07 is one.
            (["22:00–06:00 2"], "2026-12-08T02:00Z", "2026-12-08T05:00Z"),
            (["22:00–06:00 2"], "2026-12-07T02:00Z", nil),
            (["22:00–06:00 2"], "2026-12-08T21:00Z", nil),
            (["00:00–24:00 2"], "2026-12-06T23:00Z", "2026-12-07T23:00Z"),
            // On dates.
            (["12:00–24:00 2026-12-24"], "2026-12-24T11:00Z", "2026-12-24T23:00Z"),
            (["12:00–24:00 2026-12-24"], "2027-12-24T11:00Z", nil),
            // One after the other without a gap, of the same day, of two days, and with dates between.
            (["20:00–22:00", "22:00–06:00"], "2026-12-01T19:30Z", "2026-12-02T05:00Z"),
            (["00:00–24:00 64", "00:00–24:00 1"], "2026-12-05T12:00Z", "2026-12-06T23:00Z"),
            (
                ["22:00–06:00", "06:00–08:00 2026-12-02", "08:00–09:00 8"], "2026-12-01T22:00Z",
                "2026-12-02T08:00Z"
            ),
            (["22:00–06:00", "06:01–08:00"], "2026-12-01T22:00Z", "2026-12-02T05:00Z"),
        ] as [([String], String, String?)]
    )
    func closed(windows: [String], moment: String, end: String?) throws {
        #expect(try Self.times(windows).end(at: at(moment)) == end.map { try at($0) })
    }

    @Test(
        "A time that comes twice is closed both times, and one that does not exist is leapt over",
        arguments: [
            // 2026-10-25: 02:00 to 03:00 comes twice, at 00:00Z and at 01:00Z.
            ("02:30–06:00", "2026-10-25T00:29Z", nil),
            ("02:30–06:00", "2026-10-25T00:30Z", "2026-10-25T05:00Z"),
            ("22:00–02:30", "2026-10-25T00:45Z", "2026-10-25T01:30Z"),
            ("22:00–02:30", "2026-10-25T01:30Z", nil),
            ("02:10–02:30", "2026-10-25T00:10Z", "2026-10-25T01:30Z"),
            // 2026-03-29: 02:00 is 03:00, at 01:00Z.
            ("02:30–06:00", "2026-03-29T00:59Z", nil),
            ("02:30–06:00", "2026-03-29T01:00Z", "2026-03-29T04:00Z"),
            ("22:00–02:30", "2026-03-29T00:59Z", "2026-03-29T01:00Z"),
            ("22:00–02:30", "2026-03-29T01:00Z", nil),
            ("02:10–02:50", "2026-03-29T01:00Z", nil), ("02:10–02:50", "2026-03-29T00:50Z", nil),
            // Before and after both, as ever.
            ("02:30–06:00", "2026-03-28T01:30Z", "2026-03-28T05:00Z"),
            ("02:30–06:00", "2026-10-26T01:30Z", "2026-10-26T05:00Z"),
        ] as [(String, String, String?)]
    )
    func oddHours(window: String, moment: String, end: String?) throws {
        #expect(try Self.times([window]).end(at: at(moment)) == end.map { try at($0) })
    }

    @Test("A clock that shows the whole hour again leaves no gap between two windows that meet in it")
    func meeting() throws {
        let times = try Self.times(["22:00–02:30", "02:30–06:00"])
        for night in ["2026-10-24", "2026-03-28"] {
            let end = night.hasPrefix("2026-10") ? "2026-10-25T05:00Z" : "2026-03-29T04:00Z"
            #expect(try times.end(at: at("\(night)T22:00Z")) == at(end))
        }
    }

    @Test("A change on record that has no rule after it counts as well")
    func record() throws {
        // A zone that went a day ahead, and its 30th of December with it.
        let moment = try at("2011-12-30T10:00Z")
        let samoa = try ZoneRules(parsing: zoneFile([(moment, 50_400)], first: -36_000, then: ""))
        let window = ClosedTimes.Window(days: .weekdays(127), from: 43_200, to: 46_800, zone: samoa)
        let times = ClosedTimes([window])
        #expect(try times.end(at: at("2011-12-29T22:30Z")) == at("2011-12-29T23:00Z"))
        #expect(try times.change(after: at("2011-12-29T23:00Z")) == at("2011-12-30T22:00Z"))
        #expect(try times.end(at: at("2011-12-30T22:30Z")) == at("2011-12-30T23:00Z"))
    }

    @Test(
        "The next change is the end of a window, or the beginning of the next, or none",
        arguments: [
            (["22:00–06:00"], "2026-12-01T12:00Z", "2026-12-01T21:00Z"),
            (["22:00–06:00"], "2026-12-01T22:00Z", "2026-12-02T05:00Z"),
            (["22:00–06:00 2"], "2026-12-08T05:00Z", "2026-12-14T21:00Z"),
            (["12:00–13:00 2026-12-24 2026-12-31"], "2026-12-24T12:00Z", "2026-12-31T11:00Z"),
            (["12:00–13:00 2026-12-24"], "2026-12-24T12:00Z", nil),
            // The one Sunday of its kind is leapt over.
            (["02:10–02:50 1"], "2026-03-23T00:00Z", "2026-04-05T00:10Z"),
        ] as [([String], String, String?)]
    )
    func change(windows: [String], moment: String, next: String?) throws {
        #expect(try Self.times(windows).change(after: at(moment)) == next.map { try at($0) })
    }

    @Test(
        "Windows that leave no time open are found, and dates never make them",
        arguments: [
            (["00:00–24:00"], true), (["22:00–06:00", "06:00–22:00"], true),
            (["00:00–24:00 126", "00:00–24:00 1"], true),
            (["22:00–06:00", "06:00–21:59"], false), (["00:00–24:00 126"], false),
            (["22:00–06:00", "06:00–22:00 2026-12-02 2026-12-03"], false),
        ] as [([String], Bool)]
    )
    func endless(windows: [String], isSo: Bool) throws {
        let times = try Self.times(windows)
        for moment in ["2026-03-20T00:00Z", "2026-10-20T00:00Z"] {
            #expect(try times.neverOpens(from: at(moment)) == isSo)
        }
    }

    @Test("Hundreds of dates in a row are one window")
    func dates() throws {
        let first = try #require(ClosedTimes.day("2026-12-01"))
        let days = (0..<Int64(ClosedTimes.most.dates)).map { first + $0 }
        let window = ClosedTimes.Window(days: .dates(days), from: 0, to: 86_400, zone: .utc)
        #expect(ClosedTimes([window]).end(at: first * 86_400) == (first + 366) * 86_400)
    }

    @Test(
        "Dates and times of day that do not exist are none",
        arguments: [
            "2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-00-10", "2026-12-24 ", "x026-12-24",
        ]
    )
    func dates(text: String) { #expect(ClosedTimes.day(text) == nil) }

    @Test(
        "Times of day go to 24:00",
        arguments: ["24:01", "25:00", "12:60", "1:00", "12-00", "aa:00", "12:000"]
    )
    func times(text: String) {
        #expect(ClosedTimes.time(text) == nil)
        #expect(ClosedTimes.time("24:00") == 86_400)
    }
}
