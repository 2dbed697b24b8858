import RelayBase
import Testing

/// A file of the tz database with these changes; a later one may name the offset that an earlier one does.
func zoneFile(
    _ changes: [(at: Int64, offset: Int)] = [],
    first: Int = 0,
    then line: String,
    version: UInt8 = 0x32
) -> [UInt8] {
    func big(_ value: Int64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func head(_ counts: [Int64]) -> [UInt8] {
        Array("TZif".utf8) + [version] + Array(repeating: 0, count: 15) + counts.flatMap { big($0, 4) }
    }
    let offsets = [first] + changes.map(\.offset)
    let old = head([0, 0, 0, 0, 1, 1]) + Array(repeating: 0, count: 7)
    let new = head([0, 0, 0, Int64(changes.count), Int64(offsets.count), 4])
    return old + new + changes.flatMap { big($0.at, 8) } + changes.indices.map { UInt8($0 + 1) }
        + offsets.flatMap { big(Int64($0), 4) + [0, 0] } + Array("LMT\0".utf8) + Array("\n\(line)\n".utf8)
}

/// A zone without changes on record.
func zone(_ line: String) throws -> ZoneRules { try ZoneRules(parsing: zoneFile(then: line)) }

let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

/// Seconds since 1970 of `2026-03-29T01:00Z`.
func at(_ text: String) throws -> Int64 {
    let parts = text.split(whereSeparator: { "-T:Z".contains($0) }).map { Int64($0) ?? 0 }
    let day = try #require(ClosedTimes.day(String(text.prefix(10))))
    return day * 86_400 + parts[3] * 3_600 + parts[4] * 60
}

@Suite("Time zones", .timeLimit(.minutes(1)))
struct ZoneRulesTests {
    @Test(
        "The last line of a file says what holds after its changes",
        arguments: [
            (berlin, "2026-01-15T12:00Z", 3_600), (berlin, "2026-07-15T12:00Z", 7_200),
            (berlin, "2026-03-29T00:59Z", 3_600), (berlin, "2026-03-29T01:00Z", 7_200),
            (berlin, "2026-10-25T00:59Z", 7_200), (berlin, "2026-10-25T01:00Z", 3_600),
            (berlin, "2099-07-15T12:00Z", 7_200),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-15T12:00Z", 39_600),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-15T12:00Z", 36_000),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-15T12:00Z", 0),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-15T12:00Z", 3_600),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59Z", -18_000),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00Z", -14_400),
            ("<+0330>-3:30", "2026-07-15T12:00Z", 12_600),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59Z", -7_200),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00Z", -3_600),
            ("AAA0BBB,J60/0,J61/0", "2028-03-01T12:00Z", 3_600),
            ("AAA0BBB,J60/0,J61/0", "2028-02-29T12:00Z", 0),
            ("AAA0BBB,59/0,60/0", "2028-02-29T12:00Z", 3_600), ("AAA0BBB,59/0,60/0", "2028-03-01T12:00Z", 0),
            ("AAA0BBB,0/0,J365/25", "2026-12-31T23:30Z", 3_600),
        ]
    )
    func line(line: String, moment: String, offset: Int) throws {
        #expect(try zone(line).offset(at: at(moment)) == offset)
    }

    @Test("Changes on record count before the rule, which counts after the last of them")
    func changes() throws {
        let file = zoneFile(
            [(try at("1980-01-01T00:00Z"), 7_200), (try at("2000-01-01T00:00Z"), -3_600)],
            first: 1_200,
            then: berlin
        )
        let zone = try ZoneRules(parsing: file)
        for (moment, offset) in [
            ("1979-12-31T23:59Z", 1_200), ("1980-01-01T00:00Z", 7_200), ("1999-12-31T23:59Z", 7_200),
            ("2000-01-01T00:00Z", 3_600), ("2000-07-01T00:00Z", 7_200),
        ] {
            #expect(try zone.offset(at: at(moment)) == offset, "\(moment)")
        }
        let last = try ZoneRules(parsing: zoneFile([(0, -3_600)], then: ""))
        #expect(try last.offset(at: at("2026-07-01T00:00Z")) == -3_600)
    }

    @Test(
        "A malformed last line is refused",
        arguments: [
            "C-1", "CET", "CET-", "CET-168", "CET-27", "<+03-3", "CET-1CEST", "CET-1CEST,M3.5.0",
            "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
            "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-1CEST,J0,J9", "CET-1CEST,366,1", "CET-1CEST,M3.5,M10.5.0",
            "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1:60", "CET-1CEST-99,M3.5.0,M10.5.0",
        ]
    )
    func malformed(line: String) {
        #expect(throws: Refusal.self) { try zone(line) }
    }

    @Test(
        "A file that ends too soon, is of version 1 or too large is refused, and none that is damaged traps"
    )
    func hostile() throws {
        let file = zoneFile([(0, 3_600), (1_000_000_000, 7_200)], then: berlin)
        let whole = try ZoneRules(parsing: file)
        for count in 0..<file.count {
            #expect(throws: Refusal.self, "\(count)") { try ZoneRules(parsing: Array(file.prefix(count))) }
        }
        #expect(throws: Refusal.self) { try ZoneRules(parsing: zoneFile(then: "UTC0", version: 0)) }
        #expect(throws: Refusal.self) {
            try ZoneRules(parsing: file + Array(repeating: 0, count: ZoneRules.sizeLimit))
        }
        #expect(throws: Refusal.self) {
            try ZoneRules(parsing: zoneFile([(9, 0), (8, 0)], then: ""))
        }
        #expect(throws: Refusal.self) { try ZoneRules(parsing: zoneFile([(9, 100_000)], then: "")) }
        var differs = 0
        for index in file.indices {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var damaged = file
                damaged[index] = byte
                guard let zone = try? ZoneRules(parsing: damaged) else { continue }
                if zone != whole { differs += 1 }
                let times = ClosedTimes([
                    ClosedTimes.Window(days: .weekdays(127), from: 79_200, to: 21_600, zone: zone)
                ])
                for moment in [Int64.min / 4, -1, 0, 1_800_000_000, Int64.max / 4] {
                    _ = times.change(after: moment)
                }
            }
        }
        #expect(differs > 10)
    }
}
