import RelayPosix
import Synchronization
import Testing

@Suite("Long work beside every loop")
struct SideThreadTests {
    @Test("Is done one after the other, also when it is asked for anew", .timeLimit(.minutes(1)))
    func order() async {
        let side = SideThread("side-test")
        for round in 0..<3 {
            let done = Mutex<[Int]>([])
            let underWay = Atomic<Int>(0)
            for number in 0..<100 {
                side.start {
                    #expect(underWay.add(1, ordering: .relaxed).newValue == 1)
                    done.withLock { $0.append(number) }
                    underWay.subtract(1, ordering: .relaxed)
                }
            }
            #expect(await side.perform { round } == round)
            #expect(done.withLock { $0 } == Array(0..<100))
        }
    }

    @Test("Is done beside who asks", .timeLimit(.minutes(1)))
    func beside() async {
        let side = SideThread("side-test")
        let asked = Semaphore()
        // On the thread of who asks it would wait for ever.
        side.start { asked.wait() }
        asked.signal()
        #expect(await side.perform { true })
    }
}
