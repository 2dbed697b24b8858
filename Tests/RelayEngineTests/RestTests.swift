import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@testable import RelayEngine

@Suite("The daemon at rest", .timeLimit(.minutes(1)))
struct RestTests {
    @Test("The first that begins wakes, once, and only who listens")
    func waking() {
        let rest = IdleSignal()
        let wakes = Atomic<Int>(0)
        rest.end()
        #expect(!rest.lasts)
        for round in 1...3 {
            rest.begin { wakes.add(1, ordering: .relaxed) }
            #expect(rest.lasts)
            for _ in 0..<5 { rest.end() }
            #expect(!rest.lasts && wakes.load(ordering: .relaxed) == round)
        }
        rest.begin { wakes.add(1, ordering: .relaxed) }
        rest.stop()
        rest.end()
        #expect(wakes.load(ordering: .relaxed) == 3)
    }

    @Test("Of many that begin at once one wakes")
    func race() async {
        let rest = IdleSignal()
        let wakes = Atomic<Int>(0)
        for _ in 0..<200 {
            rest.begin { wakes.add(1, ordering: .relaxed) }
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { rest.end() } }
            }
        }
        #expect(wakes.load(ordering: .relaxed) == 200)
    }

    @Test("Refusals that are held back are due when they may be told of")
    func refusals() {
        func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(by: .seconds(seconds)) }
        let callers = CallerShares()
        let share = callers.enter(7)
        #expect(callers.due == nil)
        share.refused(.requests)
        #expect(callers.due.map { $0 <= at(0) } ?? false)
        #expect(callers.look(at(5)).map(\.count) == [1])
        #expect(callers.due == nil)
        share.refused(.requests)
        share.refused(.requests)
        #expect(callers.due == at(65))
        #expect(callers.look(at(64)).isEmpty)
        #expect(callers.look(at(65)).map(\.count) == [2])
        #expect(callers.due == nil)
    }

    @Test("A minute of the history is due as it ends, and what came after a long rest is not put into it")
    func history() {
        func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(by: .seconds(seconds)) }
        var machine = HistoryMachine(began: at(0))
        var totals = HistoryMachine.Totals()
        #expect(machine.due == at(60))
        totals.requests = 4
        for minute in 1...3 { machine.looked({ ["r": totals] }, at(60 * minute)) }
        #expect(machine.due == at(240))
        totals.requests = 9
        #expect(machine.columns(of: "r", totals).map { $0?.requests } == [4, 0, 0, 5])
    }
}
