import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayInterface
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Runs go on by themselves", .runQueue, .timeLimit(.minutes(5)))
struct DurableRunTests {
    private func run(_ action: JobAction, rate: String? = nil) -> ActionRun {
        var filter = JobFilter()
        filter.states = [.held]
        var run = ActionRun(action, filter, by: Principal(1_001), at: 0)
        run.rate = rate.flatMap { ActionRate($0) }
        return run
    }

    /// So many jobs that are held.
    private func held(_ bench: DurableBench, _ count: Int) async throws -> [JobID] {
        try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
        var ids: [JobID] = []
        for _ in 0..<count { ids.append(try await bench.submit()) }
        for id in ids { _ = try await bench.jobs.operations.act(.hold, on: id, by: 0) }
        return ids
    }

    private func states(_ ids: [JobID], _ bench: DurableBench) async throws -> [JobState] {
        var states: [JobState] = []
        for id in ids { if let job = try await bench.store.job(id) { states.append(job.state) } }
        return states
    }

    @Test("It takes its jobs at its rate, says what it began with and what came of it, and is over")
    func rate() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let ids = try await held(bench, 5)
        let run = try await bench.jobs.runs.begin(run(.retry, rate: "2/s"))
        await untilIdle()
        #expect(try await states(ids, bench).filter { $0 == .held }.count == 3)
        bench.time.advance(by: .milliseconds(999))
        await untilIdle()
        #expect(try bench.jobs.runs.run(run.number).count.changed == 2)
        bench.time.advance(by: .milliseconds(1))
        await untilIdle()
        #expect(try bench.jobs.runs.run(run.number).count.changed == 4)
        await bench.eventually { (try? bench.jobs.runs.run(run.number))?.state == .done }
        #expect(bench.jobs.runs.all.map(\.count.changed) == [5])
        #expect(bench.feed(.runStarted).count == 1 && bench.feed(.runEnded).count == 1)
        #expect(await bench.stop())
    }

    @Test("Stopped, it does no more, and says by whom; to stop it again changes nothing")
    func stopped() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let ids = try await held(bench, 5)
        let run = try await bench.jobs.runs.begin(run(.retry, rate: "1/h"))
        await untilIdle()
        let ended = try await bench.jobs.runs.end(run.number, by: 7)
        #expect(ended.state == .stopped && ended.endedBy == 7 && ended.count.changed == 1)
        #expect(try await bench.jobs.runs.end(run.number, by: 8) == ended)
        bench.time.advance(by: .seconds(9_000))
        await untilIdle()
        #expect(try await states(ids, bench).filter { $0 == .held }.count == 4)
        #expect(bench.feed(.runEnded).count == 1)
        do throws(Problem) {
            _ = try await bench.jobs.runs.end(99, by: 8)
            Issue.record("there is no such run")
        } catch { #expect(error.code == .runNotFound) }
        #expect(await bench.stop())
    }

    @Test("The next process goes on where it was")
    func crash() async throws {
        let first = DurableBench { _ in .answer(200) }
        try await first.start()
        let ids = try await held(first, 6)
        let run = try await first.jobs.runs.begin(run(.cancel, rate: nil))
        await untilIdle()
        #expect(try first.jobs.runs.run(run.number).state == .done)
        let more = try await held(first, 4)
        let slow = try await first.jobs.runs.begin(self.run(.retry, rate: "60/m"))
        await untilIdle()
        #expect(await first.stop())
        let bench = DurableBench(after: first) { _ in .answer(200) }
        try await bench.start()
        await bench.eventually { (try? bench.jobs.runs.run(slow.number))?.state == .done }
        #expect(bench.jobs.runs.all.map(\.count.changed) == [4, 6])
        #expect(try await states(ids, bench) == Array(repeating: .cancelled, count: 6))
        for id in more {
            let whole = try await bench.store.whole(id, WholeJob.Extent(attempts: 0, hasBodies: false))
            #expect(whole?.actions.filter { $0.action == .retry }.count == 1)
        }
        // Its start was told by the process before.
        #expect(bench.feed(.runStarted).isEmpty && bench.feed(.runEnded).count == 1)
        #expect(await bench.stop())
    }

    @Test("A store that is away makes it wait, and it goes on")
    func away() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let ids = try await held(bench, 3)
        bench.faults.failReads([StoreError(.stalled, "away"), StoreError(.stalled, "away")])
        let run = try await bench.jobs.runs.begin(run(.cancel))
        await untilIdle()
        #expect(try bench.jobs.runs.run(run.number).count.matched == 0)
        await bench.eventually { (try? bench.jobs.runs.run(run.number))?.state == .done }
        #expect(try await states(ids, bench) == [.cancelled, .cancelled, .cancelled])
        #expect(await bench.stop())
    }

    @Test("One whose record is found damaged has failed, and says so")
    func damaged() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let ids = try await held(bench, 3)
        let run = try await bench.jobs.runs.begin(run(.retry, rate: "1/h"))
        await untilIdle()
        _ = try await bench.store.end(
            run.number,
            as: .failed,
            by: nil,
            failure: "damaged",
            at: JobMoment(bench.time)
        )
        #expect(try bench.jobs.runs.run(run.number).state == .running)
        bench.time.advance(by: .seconds(3_600))
        await untilIdle()
        let failed = try bench.jobs.runs.run(run.number)
        #expect(failed.state == .failed && failed.failure == "damaged" && failed.filter == run.filter)
        #expect(bench.feed(.runEnded).count == 1)
        #expect(try await states(ids, bench).filter { $0 == .held }.count == 2)
        #expect(await bench.stop())
    }

    @Test("Past the bound there are no more of them")
    func bounded() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        _ = try await held(bench, 20)
        for _ in 0..<ActionRun.mostRunning {
            _ = try await bench.jobs.runs.begin(run(.retry, rate: "1/h"))
            await untilIdle()
        }
        do throws(Problem) {
            _ = try await bench.jobs.runs.begin(run(.retry, rate: "1/h"))
            Issue.record("there is one too many")
        } catch { #expect(error.code == .tooManyRuns && error.retryAfter != nil) }
        #expect(await bench.stop())
    }
}
