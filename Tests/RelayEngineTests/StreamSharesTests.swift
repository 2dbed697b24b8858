import RelayBase
import Testing

@testable import RelayEngine

@Suite("Answers that stream leave permits to other users")
struct StreamSharesTests {
    private func at(_ second: Int) -> Instant { Instant(nanoseconds: Int64(second) * 1_000_000_000) }

    @Test("A user's share is all but an eighth of the permits, and at least one")
    func share() {
        #expect([1, 2, 7, 8, 16, 256].map(StreamShares.share(of:)) == [1, 1, 6, 7, 14, 224])
    }

    @Test("One more stream of a user waits until one ends, and nothing else does")
    func waits() {
        var machine = ConcurrencyMachine(limit: 8, maxPending: 8)
        for id in 1...UInt64(7) {
            #expect(machine.arrived(id, stream: .user(1), urgency: 3, at(0)) == .admit)
            machine.streamBegan(id, .user(1), isEndless: true, at(0))
        }
        #expect(machine.arrived(8, stream: .user(1), urgency: 3, at(1)) == .wait)
        #expect(machine.pending == 1 && machine.hasItsStreams(.user(1), at(1)))
        let isPlain = machine.arrivedPlainly()
        #expect(!isPlain)
        #expect(machine.arrived(9, .user(1)) == .admit)
        #expect(machine.left() == [])
        #expect(machine.arrived(10, stream: .user(2), urgency: 3, at(1)) == .admit)
        #expect(machine.left() == [])
        #expect(machine.streamEnded(3, at(2)) == [8])
        #expect(machine.left() == [])
        #expect(machine.pending == 0)
    }

    @Test("One that gives up waits no more, and a reload lets all that wait for a stream go on")
    func givesUp() {
        var machine = ConcurrencyMachine(limit: 2, maxPending: 8)
        _ = machine.arrived(1, stream: .user(1), urgency: 3, at(0))
        machine.streamBegan(1, .user(1), isEndless: true, at(0))
        #expect(machine.arrived(2, stream: .user(1), urgency: 3, at(0)) == .wait)
        #expect(machine.arrived(3, stream: .user(1), urgency: 3, at(0)) == .wait)
        let hasGivenUp = machine.gaveUp(2)
        #expect(hasGivenUp)
        #expect(machine.pending == 1)
        #expect(machine.resized(limit: 4, maxPending: 8) == [3])
    }

    @Test("Of streams that began at once beyond a share the last ends when another user waits")
    func recall() {
        var machine = ConcurrencyMachine(limit: 8, maxPending: 8)
        for id in 1...UInt64(8) {
            #expect(machine.arrived(id, .user(1)) == .admit)
            machine.streamBegan(id, .user(1), isEndless: true, at(0))
        }
        #expect(machine.recall(for: .user(2), at(0)) == nil, "nobody waits")
        #expect(machine.arrived(9, .user(1)) == .wait)
        #expect(machine.recall(for: .user(1), at(0)) == nil, "it does so for no other's sake")
        #expect(machine.arrived(10, .user(2)) == .wait)
        #expect(machine.recall(for: .user(2), at(0)) == 8)
        #expect(machine.recall(for: .user(2), at(0)) == nil, "once")
        // From then on its requests are taken for streams for a while.
        #expect(machine.isCautious(of: .user(1), at(59)) && !machine.isCautious(of: .user(1), at(60)))
        #expect(!machine.isCautious(of: .user(2), at(1)))
    }

    @Test("An answer that does not say that it is endless streams from ten seconds after its head on")
    func patience() {
        var machine = ConcurrencyMachine(limit: 2, maxPending: 8)
        for id in 1...UInt64(2) {
            _ = machine.arrived(id, .user(1))
            machine.streamBegan(id, .user(1), isEndless: false, at(Int(id)))
        }
        _ = machine.arrived(3, .user(2))
        #expect(machine.recall(for: .user(2), at(9)) == nil)
        #expect(machine.nextRecall(at(9)) == at(11))
        #expect(machine.recall(for: .user(2), at(11)) == nil)
        #expect(machine.nextRecall(at(11)) == at(12))
        #expect(machine.recallForAnybody(at(12)) == 2)
    }

    @Test("Kept jobs that wait count as another user")
    func keptJobs() {
        var machine = ConcurrencyMachine(limit: 1, maxPending: 8)
        _ = machine.arrived(1, .user(1))
        machine.streamBegan(1, .user(1), isEndless: true, at(0))
        _ = machine.arrived(2, .keptJobs)
        #expect(machine.recall(for: .keptJobs, at(1)) == nil, "its share is one of one")
    }
}
