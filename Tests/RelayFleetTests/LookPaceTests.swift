import RelayPosix
import Testing

@testable import RelayFleet

@Suite("The pace of looks for work")
struct LookPaceTests {
    private static let (shortest, longest) = (LookPace.shortest, LookPace.longest)

    @Test(
        "It is quick once something is found and while the node takes some, and halves each time that it does not"
    )
    func adaptive() {
        var pace = LookPace()
        #expect(pace.wait == Self.longest)
        pace.looked(found: true)
        #expect(pace.wait == Self.shortest)
        for _ in 0..<5 {
            pace.took()
            pace.looked(found: false)
            #expect(pace.wait == Self.shortest)
        }
        var waits: [Int64] = []
        for _ in 0..<9 {
            pace.looked(found: false)
            waits.append(pace.wait)
        }
        #expect(waits.prefix(2) == [2 * Self.shortest, 4 * Self.shortest])
        #expect(waits.suffix(2) == [Self.longest, Self.longest])
    }

    @Test("Work that the node finds and does not take makes no haste")
    func full() {
        var pace = LookPace()
        for _ in 0..<10 { pace.looked(found: true) }
        #expect(pace.wait == Self.longest)
        pace.took()
        pace.looked(found: true)
        #expect(pace.wait == Self.shortest)
    }

    @Test(
        "Chance spreads the looks of several nodes, and none comes sooner than five milliseconds or later than a second"
    )
    func jitter() {
        var random = FastRandom()
        var pace = LookPace()
        let waits = (0..<100).map { _ in pace.next(&random) }
        #expect(Set(waits).count > 50)
        #expect(waits.allSatisfy { Self.longest / 2...Self.longest ~= $0 })
        pace.looked(found: true)
        #expect((0..<100).allSatisfy { _ in pace.next(&random) == Self.shortest })
    }
}
