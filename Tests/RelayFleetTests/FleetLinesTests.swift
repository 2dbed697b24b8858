import Testing

@testable import RelayFleet

@Suite("The lines of a route in the database")
struct FleetLinesTests {
    private static func lines(_ some: [(Int64, Int16)]) -> FleetLines {
        var lines = FleetLines()
        for (party, urgency) in some {
            lines.wake(FleetLines.Line(party: party, urgency: urgency), at: 1_000, isFar: false)
        }
        return lines
    }

    private static func line(_ party: Int64) -> FleetLines.Line { FleetLines.Line(party: party, urgency: 3) }

    private static func plan(
        _ lines: inout FleetLines,
        _ limit: Int,
        found: [FleetLines.Line: Int] = [:],
        at steady: Int64
    ) throws -> FleetLines.Plan {
        let plan = lines.plan(limit, found: found, at: steady)
        return try #require(plan)
    }

    @Test("A claim is shared among users by turns")
    func turns() throws {
        var lines = Self.lines([(2, 3), (5, 3)])
        let plan = try Self.plan(&lines, 5, at: 0)
        #expect(plan.lines.map(\.party) == [2, 5])
        #expect(plan.counts == [3, 2])
        #expect(lines.took([Self.line(2): 3, Self.line(5): 2]).map(\.party) == [2, 5, 2, 5, 2])
        let last = try Self.plan(&lines, 1, at: 0)
        #expect(last.lines.map(\.party) == [5])
    }

    @Test("A user who has less than its share leaves its turns to the others, whose jobs stay in their order")
    func less() throws {
        var lines = Self.lines([(2, 3), (5, 3), (7, 3)])
        let first = try Self.plan(&lines, 6, at: 0)
        #expect(first.counts == [2, 2, 2])
        lines.settle(first, 1, found: 1, last: 1_000, at: 0)
        let found = [Self.line(2): 2, Self.line(5): 1, Self.line(7): 2]
        let plan = try Self.plan(&lines, 6, found: found, at: 0)
        #expect(plan.lines.map(\.party) == [2] && plan.counts == [1])
        #expect(lines.took(found).map(\.party) == [2, 5, 7, 2, 7])
    }

    @Test("Nothing is claimed where nothing is known to wait")
    func empty() throws {
        var lines = FleetLines()
        #expect(lines.isEmpty)
        lines.wake(Self.line(2), at: 1, isFar: false)
        lines.settle(try Self.plan(&lines, 8, at: 0), 0, found: 7, last: 1, at: 0)
        #expect(lines.isEmpty)
    }

    @Test(
        "A claim begins where the last one of its line ended, and now and then looks for what was committed late"
    )
    func low() throws {
        var lines = Self.lines([(2, 3)])
        for (steady, low, last) in [(100, 600, 5_000), (120, 5_000, 5_001), (150, 4_601, 5_002)]
            as [(Int64, Int64, Int64)]
        {
            let plan = try Self.plan(&lines, 1, at: steady)
            #expect(plan.lows == [low] && !plan.isFar)
            lines.settle(plan, 0, found: 1, last: last, at: steady)
        }
        lines.wake(Self.line(2), at: 3_000, isFar: false)
        let last = try Self.plan(&lines, 1, at: 160)
        #expect(last.lows == [3_000])
    }

    @Test(
        "A line has nothing only when it was looked for what was committed late, and nothing has come meanwhile"
    )
    func late() throws {
        var lines = Self.lines([(2, 3)])
        lines.settle(try Self.plan(&lines, 1, at: 100), 0, found: 1, last: 5_000, at: 100)
        lines.settle(try Self.plan(&lines, 1, at: 101), 0, found: 0, last: nil, at: 101)
        let plan = try Self.plan(&lines, 1, at: 102)
        #expect(plan.lows == [4_600])
        lines.wake(Self.line(2), at: 4_900, isFar: false)
        lines.settle(plan, 0, found: 0, last: nil, at: 102)
        let next = try Self.plan(&lines, 1, at: 200)
        #expect(next.lows == [4_500])
        lines.settle(next, 0, found: 0, last: nil, at: 200)
        #expect(lines.isEmpty)
    }

    @Test("All slots are looked at until a claim is beyond what is known to lie in others")
    func far() throws {
        var lines = Self.lines([(2, 3)])
        lines.turn(at: 5_000)
        for last in [4_000, 5_000, 5_001] as [Int64] {
            let plan = try Self.plan(&lines, 1, at: 0)
            #expect(plan.isFar)
            lines.settle(plan, 0, found: 1, last: last, at: 0)
        }
        let last = try Self.plan(&lines, 1, at: 0)
        #expect(last.isFar == false)
        lines.wake(Self.line(2), at: 2_000, isFar: true)
        let plan = try Self.plan(&lines, 1, at: 10)
        #expect(plan.isFar && plan.lows == [2_000])
        lines.settle(plan, 0, found: 0, last: nil, at: 60)
        lines.settle(try Self.plan(&lines, 1, at: 70), 0, found: 0, last: nil, at: 70)
        #expect(lines.isEmpty)
    }

    @Test("A plan is halved down to one job of one line")
    func half() throws {
        var lines = Self.lines([(2, 3), (5, 3)])
        let plan = try Self.plan(&lines, 6, at: 0)
        let half = try #require(plan.half)
        #expect(half.lines.map(\.party) == [2] && half.counts == [3] && half.lows.count == 1)
        let quarter = try #require(half.half)
        #expect(quarter.counts == [1] && quarter.half == nil)
    }

    @Test(
        "Entries are looked through from where none was good: at times from a minute before, and seldom all of them"
    )
    func start() {
        var lines = FleetLines()
        #expect(lines.start(at: 0) == .min)
        lines.wasEmpty(at: 1_000_000)
        #expect(lines.start(at: 9_999) == 998_000)
        #expect(lines.start(at: 10_000) == 940_000)
        #expect(lines.start(at: 10_001) == 998_000)
        lines.wasFound()
        #expect(lines.start(at: 10_002) == 940_000)
        #expect(lines.start(at: 299_999) == 940_000)
        #expect(lines.start(at: 300_000) == .min)
        // It was not told that nothing was found.
        #expect(lines.start(at: 300_001) == .min)
    }
}
