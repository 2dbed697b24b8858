import Testing

@testable import RelayEngine

@Suite("How long a daemon has been well")
struct HealthMachineTests {
    private static let minute: Int64 = 60_000_000_000

    @Test("It is well after ten minutes, which is told once")
    func once() {
        var machine = HealthMachine()
        let start = 7 * Self.minute
        let told = (0...25).filter { machine.looked(now: start + Int64($0) * Self.minute) }
        #expect(told == [10])
    }

    @Test("Not a moment earlier")
    func moment() {
        var machine = HealthMachine()
        let started = machine.looked(now: 5)
        let early = machine.looked(now: 10 * Self.minute + 4)
        let due = machine.looked(now: 10 * Self.minute + 5)
        #expect([started, early, due] == [false, false, true])
    }
}
