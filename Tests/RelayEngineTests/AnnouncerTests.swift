import RelayCore
import RelayEngine
import RelayTestSupport
import Synchronization
import Testing

/// A listener of which nothing else in the tree knows.
private final class Counting: JobListener {
    private let words = Mutex<[JobID: [String]]>([:])

    func heard(_ event: JobEvent, at wall: Int64) {
        let word: String
        switch event {
        case .changed(let report): word = "changed \(report.state.name)"
        case .ended(let report): word = "ended \(report.state.name)"
        case .dropped: word = "dropped"
        default: return
        }
        guard let id = event.job else { return }
        words.withLock { $0[id, default: []].append(word) }
    }

    func words(of id: JobID) -> [String] { words.withLock { $0[id] ?? [] } }
}

/// What may happen to a kept job, and what everybody who listens makes of it.
private enum Cause: CaseIterable, Sendable {
    case delivered, failed, retried, heldByRule, pausedByRule, resumed, expired, superseded, crashed
    case cancelled, cancelledAsItRuns, cancelledWithOthers, held, released, retriedByOperator, dropped,
        expunged

    /// Each in the words of the listener that counts.
    var told: [String] {
        switch self {
        case .delivered: ["ended succeeded"]
        case .failed, .crashed: ["ended dead"]
        case .retried: ["changed retrying"]
        case .heldByRule, .pausedByRule, .held: ["changed held"]
        case .resumed: ["changed retrying", "ended succeeded"]
        case .expired: ["ended expired"]
        case .superseded, .cancelled, .cancelledWithOthers: ["ended cancelled"]
        case .cancelledAsItRuns: ["changed running", "ended cancelled"]
        case .released, .retriedByOperator: ["changed queued"]
        case .dropped: ["dropped"]
        case .expunged: ["changed dead"]
        }
    }

    var feed: [JobEvent.Kind] {
        switch told.last {
        case "ended succeeded": [.jobSucceeded]
        case "ended dead": [.jobDead]
        case "ended expired": [.jobExpired]
        case "ended cancelled": [.jobCancelled]
        case "changed held": [.jobHeld]
        default: []
        }
    }

    var isEnd: Bool { told.last?.hasPrefix("ended") == true }
    /// Whether the job leaves the queue.
    var leavesQueue: Bool { isEnd || self == .dropped }
}

@Suite("Whatever happens to a job reaches everybody who listens, once", .runQueue, .timeLimit(.minutes(1)))
struct AnnouncerTests {
    /// What all of them know of one job.
    private struct Knowledge: Equatable {
        var words: [String]
        var feed: [JobEvent.Kind]
        var requests: UInt64
        var results: UInt64
        var queued: Int

        init(_ id: JobID, _ bench: DurableBench, _ counting: Counting) {
            words = counting.words(of: id)
            let states: Set<JobEvent.Kind> = [
                .jobSucceeded, .jobDead, .jobExpired, .jobCancelled, .jobHeld,
            ]
            feed = bench.jobs.feed.events(after: 0, limit: 1_000).events
                .filter { $0.event.job == id && states.contains($0.kind) }.map(\.kind)
            let counters = bench.engine.snapshot.routes["hooks"]?.state.counters ?? RouteCounters()
            requests = counters.requests
            results = counters.succeeded + counters.failed + counters.cancelled
            queued = bench.room.queued
        }
    }

    @Test("Every cause, every listener", arguments: Cause.allCases)
    fileprivate func everything(cause: Cause) async throws {
        let counting = Counting()
        let first = bench(for: cause, counting)
        let id = try await prepare(cause, first)
        await untilIdle()
        var bench = first
        var before = Knowledge(id, bench, counting)
        let isWoken = Atomic<Bool>(false)
        let version = try await bench.store.job(id)?.version
        let waiter = Task {
            _ = try? await first.jobs.job(id, changedSince: version, by: .distantFuture, first.time)
            isWoken.store(true, ordering: .relaxed)
        }
        await untilIdle()
        if cause == .crashed {
            // Of the next process everybody hears for the first time.
            bench = self.bench(for: cause, counting, after: first)
            before = Knowledge(id, bench, counting)
            before.feed = []
            before.words = []
            before.requests = 0
            before.results = 0
        }
        try await act(cause, on: id, bench)
        await untilIdle()
        let after = Knowledge(id, bench, counting)
        #expect(Array(after.words.dropFirst(before.words.count)) == cause.told)
        #expect(Array(after.feed.dropFirst(before.feed.count)) == cause.feed)
        #expect(after.requests - before.requests == (cause.isEnd ? 1 : 0))
        #expect(after.results - before.results == (cause.isEnd ? 1 : 0))
        if cause != .crashed {
            #expect(before.queued - after.queued == (cause.leavesQueue ? 1 : 0))
            let wasWoken = isWoken.load(ordering: .relaxed)
            #expect(wasWoken)
        }
        waiter.cancel()
        if cause == .crashed { _ = await first.stop() }
        #expect(await bench.stop())
    }

