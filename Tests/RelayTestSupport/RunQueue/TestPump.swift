import RelayPosix
import Synchronization
package import Testing

/// Runs one test on a run queue and a thread of its own, and tells who asks when nothing of it can go on.
private final class TestPump: Sendable {
    private struct State {
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isOver = false
    }

    /// Whether nobody else ever has the next word.
    private let isClosed: Bool
    private let queue = RunQueue()
    private let state = Mutex(State())

    @TaskLocal static var current: TestPump?

    init(isClosed: Bool) { self.isClosed = isClosed }

    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let test = Task(executorPreference: queue) {
            defer { self.state.withLock { $0.isOver = true } }
            try await TestPump.$current.withValue(self) { try await body() }
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { end in
                do {
                    try startDetachedThread("test", stackSize: 8 << 20) {
                        if self.pump(stuck: { test.cancel() }) {
                            end.resume()
                        } else {
                            end.resume(throwing: Stuck())
                        }
                    }
                } catch {
                    end.resume(throwing: error)
                }
            }
        } onCancel: {
            test.cancel()
        }
        try await test.value
    }

    func idle() async {
        await withCheckedContinuation { waiter in state.withLock { $0.waiters.append(waiter) } }
    }

    /// Returns when the test is over and nothing of it can go on; false when it can never be over.
    private func pump(stuck: () -> Void) -> Bool {
        GlobalQueue.enter(queue)
        defer { GlobalQueue.leave() }
        let runnable = Semaphore()
        var isStuck = false
        while true {
            queue.run()
            let (waiter, isOver) = state.withLock { ($0.waiters.popLast(), $0.isOver) }
            // The first that asked waits for those that asked after it.
            if let waiter {
                waiter.resume()
                continue
            }
            if isOver { return !isStuck }
            if isClosed {
                if isStuck { return false }
                isStuck = true
                stuck()
                continue
            }
            // Another thread has the next word: the test's time limit, at the latest.
            queue.whenRunnable { runnable.signal() }
            runnable.wait()
        }
    }
}

/// The test waits for what nothing of it will ever bring.
private struct Stuck: Error, CustomStringConvertible {
    let description = "the test cannot end: nothing of it can go on"
}

/// Runs every test on a thread of its own, one task after the other, so that it can wait until nothing can go on.
package struct RunQueueTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true
    let isClosed: Bool

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { try await TestPump(isClosed: isClosed).run($0) }
    }
}

extension Trait where Self == RunQueueTrait {
    /// All that a test starts runs on the test's own thread; `untilIdle()` waits until none of it can go on.
    package static var runQueue: RunQueueTrait { RunQueueTrait(isClosed: false) }

    /// The same for a test that waits for no other thread: one that nothing can end any more fails at once.
    package static var closedRunQueue: RunQueueTrait { RunQueueTrait(isClosed: true) }
}

/// Returns when nothing of this test can go on: not before its clock moves, or the test lets somebody go.
package func untilIdle() async {
    guard let pump = TestPump.current else { preconditionFailure("the test lacks the trait .runQueue") }
    await pump.idle()
}

/// Returns when the task is cancelled.
package func untilCancelled() async {
    let (never, end) = AsyncStream<Never>.makeStream()
    for await _ in never {}
    _ = end
}
