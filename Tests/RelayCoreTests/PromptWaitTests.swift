import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("A job that waits without a task", .timeLimit(.minutes(1)))
struct PromptWaitTests {
    private let route = makeRoute { $0.recovery = [rule("again", ["5xx"], retry(3))] }

    @Test("Waits for its next attempt as one with a task does")
    func waits() async throws {
        let bench = Bench([.answer(503), .answer(503), .answer(200)])
        let job = try Job(bench, route)
        await job.end()
        #expect(job.progress == [.sent, .sent, .sent, .sent, .sent, .ended])
        #expect(job.execution.outcome.status == 200)
        #expect(bench.time.waits == [.milliseconds(100), .milliseconds(100)])
    }

    @Test("Given up while it waits it ends at once, and nothing more is sent")
    func cancelled() async throws {
        let bench = Bench([.answer(503), .answer(200)], mode: .manual)
        let job = try Job(bench, route, cancelsAfter: 2)
        await job.end()
        #expect(job.progress == [.sent, .sent, .ended])
        let outcome = job.execution.outcome
        #expect(outcome.failure?.kind == .cancelled && outcome.attempts.count == 1)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("Has a task where the clock knows no other way")
    func ofTasks() async throws {
        let bench = Bench([.answer(503), .answer(200)])
        let job = try Job(bench, route, time: bench.time)
        await job.end()
        #expect(job.progress == [.sent, .waits])
    }
}

/// Goes on until it ends or takes a task.
private final class Job: AnswerReceiver, @unchecked Sendable {
    let execution: Execution
    /// It is given up once it has gone on so often.
    private let limit: Int
    private let state = Mutex(State())

    private struct State {
        var progress: [Execution.Progress] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    var progress: [Execution.Progress] { state.withLock { $0.progress } }

    init(
        _ bench: Bench,
        _ route: Route,
        time: (any TimeSource)? = nil,
        cancelsAfter limit: Int = .max
    ) throws {
        self.limit = limit
        let relay = Relay(
            ports: RelayPorts(
                transport: PromptOver(bench.transport),
                time: time ?? PromptClock(bench.time),
                entropy: SeededEntropy(),
                sink: bench.sink,
                start: { work in Task { await work() } }
            )
        )
        let context = JobContext(
            id: JobID(milliseconds: 1, random: (2, 3)),
            route: route,
            method: .get,
            target: "x",
            options: JobOptions(),
            client: nil,
            memory: RouteMemory()
        )
        execution = try relay.begin(HTTPRequest(method: .get, target: "x"), context, bench.vault).get()
        take(execution.goOn(self))
    }

    func received(_ result: PromptResult) { take(execution.tell(result, self)) }

    func end() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if let last = state.progress.last, last != .sent { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    private func take(_ next: Execution.Progress) {
        let (waiter, count) = state.withLock { state in
            state.progress.append(next)
            return (next == .sent ? nil : state.waiter.take(), state.progress.count)
        }
        waiter?.resume()
        if count == limit { execution.cancel() }
    }
}
