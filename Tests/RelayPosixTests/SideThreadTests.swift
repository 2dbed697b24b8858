import Glibc
import RelayPosix
import Synchronization
import Testing

@Suite("Long work beside every loop")
struct SideThreadTests {
    @Test(
        "Is done one after the other, on a thread that ends when there is none left",
        .timeLimit(.minutes(1))
    )
    func order() async {
        let side = SideThread("side-test")
        for round in 0..<3 {
            let done = Mutex<[Int]>([])
            let threads = Mutex<Set<String>>([])
            for number in 0..<100 {
                side.start {
                    done.withLock { $0.append(number) }
                    _ = threads.withLock { $0.insert(thread()) }
                }
            }
            #expect(await side.perform { round } == round)
            #expect(done.withLock { $0 } == Array(0..<100))
            for thread in threads.withLock({ $0 }) {
                while unsafe access("/proc/" + thread, F_OK) == 0 { await Task.yield() }
            }
        }
    }
}

/// The calling thread below /proc: PROCESS/task/THREAD.
private func thread() -> String {
    var path = [UInt8](repeating: 0, count: 64)
    let count = unsafe path.withUnsafeMutableBytes {
        guard let start = $0.baseAddress else { return 0 }
        return unsafe readlink("/proc/thread-self", start, $0.count)
    }
    return String(decoding: path.prefix(max(0, count)), as: UTF8.self)
}
