import RelayBase
import RelayTestSupport
import Testing

@Suite("A test on a run queue", .runQueue, .timeLimit(.minutes(5)))
struct RunQueueTests {
    private let log = Log()

    private var text: String { log.lines.joined(separator: " ") }

    @Test("Tasks run in the order they came, and all of them before the test is told that nothing can go on")
    func order() async {
        for name in ["a", "b"] {
            Task.detached { [log] in
                log.note(name)
                await Task { log.note(name + "1") }.value
                await Task(executorPreference: nil) { log.note(name + "2") }.value
            }
        }
        #expect(text == "")
        await untilIdle()
        #expect(text == "a b a1 b1 a2 b2")
    }

    @Test("The clock stands still until the test moves it, and whoever it wakes goes on before the test")
    func clock() async throws {
        let time = VirtualTime(.manual)
        for second in [3, 1, 2] {
            Task { [log] in
                try await time.sleep(until: Instant(nanoseconds: Int64(second) * 1_000_000_000))
                log.note("\(second)")
            }
        }
        await untilIdle()
        #expect(text == "" && time.sleeperCount == 3)
        time.advance(by: .seconds(1))
        await untilIdle()
        #expect(text == "1")
        time.advance(by: .seconds(9))
        await untilIdle()
        #expect(time.sleeperCount == 0 && log.lines.count == 3)
    }

    @Test("The first to wait until nothing can go on waits for those who wait after it")
    func nested() async {
        Task { [log] in
            await untilIdle()
            log.note("inner")
        }
        await untilIdle()
        log.note("outer")
        #expect(text == "inner outer")
    }

    @Test("A task that waits to be cancelled is idle until it is")
    func cancelled() async {
        let task = Task { [log] in
            await untilCancelled()
            log.note("over")
        }
        await untilIdle()
        #expect(text == "")
        task.cancel()
        await untilIdle()
        #expect(text == "over")
    }
}
