import Testing

@testable import RelayFleet

@Suite("The lease of a node")
struct LeaseMachineTests {
    private static let second: Int64 = 1_000_000_000

    private func machine(renewedAt times: Int64...) -> LeaseMachine {
        var machine = LeaseMachine(lease: 30 * Self.second)
        for time in times { machine.renewed(sent: time * Self.second) }
        return machine
    }

    @Test("A node sends nothing before its first lease")
    func first() {
        #expect(!machine().maySend(at: 0))
        #expect(machine().next(after: 7) == 7)
    }

    @Test(
        "A node sends its first byte only while more than a tenth of its lease is left, counted from before the renewal was sent",
        arguments: [(100, true), (126, true), (127, false), (130, false), (500, false)]
    )
    func sends(_ now: Int64, _ may: Bool) {
        #expect(machine(renewedAt: 100).maySend(at: now * Self.second) == may)
    }

    @Test("A lease is renewed when a third of it is over")
    func third() { #expect(machine(renewedAt: 100).next(after: 0) == 110 * Self.second) }

    @Test(
        "A node takes jobs over only once it has had its lease for a whole one without a gap",
        arguments: [
            ([100], 129, false), ([100, 110, 120], 130, true), ([100, 110, 141], 150, false),
            ([100, 110, 145, 155, 165], 174, false), ([100, 110, 145, 155, 165], 175, true),
        ]
    )
    func takesOver(_ times: [Int64], _ now: Int64, _ may: Bool) {
        var machine = LeaseMachine(lease: 30 * Self.second)
        for time in times { machine.renewed(sent: time * Self.second) }
        #expect(machine.mayTakeOver(at: now * Self.second) == may)
    }

    @Test(
        "A jump of the database's clock is waited out for a whole lease, and has no say in what may be sent"
    )
    func jumped() {
        var machine = machine(renewedAt: 100, 110, 120, 130)
        machine.jumped(at: 135 * Self.second)
        #expect(machine.maySend(at: 135 * Self.second) && !machine.mayTakeOver(at: 135 * Self.second))
        for time in [140, 150, 160] { machine.renewed(sent: Int64(time) * Self.second) }
        #expect(!machine.mayTakeOver(at: 164 * Self.second) && machine.mayTakeOver(at: 165 * Self.second))
    }

    @Test("A late reply to an earlier renewal does not make a lease shorter")
    func late() {
        var machine = machine(renewedAt: 100, 110)
        machine.renewed(sent: 105 * Self.second)
        #expect(machine.renewedAt == 110 * Self.second)
    }
}
