import RelayBase
import Testing

@testable import RelayFleet

@Suite("Claims of which nobody knows whether they stand")
struct FleetDoubtsTests {
    private static let id = JobID(high: 1, low: 2)

    @Test("They are looked for until all is over that was open when the last of them could have begun")
    func over() {
        var doubts = FleetDoubts()
        doubts.add(7...9, arrival: 31_000)
        // It may be on its way still.
        doubts.looked(asked: 1_000, low: 500, next: 500)
        #expect(!doubts.isEmpty)
        let late: Int64 = 31_000
        doubts.looked(asked: late, low: 500, next: 510)
        doubts.looked(asked: late + 1, low: 509, next: 900)
        #expect(!doubts.isEmpty)
        doubts.looked(asked: late + 2, low: 510, next: 900)
        #expect(doubts.isEmpty)
    }

    @Test("The next claim of the same job is none of them")
    func again() {
        var doubts = FleetDoubts()
        doubts.add([Self.id], 1...4, from: 20, arrival: 0)
        doubts.add(9...9, arrival: 0)
        #expect(doubts.has(4, of: Self.id) && !doubts.has(5, of: Self.id))
        #expect(!doubts.has(4, of: JobID(high: 1, low: 3)) && doubts.has(9, of: Self.id))
        #expect(doubts.reach == FleetReach(floor: 20, tokens: 9))
    }
}
