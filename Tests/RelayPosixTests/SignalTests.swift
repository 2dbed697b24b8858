import Glibc
import RelayPosix
import Testing

@Suite("Signals", .timeLimit(.minutes(5)))
struct SignalTests {
    @Test("A signal is heard on the loop by its number, and not after the watcher was removed")
    func heard() async throws {
        let loop = try EventLoop.start(name: "test")
        let heard = await withCheckedContinuation { continuation in
            loop.execute {
                var heard: [Int32] = []
                var watcher: SignalWatcher?
                watcher = try? SignalWatcher([SIGUSR1, SIGUSR2], on: loop) { signal in
                    heard.append(signal)
                    guard heard.count == 2 else { return }
                    watcher?.removeSelf()
                    watcher = nil
                    continuation.resume(returning: heard)
                }
                // Sent to this thread alone, where every signal is blocked.
                raise(SIGUSR2)
                loop.afterBatch { raise(SIGUSR1) }
            }
        }
        #expect(heard.sorted() == [SIGUSR1, SIGUSR2].sorted())
        loop.stop()
    }
}
