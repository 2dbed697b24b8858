import Testing

@testable import RelayFleet

@Suite("The database's clock as a node knows it")
struct FleetClockTests {
    @Test("A reply narrows what is known, and a quicker one tells more")
    func narrows() {
        var clock = FleetClock()
        #expect(!clock.isKnown)
        clock.observe(1_000_050, sent: 0, received: 100)
        #expect(clock.time(at: 100) == 1_000_050)
        clock.observe(1_000_201, sent: 200, received: 202)
        #expect(clock.time(at: 300) == 1_000_299)
        clock.observe(1_000_399, sent: 300, received: 500)
        #expect(clock.time(at: 500) == 1_000_499)
    }

    @Test("A database whose clock was stepped is believed at once", arguments: [5_000, -5_000] as [Int64])
    func steps(_ step: Int64) {
        var clock = FleetClock()
        clock.observe(1_000_000, sent: 0, received: 0)
        clock.observe(1_000_100 + step, sent: 100, received: 100)
        #expect(clock.time(at: 200) == 1_000_200 + step)
    }

    @Test("Old bounds are forgotten, since clocks drift")
    func forgets() {
        var clock = FleetClock()
        clock.observe(1_000_000, sent: 0, received: 0)
        let later = FleetClock.memory + 1
        clock.observe(1_000_000 + later + 3, sent: later, received: later + 10)
        #expect(clock.low == 1_000_000 - 7 && clock.high == 1_000_003)
    }
}
