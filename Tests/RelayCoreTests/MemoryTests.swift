import RelayCore
import RelayTestSupport
import Testing

@Suite("The account of memory", .timeLimit(.minutes(1)))
struct MemoryTests {
    @Test("Who finds no room waits in turn, and nobody overtakes")
    func order() {
        var machine = MemoryMachine(limit: 100)
        #expect(machine.arrived(1, 50) == .granted)
        #expect(machine.arrived(2, 40) == .granted)
        #expect(machine.arrived(3, 30) == .waits)
        #expect(machine.arrived(4, 5) == .waits)
        #expect(machine.gaveBack(collected: 10) == [])
        #expect(machine.gaveBack(collected: 10) == [3])
        #expect(machine.gaveBack(collected: 50) == [4])
        #expect(machine.collected == 55 && machine.waiting == 0)
    }

    @Test("Who gives up lets in those behind, and is told whether it still waited")
    func gaveUp() {
        var machine = MemoryMachine(limit: 100)
        _ = machine.arrived(1, 50)
        _ = machine.arrived(2, 45)
        _ = machine.arrived(3, 50)
        _ = machine.arrived(4, 5)
        let end = machine.gaveUp(3)
        #expect(end.waited && end.admitted == [4])
        #expect(!machine.gaveUp(4).waited)
    }

    @Test("What is held has its half, and never keeps those who collect from theirs")
    func halves() {
        var machine = MemoryMachine(limit: 100)
        #expect(machine.hold(50))
        #expect(!machine.hold(1))
        machine.overdraw(500)
        #expect(machine.arrived(1, 50) == .granted)
        #expect(machine.arrived(2, 51) == .refused)
        #expect(machine.arrived(3, 1) == .waits)
        #expect(machine.gaveBack(held: 500) == [])
        #expect(machine.gaveBack(held: 1) == [3])
        #expect(machine.used == 100)
    }

    @Test("A lower limit refuses who waits for more than there may be, a higher one lets in")
    func configured() {
        var machine = MemoryMachine(limit: 100)
        _ = machine.arrived(1, 50)
        _ = machine.arrived(2, 50)
        _ = machine.arrived(3, 50)
        _ = machine.arrived(4, 10)
        let lower = machine.configured(limit: 60)
        #expect(lower.admitted == [] && lower.refused == [3])
        #expect(machine.gaveBack(collected: 50) == [4])
        _ = machine.arrived(5, 30)
        #expect(machine.configured(limit: 200).admitted == [5])
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

    @Test("Free memory is worth giving back once, after much of it was let go")
    func trim() {
        let account = MemoryAccount(limit: 1 << 30)
        var hold: MemoryHold? = account.overdraw(64 << 20)
        #expect(!account.takeTrim())
        hold?.shrink(to: 48 << 20)
        #expect(!account.takeTrim())
        hold = nil
        #expect(hold == nil && account.usage.used == 0)
        #expect(account.takeTrim() && !account.takeTrim())
    }
}
