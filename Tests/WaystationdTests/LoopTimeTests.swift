import RelayBase
import RelayPosix
import RelayRoute
import Testing

@testable import waystationd

@Suite("A wait without a task", .timeLimit(.minutes(1)))
struct LoopTimeTests {
    /// When it is given up.
    enum Cancelling: CaseIterable, Sendable {
        case never, onTheLoop, elsewhere, afterItWasTold
    }

    @Test("Is told of once, after its beginning has returned", arguments: Cancelling.allCases)
    func once(cancelling: Cancelling) async throws {
        let loop = try EventLoop.start(name: "test")
        let time = LoopTime(loop: loop)
        let hasCome = cancelling == .never || cancelling == .afterItWasTold
        let end = time.now().advanced(by: hasCome ? .milliseconds(1) : .seconds(3_600))
        let told = loop.bind { Told() }
        let wait = await withCheckedContinuation { continuation in
            loop.execute {
                let wait = time.wake(told.value, at: end)
                #expect(told.value.count == 0)
                continuation.resume(returning: wait)
            }
        }
        switch cancelling {
        case .never: break
        case .onTheLoop: loop.execute { wait.cancel() }
        case .elsewhere: wait.cancel()
        case .afterItWasTold: await isTold(told, loop)
        }
        await isTold(told, loop)
        // A cancellation that comes later finds nothing to end.
        wait.cancel()
        await loop.spawn { await loop.nextIteration() }.value
        let (count, at) = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: (told.value.count, told.value.at)) }
        }
        #expect(count == 1 && (at >= end) == hasCome)
        loop.stop()
    }

    private func isTold(_ told: LoopBound<Told>, _ loop: EventLoop) async {
        await loop.spawn { while told.value.count == 0 { await loop.nextIteration() } }.value
    }
}

private final class Told: AnswerReceiver {
    var count = 0
    var at = Instant(nanoseconds: 0)

    func received(_ result: PromptResult) {
        guard case .woken = result else { return }
        count += 1
        at = Instant(nanoseconds: SystemClock.monotonic())
    }
}
