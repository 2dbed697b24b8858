import RelayTestSupport
import Synchronization
import Testing

@testable import RelayEngine

@Suite("Between two sweeps", .runQueue, .timeLimit(.minutes(1)))
struct SweepRestTests {
    private let time = VirtualTime(.manual)
    private let rest = SweepTimer()

    /// A sleep that has begun, and whether it is over.
    private func sleeping(for wait: Duration) async -> (task: Task<Void, Never>, isOver: Mutexed) {
        let isOver = Mutexed()
        let (time, rest) = (time, rest)
        rest.begin()
        let task = Task {
            try? await rest.sleep(after: time.now(), idleTime: wait, time)
            isOver.set()
        }
        await untilIdle()
        return (task, isOver)
    }

    final class Mutexed: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    @Test(
        "A second passes while something moves",
        arguments: [.zero, .milliseconds(300), .seconds(1)] as [Duration]
    )
    func moving(wait: Duration) async {
        let (task, isOver) = await sleeping(for: wait)
        time.advance(by: .milliseconds(999))
        await untilIdle()
        #expect(!isOver.isSet)
        time.advance(by: .milliseconds(1))
        await task.value
    }

    @Test(
        "A moment at which something is due ends a rest, and a minute at the most does",
        arguments: [(.seconds(7), .seconds(7)), (.seconds(86_400), .seconds(60))] as [(Duration, Duration)]
    )
    func due(wait: Duration, lasts: Duration) async {
        let (task, isOver) = await sleeping(for: wait)
        time.advance(by: lasts - .milliseconds(1))
        await untilIdle()
        #expect(!isOver.isSet)
        time.advance(by: .milliseconds(1))
        await task.value
    }

    @Test("A stir ends a rest, but not before its first second is over")
    func stirred() async {
        let (task, isOver) = await sleeping(for: .seconds(3_600))
        time.advance(by: .seconds(5))
        rest.stir()
        await task.value

        let (second, isSecondOver) = await sleeping(for: .seconds(3_600))
        rest.stir()
        await untilIdle()
        #expect(isOver.isSet && !isSecondOver.isSet)
        time.advance(by: .seconds(1))
        await second.value
    }

    @Test("A stir during a sweep has another sweep follow it")
    func early() async {
        rest.begin()
        rest.stir()
        let (time, rest) = (time, rest)
        let task = Task { try? await rest.sleep(after: time.now(), idleTime: .seconds(3_600), time) }
        await untilIdle()
        time.advance(by: .seconds(1))
        await task.value
    }

    @Test("The end of the task ends the rest")
    func cancelled() async {
        let (task, isOver) = await sleeping(for: .seconds(3_600))
        task.cancel()
        await task.value
        #expect(isOver.isSet)
    }
}
