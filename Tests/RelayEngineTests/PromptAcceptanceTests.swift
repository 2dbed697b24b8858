import RelayBase
import RelayCore
import RelayEngineBench
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@testable import RelayEngine

@Suite("A job is accepted for a caller that has no task", .runQueue, .timeLimit(.minutes(5)))
struct PromptAcceptanceTests {
    /// A store that says its words when the test lets it, and what the caller was told.
    private final class Caller: Sendable {
        private let untold = Mutex<[@Sendable () -> Void]>([])
        private let words = Mutex<[PromptAcceptance.Reply]>([])

        init(_ bench: DurableBench) {
            bench.faults.tellThrough { [self] told in untold.withLock { $0.append(told) } }
        }

        func submit(
            _ bench: DurableBench,
            _ fields: [(String, String)] = [],
            body: String = "hello"
        ) throws -> (JobID, PromptAcceptance?) {
            let admission = try bench.admit(fields)
            let patience = StorageDeadline(bench.ports, admission.context.options)
            let acceptance = bench.jobs.acceptance.acceptPromptly(admission, Array(body.utf8), patience) {
                word in
                self.words.withLock { $0.append(word) }
            }
            return (admission.id, acceptance)
        }

        /// The store says what it has to say, on a thread of its own, and what it has to say of what follows.
        func storeTells() async {
            while true {
                let all = untold.withLock { untold in
                    defer { untold = [] }
                    return untold
                }
                if all.isEmpty { return }
                for told in all { await Task.detached { told() }.value }
                await untilIdle()
            }
        }

        /// The word that the caller has been told: one at most.
        var word: String? {
            words.withLock { words in
                if words.count > 1 { return "\(words.count) words" }
                switch words.first {
                case nil: return nil
                case .accepted(let accepted)?: return accepted.isReplayed ? "replayed" : "accepted"
                case .refused(let problem)?: return problem.code.name
                case .waits?: return "waits"
                }
            }
        }
    }

    private func finish(_ acceptance: PromptAcceptance) -> Task<String, Never> {
        acceptance.takeTask()
        return Task {
            do throws(Problem) {
                let accepted = try await acceptance.finish()
                return accepted.isReplayed ? "replayed" : "accepted"
            } catch { return error.code.name }
        }
    }

    /// Ends everything, when those have looked again who watch over the waits.
    private func isOver(_ bench: DurableBench) async -> Bool {
        bench.time.advance(by: .seconds(1))
        await untilIdle()
        return await bench.stop()
    }

