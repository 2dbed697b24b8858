package import RelayBase
import RelayCore
import RelayInterface
package import RelayJobs
import Synchronization

/// The runs: actions on every job that matches, which go on without whoever began them.
///
/// Each is on disk before it begins and with each of its pages; a restart goes on with those that were not over.
package final class ActionRuns: Sendable {
    private struct State {
        var means: Means?
        /// Why there are none.
        var refusal = StoreError.closed
        /// By their numbers.
        var runs: [Int64: ActionRun] = [:]
        /// One for each run, which wakes it while it waits.
        var stops: [Int64: Pending<Void>] = [:]
        var tasks: [Int64: Task<Void, Never>] = [:]
    }

    /// The parts that a run works with.
    private struct Means {
        var store: any JobStore
        var operations: Operations
        var announcer: Announcer
        var ports: RelayPorts
    }

    private let time: any ClockSource
    private let pauses: RoutePauses
    private let state = Mutex(State())

    init(_ engine: Engine, _ pauses: RoutePauses) {
        time = engine.time
        self.pauses = pauses
    }

    private var moment: JobMoment { JobMoment(time) }

    /// Goes on with the runs that were found on disk.
    func start(
        _ found: [ActionRun],
        _ store: any JobStore,
        _ operations: Operations,
        _ announcer: Announcer,
        _ ports: RelayPorts
    ) {
        let means = Means(store: store, operations: operations, announcer: announcer, ports: ports)
        state.withLock { state in
            state.means = means
            for run in found { state.runs[run.number] = run }
        }
        for run in found where run.state == .running { follow(run, means) }
    }

    /// There is no store yet in which to keep a run.
    func standBy(_ refusal: StoreError) { state.withLock { $0.refusal = refusal } }

    /// Begins no more pages; what is on disk goes on with the next start.
    func stop() {
        let tasks = state.withLock { state in
            (state.means, state.refusal) = (nil, .closed)
            defer { state.tasks = [:] }
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Those that go on and the last that are over, the newest first.
    package var all: [ActionRun] { state.withLock { $0.runs.values.sorted { $0.number > $1.number } } }

    /// - Throws: `run_not_found`.
    package func run(_ number: Int64) throws(Problem) -> ActionRun {
        guard let run = state.withLock({ $0.runs[number] }) else { throw Self.missing(number) }
        return run
    }

    /// Begins a run.
    ///
    /// - Throws: `too_many_runs`, `storage_failed`.
    package func begin(_ run: ActionRun) async throws(Problem) -> ActionRun {
        let means = try inUse()
        let begun = try await means.store.told { store throws(StoreError) in
            try await store.begin(run, at: moment)
        }
        guard let begun else {
            throw Problem(
                .tooManyRuns,
                "\(ActionRun.mostRunning) runs are under way, and nothing was begun",
                retryAfter: .seconds(60)
            )
        }
        note(begun)
        means.announcer.record(.runChanged(begun))
        follow(begun, means)
        return begun
    }

    /// Ends a run; one that is over stays as it is.
    ///
    /// - Throws: `run_not_found`, `storage_failed`.
    package func end(_ number: Int64, by: Principal?) async throws(Problem) -> ActionRun {
        let means = try inUse()
        _ = try run(number)
        let ended = try await means.store.told { store throws(StoreError) in
            try await store.end(number, as: .stopped, by: by, failure: nil, at: moment)
        }
        guard let ended else { throw Self.missing(number) }
        if ended.state == .stopped { over(ended, means) }
        return ended
    }

    private static func missing(_ number: Int64) -> Problem {
        Problem(
            .runNotFound,
            "there is no run \(number): the last \(ActionRun.mostEnded) that are over are told of"
        )
    }

    private func inUse() throws(Problem) -> Means {
        let (means, refusal) = state.withLock { ($0.means, $0.refusal) }
        guard let means else { throw Problem(refusal) }
        return means
    }
}

// How one goes on.
extension ActionRuns {
    /// Takes up what is on disk, unless something later is known.
    ///
    /// - Returns: whether it is news.
    @discardableResult
    private func note(_ run: ActionRun) -> Bool {
        state.withLock { state in
            guard run.version > state.runs[run.number]?.version ?? 0 else { return false }
            state.runs[run.number] = run
            for number in Array(state.runs.values).forgotten { state.runs[number] = nil }
            return true
        }
    }

    /// A run is over: told once.
    private func over(_ run: ActionRun, _ means: Means) {
        guard note(run) else { return }
        state.withLock { $0.stops[run.number] }?.give(())
        means.announcer.record(.runChanged(run))
    }

    private func follow(_ run: ActionRun, _ means: Means) {
        let stop = Pending<Void>()
        state.withLock { $0.stops[run.number] = stop }
        let task = means.ports.start { [self] in
            await pages(of: run, means, stop)
            state.withLock { state in
                state.stops[run.number] = nil
                state.tasks[run.number] = nil
            }
        }
        let isWanted = state.withLock { state in
            guard state.means != nil else { return false }
            if state.stops[run.number] != nil { state.tasks[run.number] = task }
            return true
        }
        if !isWanted { task.cancel() }
    }

    private func pages(of run: ActionRun, _ means: Means, _ stop: Pending<Void>) async {
        let time = means.ports.time
        var machine = RunMachine(run, time.now(), wall: time.wallMilliseconds())
        while !Task.isCancelled {
            // Somebody may have ended it.
            if let known = state.withLock({ $0.runs[run.number] }) { machine.advanced(known, time.now()) }
            switch machine.next(time.now(), pausedRoutes: pauses.routes(of: run.filter.reason)) {
            case .end: return
            case .wait(let until):
                _ = await cancelling(at: until, time) { await stop.valueUnlessCancelled() }
            case .step(let step):
                do throws(StoreError) {
                    let advance = try await means.operations.advance(run.number, by: step)
                    guard let advance else { return try await lookAgain(run.number, means) }
                    if advance.run.state == .running { note(advance.run) } else { over(advance.run, means) }
                } catch {
                    if error.code == .closed { return }
                    await refused(error, run.number, means)
                    machine.refused(time.now())
                }
            }
        }
    }

    /// A run no longer goes on by the store: somebody ended it, who is about to say so, or its record is damaged.
    private func lookAgain(_ number: Int64, _ means: Means) async throws(StoreError) {
        let found = try await means.store.runs().first { $0.number == number }
        guard let found, found.state == .failed, var run = state.withLock({ $0.runs[number] }) else { return }
        run.end(.failed, failure: found.failure, at: time.wallMilliseconds())
        over(run, means)
    }

    /// A store that is damaged does not get better by waiting; any other is asked again.
    private func refused(_ error: StoreError, _ number: Int64, _ means: Means) async {
        guard error.code == .corrupt else { return }
        let failure = error.message
        let ended = try? await means.store.end(number, as: .failed, by: nil, failure: failure, at: moment)
        if let ended, ended.state == .failed { over(ended, means) }
    }
}
