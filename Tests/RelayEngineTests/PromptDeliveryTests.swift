import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("A kept job is delivered without a task, and as with one", .runQueue, .timeLimit(.minutes(5)))
struct PromptDeliveryTests {
    typealias Connections = DurableBench.Connections

    /// The courses that a delivery can take.
    enum Course: CaseIterable, Sendable {
        case success, failure, retry, unknown, hold, pause
        case cancel, abort, abortAtBegin, abortAtFailure, drain, cancelAtAnswer, pauseMeanwhile, reload
        case full, slow, lost, large
    }

    private static func policy(_ course: Course) -> @Sendable (inout RoutePolicy) -> Void {
        { policy in
            let action: RecoveryRule.Action? =
                switch course {
                case .hold: .hold
                case .pause: .pauseRoute(reason: "so said")
                case .failure: .deadLetter
                default: nil
                }
            if let action {
                policy.recovery = [RecoveryRule(name: "so", on: FailureMatcher([.any]), action: action)]
            }
            policy.delivery.keepsResponses = .always
        }
    }

    private static func steps(_ course: Course) -> [ScriptedTransport.Step] {
        switch course {
        case .failure, .hold, .pause: [.answer(500, [], "no")]
        case .retry: [.answer(503), .answer(200, [], "late")]
        case .unknown, .abortAtFailure: [.fail("reset", .unknown)]
        case .large: [.answer(200, [], String(repeating: "x", count: 70_000))]
        case .cancel, .abort, .abortAtBegin, .drain, .cancelAtAnswer, .pauseMeanwhile, .reload:
            [.hold, .answer(200, [], "done")]
        case .success, .full, .slow, .lost: [.answer(200, [("X-Own", "1")], "done")]
        }
    }

    /// Stops the relay when it hears that an attempt has begun.
    private final class Stopper: JobListener {
        let jobs = Mutex<DurableJobs?>(nil)

        func stop() {
            let jobs = jobs.withLock { $0 }
            jobs?.drain()
            jobs?.abort()
        }

        func heard(_ event: JobEvent, at wall: Int64) { if case .attemptBegan = event { stop() } }
    }

    private static func text(_ event: JobEvent) -> String {
        switch event {
        case .accepted(let report): "accepted \(report.text)"
        case .attemptBegan(_, let attempt): "began \(attempt.number) at \(attempt.upstream)"
        case .attemptFailed(_, let attempt):
            "failed \(attempt.number): \(attempt.failure?.kind.rawValue ?? "-")"
        case .changed(let report): "changed \(report.text)"
        case .ended(let report): "ended \(report.text), status \(report.status?.rawValue ?? 0)"
        case .routePaused(let route, _): "paused \(route)"
        default: "\(event.kind?.rawValue ?? "another")"
        }
    }

