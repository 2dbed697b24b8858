import Testing

@testable import RelayEngine

@Suite("Whether the network counts as constrained")
struct ConstrainedMachineTests {
    private static let both = ["/a", "/b"]

    private func machine(
        of files: [String] = both,
        control: Bool = true,
        _ sights: [ConstrainedMachine.NetworkObservation] = []
    ) -> ConstrainedMachine {
        var machine = ConstrainedMachine()
        machine.sourcesChanged(to: files, control: control)
        machine.looked(at: files, sights)
        return machine
    }

    @Test(
        "Any file that exists is enough; one that cannot be looked at says nothing",
        arguments: [
            ([.absent, .absent], false), ([.absent, .present], true), ([.present, .present], true),
            ([.hidden(reason: "EACCES"), .absent], false),
        ] as [([ConstrainedMachine.NetworkObservation], Bool)]
    )
    func files(sights: [ConstrainedMachine.NetworkObservation], isConstrained: Bool) {
        #expect(machine(sights).verdict.isConstrained == isConstrained)
    }

    @Test("Without sources it never is")
    func nothing() {
        #expect(!ConstrainedMachine().verdict.isConstrained)
        #expect(!machine(of: []).verdict.isConstrained)
    }

    @Test("An operator's word overrides the files until it is taken back")
    func order() {
        var machine = machine([.present, .absent])
        #expect(machine.verdict.reason == "/a exists")
        let isHeardOff = machine.ordered(.off)
        #expect(isHeardOff)
        #expect(!machine.verdict.isConstrained)
        machine.looked(at: Self.both, [.present, .present])
        #expect(!machine.verdict.isConstrained)
        let isHeardAuto = machine.ordered(.auto)
        #expect(isHeardAuto)
        #expect(machine.verdict.isConstrained)
        machine.looked(at: Self.both, [.absent, .absent])
        let isHeardOn = machine.ordered(.on)
        #expect(isHeardOn)
        #expect(machine.verdict.isConstrained)
        #expect(machine.verdict.reason == "an operator said so")
    }

    @Test("Where operators have no say, their word changes nothing")
    func noSay() {
        var machine = machine(of: ["/a"], control: false, [.absent])
        let isHeardOn = machine.ordered(.on)
        #expect(!isHeardOn)
        #expect(machine.order == .auto)
        #expect(!machine.verdict.isConstrained)
    }

    @Test("A reload keeps an operator's word, unless it takes the say away")
    func reload() {
        var machine = machine([.absent, .absent])
        _ = machine.ordered(.on)
        machine.sourcesChanged(to: [], control: true)
        #expect(machine.verdict.isConstrained)
        machine.sourcesChanged(to: ["/a"], control: false)
        #expect(machine.order == .auto)
        #expect(!machine.verdict.isConstrained)
        machine.sourcesChanged(to: Self.both, control: true)
        #expect(machine.order == .auto)
    }

    @Test("A reload keeps what was seen of the files it keeps")
    func reloadedFiles() {
        var machine = machine([.absent, .present])
        machine.sourcesChanged(to: ["/b", "/c"], control: false)
        #expect(machine.observations == [.present, .absent])
        machine.sourcesChanged(to: ["/c"], control: false)
        #expect(!machine.verdict.isConstrained)
    }

    @Test("A look at the files of another configuration says nothing")
    func lateLook() {
        var machine = machine(of: ["/a"], control: false, [.absent])
        machine.looked(at: ["/b"], [.present])
        machine.looked(at: ["/a"], [])
        #expect(machine.observations == [.absent])
    }
}
