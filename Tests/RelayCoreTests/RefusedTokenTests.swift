import RelayBase
import RelayCore
import Testing

@Suite("A credential that is refused although it is fresh")
struct RefusedTokenMachineTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test("The first refusal of a token that was not fetched because of one holds nothing back")
    func stale() {
        var machine = RefusedTokenMachine()
        #expect(machine.refused(1, isFresh: false, now: at(0)) == nil)
        #expect(machine.generation == nil)
    }

    @Test("No token is fetched for a second, then for twice as long each time, at most five minutes")
    func doubles() {
        var machine = RefusedTokenMachine()
        var now: Int64 = 0
        var waits: [Int64] = []
        for generation in 1...11 as ClosedRange<UInt64> {
            let wait = machine.refused(generation, isFresh: true, now: at(now))?.components.seconds ?? 0
            waits.append(wait)
            #expect(machine.refused(generation, isFresh: false, now: at(now + wait - 1)) == .seconds(1))
            #expect(machine.refused(generation, isFresh: false, now: at(now + wait)) == nil)
            now += wait
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    }

    @Test("Many jobs that are refused the same fresh token are one refusal")
    func once() {
        var machine = RefusedTokenMachine()
        for _ in 0..<50 { #expect(machine.refused(2, isFresh: true, now: at(0)) == .seconds(1)) }
    }

    @Test("A request that was refused an older token has a newer one without a fetch")
    func older() {
        var machine = RefusedTokenMachine()
        _ = machine.refused(2, isFresh: true, now: at(0))
        #expect(machine.refused(1, isFresh: false, now: at(0)) == nil)
        #expect(machine.generation == 2)
    }

    @Test("A newer token from elsewhere that is refused too is followed by no fetch either")
    func elsewhere() {
        var machine = RefusedTokenMachine()
        _ = machine.refused(2, isFresh: true, now: at(0))
        #expect(machine.refused(5, isFresh: false, now: at(0)) == .seconds(1))
        #expect(machine.generation == 5)
    }

    @Test(
        "A token that is taken ends it, unless it is an older one",
        arguments: [(1, false), (2, true), (3, true)] as [(UInt64, Bool)]
    )
    func accepted(generation: UInt64, ends: Bool) {
        var machine = RefusedTokenMachine()
        _ = machine.refused(2, isFresh: true, now: at(0))
        machine.accepted(generation)
        #expect((machine.generation == nil) == ends)
        #expect((machine.refused(3, isFresh: false, now: at(0)) == nil) == ends)
    }
}
