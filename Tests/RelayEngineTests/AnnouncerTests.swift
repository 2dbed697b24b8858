import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

/// A listener of which nothing else in the tree knows.
private final class Counting: JobListener {
    private let words = Mutex<[JobID: [String]]>([:])
    /// The knowledge of the others when it was told last.
    let seen = Mutex<[JobID: AnnouncerTests.Knowledge]>([:])
    let bench = Mutex<DurableBench?>(nil)

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
        guard let bench = bench.withLock(\.self) else { return }
        seen.withLock { $0[id] = AnnouncerTests.Knowledge(id, bench, self) }
    }

    func words(of id: JobID) -> [String] { words.withLock { $0[id] ?? [] } }
}

extension JobCause {
    /// Each in the words of the listener that counts.
    fileprivate var told: [String] {
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

    fileprivate var feed: [EventKind] {
        switch told.last {
        case "ended succeeded": [.jobSucceeded]
        case "ended dead": [.jobDead]
        case "ended expired": [.jobExpired]
        case "ended cancelled": [.jobCancelled]
        case "changed held": [.jobHeld]
        default: []
        }
    }

    fileprivate var isEnd: Bool { told.last?.hasPrefix("ended") == true }
    /// How many jobs more are in the queue then.
    fileprivate var queued: Int { isEnd || self == .dropped ? -1 : self == .retriedByOperator ? 1 : 0 }
}

@Suite("Every event of a job reaches everybody who listens, once", .runQueue, .timeLimit(.minutes(1)))
struct AnnouncerTests {
    /// The knowledge that all of them have of one job.
    fileprivate struct Knowledge: Equatable {
        var words: [String]
        var feed: [EventKind]
        var requests: UInt64
        var results: UInt64
        var queued: Int

        init(_ id: JobID, _ bench: DurableBench, _ counting: Counting) {
            words = counting.words(of: id)
            let states: Set<EventKind> = [
                .jobSucceeded, .jobDead, .jobExpired, .jobCancelled, .jobHeld,
            ]
            feed = bench.jobs.feed.events(after: 0, limit: 1_000).events
                .filter { $0.event.job == id && states.contains($0.kind) }.map(\.kind)
            let figures = bench.engine.snapshot.routes["hooks"]?.state.figures
            requests = figures?.requests ?? 0
            results = figures.map { $0[.succeeded] + $0[.failed] + $0[.cancelled] } ?? 0
            queued = bench.room.queued
        }
    }

    @Test("Every cause, every listener", arguments: JobCause.allCases)
    func everything(cause: JobCause) async throws {
        let counting = Counting()
        let first = cause.bench([counting])
        let id = try await cause.prepare(first)
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
            bench = cause.bench([counting], after: first)
            before = Knowledge(id, bench, counting)
            before.feed = []
            before.words = []
            before.requests = 0
            before.results = 0
        }
        counting.bench.withLock { $0 = bench }
        try await cause.act(on: id, bench)
        await untilIdle()
        counting.bench.withLock { $0 = nil }
        let after = Knowledge(id, bench, counting)
        // It is told after those who count and those who are read, and finds the event with them. (Jobs that the store
        // ends as it is opened are told of before there is a bench to ask.)
        if cause != .crashed { #expect(counting.seen.withLock { $0[id] } == after) }
        #expect(Array(after.words.dropFirst(before.words.count)) == cause.told)
        #expect(Array(after.feed.dropFirst(before.feed.count)) == cause.feed)
        #expect(after.requests - before.requests == (cause.isEnd ? 1 : 0))
        #expect(after.results - before.results == (cause.isEnd ? 1 : 0))
        if cause != .crashed {
            #expect(after.queued - before.queued == cause.queued)
            let wasWoken = isWoken.load(ordering: .relaxed)
            #expect(wasWoken)
        }
        waiter.cancel()
        if cause == .crashed { _ = await first.stop() }
        #expect(await bench.stop())
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
        #expect(bench.state.figures.requests == 1)
        // It has one place among the last thousand.
        for _ in 1..<1_024 { _ = try await bench.run() }
        #expect(bench.engine.recent.find(id) != nil)
        _ = try await bench.run()
        #expect(bench.engine.recent.find(id) == nil)
    }

    @Test("A rule that pauses the route of a request which is answered has it paused, once")
    func pauseWanted() async throws {
        let bench = DurableBench(
            {
                $0.recovery = [
                    RecoveryRule(
                        name: "p",
                        on: FailureMatcher([.any]),
                        action: .pauseRoute(reason: "it is ill")
                    )
                ]
            },
            answer: { _ in .answer(503) }
        )
        try await bench.start()
        #expect(try await bench.answer().failure != nil)
        await untilIdle()
        #expect(bench.jobs.pauses.pause(of: "hooks")?.reason == "it is ill")
        #expect(bench.feed(.routePaused).count == 1)
        #expect(await bench.stop())
    }
}
