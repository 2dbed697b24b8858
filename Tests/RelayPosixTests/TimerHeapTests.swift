import RelayPosix
import RelayTestSupport
import Testing

@Suite("The timer heap")
struct TimerHeapTests {
    @Test("Any mix of scheduling, moving, cancelling and firing agrees with a sorted list", arguments: 0..<20)
    func agreesWithSortedList(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var heap = TimerHeap()
        let timers = (0..<64).map { _ in LoopTimer {} }
        var model: [Int: Int64] = [:]
        for _ in 0..<3_000 {
            let index = Int.random(in: 0..<timers.count, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let deadline = Int64.random(in: 0..<1_000, using: &random)
                heap.schedule(timers[index], at: deadline)
                model[index] = deadline
            case 6..<8:
                heap.cancel(timers[index])
                model[index] = nil
            default:
                let now = Int64.random(in: 0..<300, using: &random)
                let earliest = model.values.min()
                let fired = heap.popDue(now)
                if let earliest, earliest <= now {
                    let timer = try #require(fired)
                    let place = try #require(timers.firstIndex { $0 === timer })
                    #expect(model[place] == earliest)
                    model[place] = nil
                } else {
                    #expect(fired == nil)
                }
            }
            #expect(timers.count(where: \.isScheduled) == model.count)
            #expect(heap.earliest == model.values.min())
        }
        for (index, timer) in timers.enumerated() { #expect(timer.isScheduled == (model[index] != nil)) }
    }
}
