import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The account of memory", .timeLimit(.minutes(5)))
struct MemoryTests {
    @Test("A request that finds no room waits in turn, and nobody overtakes")
    func order() {
        var machine = MemoryMachine(limit: 100)
        let arrivals = [(1, 50), (2, 40), (3, 30), (4, 5)].map { machine.arrived($0.0, $0.1) }
        #expect(arrivals == [.granted, .granted, .waits, .waits])
        let admitted = [10, 10, 50].map { machine.gaveBack(collected: $0) }
        #expect(admitted == [[], [3], [4]])
        #expect(machine.collected == 55 && machine.waiting == 0)
    }

    @Test("A request that gives up lets in those behind, and is told whether it still waited")
    func gaveUp() {
        var machine = MemoryMachine(limit: 100)
        for (id, bytes) in [(1, 50), (2, 45), (3, 50), (4, 5)] { _ = machine.arrived(UInt64(id), bytes) }
        let end = machine.gaveUp(3)
        #expect(end.waited && end.admitted == [4])
        let late = machine.gaveUp(4)
        #expect(!late.waited)
    }

    @Test("Memory that is held has its half, and never keeps those who collect from theirs")
    func halves() {
        var machine = MemoryMachine(limit: 100)
        let isHeld = [50, 1].map { machine.reserve($0) }
        #expect(isHeld == [true, false])
        machine.reserveUnchecked(500)
        let arrivals = [(1, 50), (2, 51), (3, 1)].map { machine.arrived($0.0, $0.1) }
        #expect(arrivals == [.granted, .refused, .waits])
        let admitted = [500, 1].map { machine.gaveBack(held: $0) }
        #expect(admitted == [[], [3]])
        #expect(machine.used == 100)
    }

    @Test("A lower limit refuses who waits for more than there may be, a higher one lets in")
    func configured() {
        var machine = MemoryMachine(limit: 100)
        for (id, bytes) in [(1, 50), (2, 50), (3, 50), (4, 10)] { _ = machine.arrived(UInt64(id), bytes) }
        let lower = machine.configured(limit: 60)
        #expect(lower.admitted == [] && lower.refused == [3])
        let admitted = machine.gaveBack(collected: 50)
        #expect(admitted == [4])
        _ = machine.arrived(5, 30)
        let higher = machine.configured(limit: 200)
        #expect(higher.admitted == [5])
    }

    @Test("A wait ends with room, with its deadline, or with its task")
    func waits() async throws {
        let account = MemoryAccount(limit: 100)
        let time = VirtualTime(.manual)
        let (now, later) = (time.now(), time.now().advanced(by: .seconds(9)))
        var first = await account.collect(50, by: now, time)
        let second = await account.collect(50, by: now, time)
        #expect(first != nil && second != nil)
        #expect(await account.collect(10, by: now, time) == nil)
        let cancelled = Task { await account.collect(20, by: later, time) }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        let patient = Task { await account.collect(30, by: later, time) }
        first = nil
        let third = await patient.value
        #expect(third != nil && first == nil)
        #expect(account.usage.used == 80 && account.usage.waiting == 0)
        third?.shrink(to: 7)
        #expect(account.usage.used == 57)
        withExtendedLifetime((second, third)) {}
    }

    @Test(
        "One job of a stream has its turn: the first to come, or the first to leave",
        arguments: [(JobOrder.completion, 2), (.input, 0)]
    )
    func turns(order: JobOrder, early: Int) async {
        let turns = AnswerOrder(order: order)
        let taken = [early, 1, 3].map { turns.take($0) }
        #expect(taken == [true, false, false])
        let waiting = Task { await turns.wait(1) }
        let cancelled = Task { await turns.wait(5) }
        cancelled.cancel()
        #expect(await cancelled.value == false)
        // A job that has no turn gives none away.
        turns.left(7)
        turns.left(early)
        #expect(await waiting.value)
        let later = [1, 3].map { turns.take($0) }
        #expect(later == [true, false])
    }

    @Test("Free memory is worth giving back once, after much of it was let go")
    func trim() {
        let account = MemoryAccount(limit: 1 << 30)
        var hold: MemoryReservation? = account.reserveUnchecked(64 << 20)
        #expect(!account.takeTrim())
        hold?.shrink(to: 48 << 20)
        #expect(!account.takeTrim())
        hold = nil
        #expect(hold == nil && account.usage.used == 0)
        let told = [account.takeTrim(), account.takeTrim()]
        #expect(told == [true, false])
    }
}
