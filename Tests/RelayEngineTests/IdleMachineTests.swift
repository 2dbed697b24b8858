import Testing

@testable import RelayEngine

@Suite("When everything is looked at")
struct RestMachineTests {
    private static let second: Int64 = 1_000_000_000
    private var machine = IdleMachine()

    private mutating func look(
        at now: Int64,
        isQuiet: Bool = true,
        isUndisturbed: Bool = true,
        due: Int64? = nil
    ) -> Int64 {
        machine.looked(isQuiet: isQuiet, isUndisturbed: isUndisturbed, due: due, now: now)
    }

    @Test("Twice a second while something is under way, whatever is due")
    mutating func moving() {
        for number in 0..<10 {
            let now = Int64(number) * IdleMachine.period
            #expect(look(at: now, isQuiet: false, due: 100 * Self.second) == now + IdleMachine.period)
            #expect(!machine.listens)
        }
    }

    @Test("Once more after the first quiet look, and then not for a minute")
    mutating func rest() {
        #expect(look(at: 0) == IdleMachine.period)
        #expect(machine.listens)
        #expect(look(at: IdleMachine.period) == IdleMachine.period + 60 * Self.second)
        // However long it has been quiet, the minutes of the history end.
        #expect(look(at: 61 * Self.second) == 121 * Self.second)
    }

    @Test("Work that is due ends the rest in time, and work that stays due does not end it all the time")
    mutating func due() {
        #expect(look(at: 0, due: 7 * Self.second) == IdleMachine.period)
        #expect(look(at: Self.second, due: 7 * Self.second) == 7 * Self.second)
        #expect(look(at: 7 * Self.second, due: 3 * Self.second) == 7 * Self.second + IdleMachine.shortest)
        #expect(look(at: 8 * Self.second, due: 300 * Self.second) == 68 * Self.second)
    }

    @Test("Work that begins between two quiet looks has the count begin anew")
    mutating func disturbed() {
        #expect(look(at: 0) == IdleMachine.period)
        #expect(look(at: Self.second, isUndisturbed: false) == Self.second + IdleMachine.period)
        #expect(look(at: 2 * Self.second) == 62 * Self.second)
    }

    @Test("Work that begins in a long rest is looked at within half a second, and no sooner look is put off")
    mutating func woken() {
        _ = look(at: 0)
        let next = look(at: Self.second)
        #expect(machine.woken(next: next, now: 30 * Self.second) == 30 * Self.second + IdleMachine.period)
        #expect(!machine.listens)
        _ = look(at: 31 * Self.second)
        #expect(machine.woken(next: 31 * Self.second + 9, now: 31 * Self.second) == nil)
        // It has not been quiet since then.
        #expect(look(at: 32 * Self.second) == 32 * Self.second + IdleMachine.period)
    }
}