    /// All that can be told of one job's life, for whoever listens and for whoever looks.
    private func life(_ course: Course, _ connections: Connections, method: Method) async throws -> [String] {
        let script = Mutex(PromptDeliveryTests.steps(course))
        let stopper = Stopper()
        let bench = DurableBench(
            connections: connections,
            listeners: course == .abortAtBegin ? [stopper] : [],
            PromptDeliveryTests.policy(course)
        ) { _ in
            if course == .abortAtFailure { stopper.stop() }
            return script.withLock { $0.isEmpty ? .answer(200) : $0.removeFirst() }
        }
        stopper.jobs.withLock { $0 = bench.jobs }
        try await bench.start()
        await untilIdle()
        let error: StoreError.Code? =
            switch course {
            case .full: .full
            case .slow: .slow
            case .lost: .failed
            default: nil
            }
        if let error { bench.faults.failSettlements([StoreError(error, "no")]) }
        let id = try await bench.submit(method: method)
        await untilIdle()
        switch course {
        case .cancel, .cancelAtAnswer:
            try #require(bench.transport.heldCount == 1)
            if course == .cancelAtAnswer { bench.transport.release() }
            _ = try await bench.jobs.operations.act(.cancel, on: id, by: 0)
        case .abort:
            bench.jobs.drain()
            bench.jobs.abort()
        case .drain:
            bench.jobs.drain()
            #expect(bench.jobs.inFlight == 1)
            bench.transport.release()
        case .pauseMeanwhile:
            try await bench.jobs.pauses.pause("hooks", reason: "now", for: nil)
            bench.transport.release()
        case .reload:
            bench.engine.install(DurableBench.snapshot(previous: bench.engine.snapshot, names: ["other"]))
            bench.jobs.configured(DurableBench.settings(maxQueued: 100))
            bench.transport.release()
        default: break
        }
        await untilIdle()
        bench.time.advance(by: .seconds(6))
        await untilIdle()
        let whole = try #require(try await bench.store.job(id))
        let answer = try await bench.store.answer(of: id)
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        var told = bench.sink.events.map(PromptDeliveryTests.text)
        told.append("sent \(bench.sent.count) times, \(bench.jobs.inFlight) in flight")
        told.append("\(whole.state.name) \(whole.end?.rawValue ?? "") \(whole.failureKind?.rawValue ?? "")")
        told.append("attempts \(attempts.map { "\($0.number) \($0.status?.rawValue ?? 0) \($0.duration)" })")
        told.append("answer \(answer?.status.rawValue ?? 0) \(answer?.body.length ?? 0)")
        told.append("room \(bench.room.queued)")
        #expect(await bench.stop())
        return told
    }

    @Test(
        "Everybody is told the same in the same order, whatever happens to it, and the same is on record",
        arguments: Course.allCases,
        [Method.put, .post]
    )
    func same(course: Course, method: Method) async throws {
        let expected = try await life(course, .ofTasks, method: method)
        for connections in Connections.allCases where connections != .ofTasks {
            #expect(try await life(course, connections, method: method) == expected, "\(connections)")
        }
    }

    @Test(
        "It needs no task, and one where a kept connection is gone",
        arguments: Connections.allCases
    )
    func tasks(connections: Connections) async throws {
        let bench = DurableBench(connections: connections) { _ in .answer(200, [], "done") }
        try await bench.start()
        await untilIdle()
        let before = bench.tasksStarted
        let id = try await bench.submit()
        try await bench.job(id, is: .succeeded)
        #expect(bench.tasksStarted - before == (connections == .alive ? 0 : 1))
        #expect(await bench.stop())
    }

    /// When it is said that a job is to end.
    enum Moment: CaseIterable, Sendable {
        case beforeItBegins, whileItIsSettled
    }

    @Test(
        "A job that is cancelled at any moment ends once, and gives back what it held",
        arguments: Moment.allCases
    )
    func cancelled(moment: Moment) async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 1 }, answer: { _ in .answer(200) })
        try await bench.start()
        await untilIdle()
        let untold = Mutex<[@Sendable () -> Void]>([])
        bench.faults.tellThrough { told in untold.withLock { $0.append(told) } }
        func tell() {
            for told in untold.withLock({ untold in
                defer { untold = [] }
                return untold
            }) { told() }
        }
        let admission = try bench.admit()
        let patience = StorageDeadline(bench.ports, admission.context.options)
        _ = bench.jobs.acceptance.acceptPromptly(admission, [], patience) { _ in }
        if moment == .beforeItBegins {
            tell()
            // The run is there, and its loop has not come to it yet.
            _ = try await bench.jobs.operations.act(.cancel, on: admission.id, by: 0)
        } else {
            tell()
            await untilIdle()
            #expect(bench.sent.count == 1 && bench.jobs.inFlight == 1)
            _ = try? await bench.jobs.operations.act(.cancel, on: admission.id, by: 0)
        }
        for _ in 0..<3 {
            await untilIdle()
            tell()
        }
        await untilIdle()
        #expect(bench.ends.count == 1 && bench.jobs.inFlight == 0)
        #expect(bench.engine.snapshot.routes["hooks"]?.state.load.inFlight == 0)
        if moment == .whileItIsSettled { #expect(bench.ends.first?.state == .succeeded) }
        #expect(await bench.stop())
    }
}