    private func bench(for cause: Cause, _ counting: Counting, after: DurableBench? = nil) -> DurableBench {
        let sent = Counter()
        return DurableBench(
            after: after,
            listeners: [counting],
            { policy in
                switch cause {
                case .failed, .retriedByOperator, .expunged: policy.recovery = []
                case .heldByRule:
                    policy.recovery = [RecoveryRule(name: "h", on: FailureMatcher([.any]), action: .hold)]
                case .pausedByRule, .resumed:
                    policy.recovery = [
                        RecoveryRule(
                            name: "p",
                            on: FailureMatcher([.any]),
                            action: .pauseRoute(reason: "it is ill")
                        )
                    ]
                default: break
                }
            },
            answer: { _ in
                switch cause {
                case .cancelledAsItRuns, .crashed: .hold
                case .failed, .retriedByOperator, .expunged: .answer(400)
                case .retried, .heldByRule, .pausedByRule: .answer(503)
                case .resumed: sent.next() == 0 ? .answer(503) : .answer(200)
                default: .answer(200)
                }
            }
        )
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    /// Brings a job to where the cause meets it.
    private func prepare(_ cause: Cause, _ bench: DurableBench) async throws -> JobID {
        switch cause {
        case .delivered, .failed, .retried, .heldByRule, .pausedByRule: return try await bench.submit()
        case .resumed, .cancelledAsItRuns:
            try await bench.start()
            return try await bench.submit()
        case .crashed:
            try await bench.start()
            return try await bench.submit(method: .post)
        case .retriedByOperator, .expunged:
            try await bench.start()
            let id = try await bench.submit()
            try await bench.job(id, is: .dead)
            try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
            return id
        case .expired, .superseded, .cancelled, .cancelledWithOthers, .held, .released, .dropped:
            try await bench.start()
            try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
            let id = try await bench.submit([
                ("Waystation-Expires-After", "5s"), ("Waystation-Supersede-Key", "\"k\""),
            ])
            if cause == .released { _ = try await bench.jobs.operations.act(.hold, on: id, by: 0) }
            return id
        }
    }

    private func act(_ cause: Cause, on id: JobID, _ bench: DurableBench) async throws {
        let operations = bench.jobs.operations
        switch cause {
        case .delivered, .failed, .retried, .heldByRule, .pausedByRule, .crashed: try await bench.start()
        case .resumed: try await bench.jobs.pauses.resume("hooks")
        case .expired: await bench.eventually { !bench.ends.isEmpty }
        case .superseded:
            let newer = try await bench.submit([("Waystation-Supersede-Key", "\"k\"")])
            // It has come for the one that went.
            _ = try await operations.act(.drop, on: newer, by: 0)
        case .cancelled, .cancelledAsItRuns: _ = try await operations.act(.cancel, on: id, by: 0)
        case .cancelledWithOthers:
            let order = Operations.Order(.cancel, JobFilter(), limit: 9, by: .user(0, isBulk: true))
            #expect(try await operations.act(order).changed == 1)
        case .held: _ = try await operations.act(.hold, on: id, by: 0)
        case .released: _ = try await operations.act(.release, on: id, by: 0)
        case .retriedByOperator: _ = try await operations.act(.retry, on: id, by: 0)
        case .dropped: _ = try await operations.act(.drop, on: id, by: 0)
        case .expunged: _ = try await operations.act(.expunge, on: id, by: 0)
        }
    }

    @Test(
        "A request that is answered when it is done is told of once, and of no queue",
        arguments: [200, 500]
    )
    func answered(status: UInt16) async throws {
        let bench = EngineBench { _ in .answer(Status(rawValue: status)) }
        let outcome = try await bench.run()
        let told = bench.sink.events.filter { if case .ended = $0 { true } else { false } }
        #expect(told.count == 1 && told.first?.report?.isDurable == false)
        let id = try #require(told.first?.job)
        #expect(bench.engine.recent.find(id)?.report.attempts.count == outcome.attempts.count)
        #expect(bench.state.counters.requests == 1)
    }
}