    @Test("It is told when the job is on disk, and not before; the job is then announced and sent")
    func plain() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        let caller = Caller(bench)
        let (id, acceptance) = try caller.submit(bench)
        #expect(acceptance != nil)
        await untilIdle()
        #expect(caller.word == nil && bench.feed(.jobAccepted).isEmpty && bench.sent.isEmpty)
        await caller.storeTells()
        #expect(caller.word == "accepted" && bench.feed(.jobAccepted).count == 1)
        try await bench.job(id, is: .succeeded)
        #expect(bench.sent.count == 1 && bench.room.queued == 0)
        #expect(await isOver(bench))
    }

    enum Interlude: CaseIterable, Sendable {
        case drain, abort, cancel, pause, reload
    }

    @Test(
        "An order that comes while the disk works counts, and the job is seen to wait for the disk",
        arguments: Interlude.allCases
    )
    func meanwhile(interlude: Interlude) async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        let caller = Caller(bench)
        let (id, _) = try caller.submit(bench)
        switch interlude {
        case .drain: bench.jobs.drain()
        case .abort: bench.jobs.abort()
        case .cancel: _ = try await bench.jobs.operations.act(.cancel, on: id, by: 0)
        case .pause: try await bench.jobs.pauses.pause("hooks", reason: "now", for: nil)
        case .reload:
            bench.engine.install(DurableBench.snapshot(previous: bench.engine.snapshot, names: ["other"]))
            bench.jobs.configured(DurableBench.settings(maxQueued: 100))
        }
        #expect(bench.jobs.inFlight == 1)
        await caller.storeTells()
        #expect(caller.word == "accepted")
        let state: JobState = interlude == .cancel ? .cancelled : .queued
        #expect(try await bench.job(id, is: state).attempts == 0)
        #expect(bench.sent.isEmpty && bench.jobs.inFlight == 0)
        #expect(await isOver(bench))
    }

    @Test("A caller that hangs up meanwhile is not told, and its job is accepted and sent all the same")
    func gone() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        let caller = Caller(bench)
        let (id, acceptance) = try caller.submit(bench)
        let task = finish(try #require(acceptance))
        await untilIdle()
        await caller.storeTells()
        #expect(await task.value == "accepted" && caller.word == nil)
        #expect(bench.feed(.jobAccepted).count == 1)
        try await bench.job(id, is: .succeeded)
        #expect(await isOver(bench))
    }

    @Test("The store's word is not lost between the caller's hang-up and its task")
    func between() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        let caller = Caller(bench)
        let (id, acceptance) = try caller.submit(bench)
        acceptance?.takeTask()
        await caller.storeTells()
        #expect(caller.word == nil && bench.feed(.jobAccepted).isEmpty)
        #expect(await finish(try #require(acceptance)).value == "accepted")
        await untilIdle()
        await caller.storeTells()
        try await bench.job(id, is: .succeeded)
        #expect(await isOver(bench))
    }

    @Test(
        "A disk that takes too long is told of; the permit is back at once, and the job is sent later where it stays",
        arguments: [true, false]
    )
    func stalled(isKeyed: Bool) async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 1 }, answer: { _ in .answer(200) })
        try await bench.start()
        await untilIdle()
        let state = try #require(bench.engine.snapshot.routes["hooks"]?.state)
        let caller = Caller(bench)
        let (id, acceptance) = try caller.submit(bench, isKeyed ? [("Idempotency-Key", "\"k\"")] : [])
        #expect(state.load.inFlight == 1 && bench.jobs.inFlight == 1)
        let stalled = try #require(acceptance)
        #expect(stalled.limit == .milliseconds(3_600))
        let task = finish(stalled)
        await untilIdle()
        bench.time.advance(by: .milliseconds(3_500))
        await untilIdle()
        #expect(state.load.inFlight == 1)
        bench.time.advance(by: .milliseconds(350))
        #expect(await task.value == "storage_stalled" && caller.word == nil)
        #expect(state.load.inFlight == 0 && bench.jobs.inFlight == 0)
        await caller.storeTells()
        try await bench.job(id, is: isKeyed ? .succeeded : .cancelled)
        #expect(bench.sent.count == (isKeyed ? 1 : 0) && bench.feed(.jobAccepted).count == (isKeyed ? 1 : 0))
        #expect(bench.room.queued == 0)
        #expect(await isOver(bench))
    }

    @Test(
        "A key that is known needs a task, which finds the earlier job; one of another request is refused at once"
    )
    func keys() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let key = [("Idempotency-Key", "\"k\"")]
        let id = try await bench.submit(key)
        await untilIdle()
        let same = Caller(bench)
        let (_, acceptance) = try same.submit(bench, key)
        await same.storeTells()
        #expect(same.word == "waits")
        #expect(await finish(try #require(acceptance)).value == "replayed")
        let other = Caller(bench)
        _ = try other.submit(bench, key, body: "another")
        await other.storeTells()
        #expect(other.word == "idempotency_key_reused")
        #expect(bench.sent.count == 1 && bench.feed(.jobAccepted).count == 1)
        try await bench.job(id, is: .succeeded)
        #expect(bench.jobs.inFlight == 0)
        #expect(await isOver(bench))
    }

    @Test(
        "A store that does not take the job needs a task, which tells why",
        arguments: [
            (StoreError.Code.full, "storage_full"), (.directory, "storage_failed"),
            (.unavailable, "storage_unavailable"),
            (.unknown, "acceptance_unknown"),
        ]
    )
    func refused(code: StoreError.Code, expected: String) async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 1 }, answer: { _ in .answer(200) })
        try await bench.start()
        await untilIdle()
        let caller = Caller(bench)
        bench.faults.failAcceptance(StoreError(code, "no"))
        let (_, acceptance) = try caller.submit(bench)
        await caller.storeTells()
        #expect(caller.word == "waits")
        let task = finish(try #require(acceptance))
        await untilIdle()
        // Whether its key is known is asked once more.
        await caller.storeTells()
        #expect(await task.value == expected)
        #expect(bench.feed(.jobAccepted).isEmpty && bench.jobs.inFlight == 0)
        #expect(bench.engine.snapshot.routes["hooks"]?.state.load.inFlight == 0)
        #expect(await isOver(bench))
    }

    @Test(
        "Where more than the disk is to be waited for nothing is done",
        arguments: ["room", "time", "size", "store"]
    )
    func notPlain(reason: String) async throws {
        let bench = DurableBench(maxQueued: reason == "room" ? 0 : 100) { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        let caller = Caller(bench)
        if reason == "store" { bench.faults.after(.enqueue) {} }
        let fields = reason == "time" ? [("Waystation-Timeout", "1s")] : []
        let body = String(repeating: "x", count: reason == "size" ? StoredBodyFile.pieceSize + 1 : 1)
        let (_, acceptance) = try caller.submit(bench, fields, body: body)
        #expect(acceptance == nil && bench.jobs.inFlight == 0)
        await caller.storeTells()
        #expect(caller.word == nil)
        #expect(
            try await bench.store.jobs(JobFilter(), order: .oldestFirst, limit: 1, after: nil).jobs.isEmpty
        )
        #expect(await isOver(bench))
    }
}
