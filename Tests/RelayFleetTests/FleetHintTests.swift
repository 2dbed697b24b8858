import Testing

@testable import RelayFleet

@Suite("The words of a hint")
struct FleetHintTests {
    private static let heads = FleetHeads(job: 2, ready: 1, tally: 0)

    private static func line(_ party: Int64) -> FleetLines.Line { FleetLines.Line(party: party, urgency: 3) }

    private static func heard(_ text: String, _ heads: FleetHeads = Self.heads) -> FleetHint? {
        FleetHint(FleetCore.numbers(text), heads)
    }

    @Test(
        "It tells how many jobs wait in which lines, since when, and whether in other slots than those of the present"
    )
    func told() throws {
        var hint = FleetHint()
        hint.add(2, in: Self.line(-5), from: 900, isFar: false)
        hint.add(1, in: Self.line(-5), from: 800, isFar: false)
        hint.add(4, in: Self.line(7), from: 700, isFar: true)
        let heard = try #require(Self.heard(hint.text(31, 9, Self.heads)))
        #expect(heard == hint)
        #expect(heard.jobs == 7)
        #expect(heard.lines[Self.line(-5)] == FleetHint.Work(low: 800, isFar: false))
        #expect(heard.lines[Self.line(7)] == FleetHint.Work(low: 700, isFar: true))
    }

    @Test(
        "Where other slots take what comes at the two nodes, all of it may lie in any",
        arguments: [(1, 1), (2, 0)]
    )
    func elsewhere(job: Int16, ready: Int16) throws {
        var hint = FleetHint()
        hint.add(1, in: Self.line(1), from: 900, isFar: false)
        let heard = try #require(
            Self.heard(hint.text(31, 9, Self.heads), FleetHeads(job: job, ready: ready, tally: 0))
        )
        #expect(heard.lines[Self.line(1)] == FleetHint.Work(low: 900, isFar: true))
    }

    @Test("Of more lines than a notification holds it tells only how many jobs wait, and is never too long")
    func many() throws {
        var hint = FleetHint()
        for party in 0..<Int64(FleetHint.most) {
            hint.add(1, in: Self.line(.max - party), from: 9_999_999_999_999, isFar: true)
        }
        #expect(hint.text(.max, .max, Self.heads).utf8.count < 8_000)
        #expect(try #require(Self.heard(hint.text(1, 1, Self.heads))).lines.count == FleetHint.most)
        hint.add(1, in: Self.line(1), from: 1, isFar: false)
        let heard = try #require(Self.heard(hint.text(1, 1, Self.heads)))
        #expect(heard.lines.isEmpty && heard.jobs == FleetHint.most + 1)
    }

    @Test(
        "A hint that somebody else has sent harms nothing",
        arguments: [
            ("", nil), ("1,2", nil), ("1,2,3,2", nil), ("1,2,-3,2,1", 0),
            ("1,2,9223372036854775807,2,1", 2_147_483_647),
            ("1,2,1,2,1,4,-9,5", 1), ("1,2,1,2,1,4,9223372036854775807,-9223372036854775808", 1),
            ("1,2,1,2,1,4", 1),
        ] as [(String, Int?)]
    )
    func foreign(text: String, jobs: Int?) {
        let heard = Self.heard(text)
        #expect(heard?.jobs == jobs)
        for (line, work) in heard?.lines ?? [:] { #expect(0...7 ~= line.urgency && work.low >= 0) }
    }
}
