import Testing

@testable import RelayEngine

@Suite("How a stop goes")
struct DrainMachineTests {
    private static let second: Int64 = 1_000_000_000

    private func draining() -> DrainMachine {
        var machine = DrainMachine()
        _ = machine.stopWanted(now: 0, limit: .seconds(60))
        return machine
    }

    @Test("The first signal drains, the second ends at once")
    func signals() {
        var machine = DrainMachine()
        #expect(!machine.isDraining)
        #expect(machine.stopWanted(now: 0, limit: .seconds(60)) == .drain)
        #expect(machine.isDraining)
        #expect(machine.stopWanted(now: 1, limit: .seconds(60)) == .stopNow)
    }

    @Test(
        "More time is asked for while a request is under way or connections close, and not for idle ones that stay",
        arguments: [
            (before: (busy: 2, inFlight: 1), now: (busy: 2, inFlight: 1), asks: true),
            (before: (busy: 2, inFlight: 1), now: (busy: 2, inFlight: 0), asks: false),
            (before: (busy: 2, inFlight: 0), now: (busy: 1, inFlight: 0), asks: true),
            (before: (busy: 3, inFlight: 0), now: (busy: 3, inFlight: 0), asks: false),
        ]
    )
    func extensions(before: (busy: Int, inFlight: Int), now: (busy: Int, inFlight: Int), asks: Bool) {
        var machine = draining()
        _ = machine.looked(busy: before.busy, inFlight: before.inFlight, now: 1)
        let look = machine.looked(busy: now.busy, inFlight: now.inFlight, now: 2)
        #expect(look == .wait(extend: asks))
    }

    @Test("With nothing left the second look ends the drain; the first may come too early")
    func finish() {
        var machine = draining()
        #expect(machine.looked(busy: 0, inFlight: 0, now: 1) == .wait(extend: false))
        #expect(machine.looked(busy: 0, inFlight: 0, now: 2) == .finished)
    }

    @Test("Work that is left at the limit is not waited for")
    func limit() {
        var machine = draining()
        _ = machine.looked(busy: 1, inFlight: 1, now: 0)
        #expect(machine.looked(busy: 1, inFlight: 1, now: 60 * Self.second - 1) == .wait(extend: true))
        #expect(machine.looked(busy: 1, inFlight: 1, now: 60 * Self.second) == .stopNow)
    }
}
