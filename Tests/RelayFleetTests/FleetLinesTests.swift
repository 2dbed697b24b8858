import Testing

@testable import RelayFleet

@Suite("The lines of a route in the database")
struct FleetLinesTests {
    private static func lines(_ some: [(Int64, Int16)]) -> FleetLines {
        var lines = FleetLines()
        for (party, urgency) in some { lines.wake(party, urgency, at: 100) }
        return lines
    }

    private static func line(_ party: Int64) -> FleetLines.Line { FleetLines.Line(party: party, urgency: 3) }

    @Test("A claim is shared among users by turns")
    func turns() throws {
        var lines = Self.lines([(2, 3), (5, 3)])
        let plan = try #require(lines.plan(5))
        #expect(plan.lines.map(\.party) == [2, 5])
        #expect(plan.counts == [3, 2])
        #expect(lines.took([Self.line(2): 3, Self.line(5): 2]).map(\.party) == [2, 5, 2, 5, 2])
        #expect(try #require(lines.plan(1)).lines.map(\.party) == [5])
    }

    @Test("A user who has less than its share leaves its turns to the others, whose jobs stay in their order")
    func less() throws {
        var lines = Self.lines([(2, 3), (5, 3), (7, 3)])
        #expect(try #require(lines.plan(6)).counts == [2, 2, 2])
        lines.settle(Self.line(5), isEmpty: true, low: nil)
        let found = [Self.line(2): 2, Self.line(5): 1, Self.line(7): 2]
        let plan = try #require(lines.plan(6, found: found))
        #expect(plan.lines.map(\.party) == [2] && plan.counts == [1])
        #expect(lines.took(found).map(\.party) == [2, 5, 7, 2, 7])
    }

    @Test("Nothing is claimed where nothing is known to wait")
    func empty() {
        var lines = FleetLines()
        #expect(lines.plan(8) == nil)
        lines.wake(2, 3, at: 1)
        lines.settle(FleetLines.Line(party: 2, urgency: 3), isEmpty: true, low: nil)
        #expect(lines.plan(8) == nil)
    }

    @Test("A claim begins where the last one of its line ended, unless something came that is due before")
    func low() throws {
        var lines = Self.lines([(2, 3)])
        let line = FleetLines.Line(party: 2, urgency: 3)
        lines.settle(line, isEmpty: false, low: 500)
        #expect(try #require(lines.plan(1)).lows == [500])
        lines.settle(line, isEmpty: false, low: 400)
        #expect(try #require(lines.plan(1)).lows == [500])
        lines.wake(2, 3, at: 300)
        #expect(try #require(lines.plan(1)).lows == [300])
    }
}
