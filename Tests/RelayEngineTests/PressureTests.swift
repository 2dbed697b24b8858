import RelayBase
import RelayInterface
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("New work is refused while memory is short", .timeLimit(.minutes(1)))
struct PressureTests {
    private func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(by: .milliseconds(Int64(seconds * 1_000)))
    }

    private func sight(resident: UInt64 = 0, bodies: Int = 0) -> PressureMachine.MemorySample {
        PressureMachine.MemorySample(resident: resident, bodies: bodies, bodiesLimit: 8_000)
    }

    private var settings: PressureMachine.Settings {
        var settings = PressureMachine.Settings()
        settings.maxResident = 1_600
        return settings
    }

    @Test("The least urgent first, more the longer it lasts, and back step by step")
    func steps() {
        var machine = PressureMachine(settings)
        var refused: [UInt8] = []
        for half in 0..<30 {
            machine.looked(sight(resident: half < 12 ? 1_600 : 0), at(Double(half) / 2))
            refused.append(machine.refusedFrom)
        }
        let up = [UInt8](repeating: 4, count: 4) + [UInt8](repeating: 3, count: 6) + [0, 0]
        let down: [UInt8] = [0, 0, 0, 3, 3, 3, 3, 4, 4, 4, 4] + [UInt8](repeating: 8, count: 7)
        #expect(refused == up + down)
        #expect(machine.since == nil && machine.cause == nil)
    }

    @Test("A word of the kernel counts for five seconds, and who is refused is told to come after them")
    func kernel() {
        var machine = PressureMachine(settings)
        machine.signalled(at(10))
        #expect(machine.level == 1 && machine.cause == .kernel && machine.since == at(10))
        #expect(machine.wait(4, at(11)) == .seconds(6) && machine.wait(3, at(11)) == .seconds(4))
        for half in 21...60 { machine.looked(sight(), at(Double(half) / 2)) }
        #expect(machine.level == 0)
        machine.signalled(at(100))
        machine.looked(sight(), at(102))
        #expect(machine.level == 2 && machine.wait(3, at(102)) == .seconds(5))
        machine.signalled(at(104))
        machine.looked(sight(), at(105))
        #expect(machine.level == 3 && machine.wait(0, at(105)) == .seconds(6))
        #expect(machine.wait(7, at(105)) == .seconds(10))
    }

    @Test("It does not flap at its bound")
    func hysteresis() {
        var machine = PressureMachine(settings)
        machine.looked(sight(resident: 1_599), at(0))
        #expect(machine.level == 0)
        machine.looked(sight(resident: 1_600), at(1))
        for second in 2...20 { machine.looked(sight(resident: 1_500), at(Double(second))) }
        #expect(machine.level == 3)
        for second in 21...27 { machine.looked(sight(resident: 1_499), at(Double(second))) }
        #expect(machine.level == 0)
    }

    @Test("For bodies alone only what is less urgent than usual is refused, however long it lasts")
    func account() {
        var machine = PressureMachine(settings)
        for second in 0...20 { machine.looked(sight(bodies: 7_000), at(Double(second))) }
        #expect(machine.refusedFrom == 4 && machine.cause == .account)
        machine.looked(sight(resident: 1_600), at(21))
        machine.looked(sight(resident: 1_600), at(27))
        #expect(machine.refusedFrom == 0)
        for second in 28...40 { machine.looked(sight(bodies: 7_000), at(Double(second))) }
        #expect(machine.refusedFrom == 4)
        machine.looked(sight(bodies: 6_001), at(41))
        #expect(machine.refusedFrom == 4)
        for second in 42...45 { machine.looked(sight(bodies: 5_999), at(Double(second))) }
        #expect(machine.refusedFrom == 8)
    }

    @Test("Switched off it refuses nothing, also what it was refusing")
    func off() {
        var machine = PressureMachine(settings)
        machine.signalled(at(0))
        machine.settings.isEnabled = false
        machine.looked(sight(resident: 9_999), at(1))
        machine.signalled(at(2))
        #expect(machine.refusedFrom == 8 && machine.since == nil)
    }

    @Test("Last good answers are let go when more is short than the account, once, and never when it ends")
    func severe() {
        let shedding = Shedding()
        shedding.configure(settings)
        func change(_ sight: PressureMachine.MemorySample, _ second: Double) -> (String, Bool)? {
            let change = shedding.looked(sight, at(second))
            let word: String? =
                switch change {
                case .began(let cause)?: "began \(cause)"
                case .worsened(let cause)?: "worsened \(cause)"
                case .ended?: "ended"
                case nil: nil
                }
            return word.flatMap { word in change.map { (word, $0.isSevere) } }
        }
        var told: [(String, Bool)?] = [
            change(sight(bodies: 7_000), 0), change(sight(resident: 2_000), 1),
            change(sight(bodies: 7_000), 2), change(sight(resident: 2_000), 3),
        ]
        for second in 4...30 { told.append(change(sight(), Double(second))) }
        told += [change(sight(bodies: 7_000), 31)]
        for second in 32...40 { told.append(change(sight(), Double(second))) }
        told += [change(sight(resident: 2_000), 41)]
        let found = told.compactMap { $0 }
        #expect(
            found.map(\.0) == [
                "began account", "worsened resident", "ended", "began account", "ended", "began resident",
            ]
        )
        #expect(found.map(\.1) == [false, true, false, false, false, true])
    }

    @Test("The beginning and the end are told once, with what was refused meanwhile")
    func told() {
        let (shedding, time) = (Shedding(), VirtualTime())
        shedding.configure(settings)
        guard case .began(.resident)? = shedding.looked(sight(resident: 2_000), at(0)) else {
            Issue.record("it has not begun")
            return
        }
        #expect(shedding.looked(sight(resident: 2_000), at(1)) == nil)
        let refusals = [4, 7, 3].map { shedding.refusal($0, time) }
        #expect(refusals.map { $0?.code } == [.overloaded, .overloaded, nil])
        #expect(refusals[0]?.detail.contains("max_resident") == true)
        #expect((refusals[0]?.retryAfter ?? .zero) >= .seconds(1))
        var ends: [Int] = []
        for second in 2...20 {
            if case .ended(_, let refused)? = shedding.looked(sight(), at(Double(second))) {
                ends.append(refused)
            }
        }
        #expect(ends == [2] && shedding.standing.refused == 2 && shedding.refusal(7, time) == nil)
    }
}
