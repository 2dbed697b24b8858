import RelayBase
import RelayCore
import RelayJobs
import Synchronization

/// Does what time does: sweeps the store, counts, and ends pauses whose time is up; every second while something moves.
final class Sweeper: Sendable {
    private struct State {
        var retention = Retention()
        var task: Task<Void, Never>?
        var isStopped = false
        /// Notices that were owed when that was last told of.
        var owed = 0
    }

    private let store: any JobStore
    private let watch: StoreWatch
    private let pauses: RoutePauses
    private let closed: ClosedRoutes
    private let notices: Notices?
    private let announcer: Announcer
    private let time: any ClockSource
    private let timer = SweepTimer()
    /// Ends when the number of jobs changes, so that the parts that show it hear of that.
    private let others: IdleSignal
    private let state = Mutex(State())

    /// Jobs of each kind in one call of the store.
    private static let page = 500

    init(
        _ store: any JobStore,
        _ audience: Listeners,
        _ announcer: Announcer,
        _ watch: StoreWatch,
        _ closed: ClosedRoutes,
        _ notices: Notices?
    ) {
        self.store = store
        self.closed = closed
        self.notices = notices
        self.watch = watch
        self.announcer = announcer
        pauses = audience.pauses
        time = audience.engine.time
        others = audience.engine.idleSignal
    }

    func configure(_ retention: Retention) { state.withLock { $0.retention = retention } }

    /// The store may have changed.
    func stir() { timer.stir() }

    func start(on ports: RelayPorts) {
        let task = ports.start { [self] in
            await pauses.releaseStranded(watch.counters)
            await sweep(ports)
        }
        let isStopped = state.withLock { state in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task.take()
        }
        task?.cancel()
    }

    /// Sweeps until the task is cancelled.
    private func sweep(_ ports: RelayPorts) async {
        let time = ports.time
        while !Task.isCancelled {
            let began = time.now()
            var left = Duration.zero
            timer.begin()
            do throws(StoreError) {
                left = try await sweepOnce()
                if try await watch.count() { others.end() }
                tellOwed()
                if watch.facts.wantsSweeps { left = .zero }
                countUsers(ports)
            } catch {
                // A fault that the store cannot survive ends the process; any other may have passed in a second.
                if error.code == .closed { return }
            }
            await pauses.endThoseOver()
            let now = time.now()
            let pause = pauses.nextEnd.map { now.duration(to: $0) } ?? left
            do throws(CancellationError) {
                let idleTime = min(left, pause, closed.look() ?? left)
                try await timer.sleep(after: began, idleTime: idleTime, time)
            } catch { return }
        }
    }

    /// Tells that notices are owed, once until all of them are made, and of routes that tell nobody any more.
    private func tellOwed() {
        for (route, count) in notices?.takeWaived() ?? [] {
            announcer.record(
                .notice(
                    .noticesOwed,
                    "route \(route) tells nobody any more (delivery.notify): so far \(count) endings of jobs that were accepted "
                        + "when it did are told to nobody"
                )
            )
        }
        let owed = watch.facts.owedNotices
        let before = state.withLock { state in
            defer { state.owed = owed }
            return state.owed
        }
        guard owed > 0, before == 0 else { return }
        announcer.record(
            .notice(.noticesOwed, "\(owed) notices of jobs that have ended are owed (delivery.notify)")
        )
    }

    /// In a task of its own: it looks at every job, which a pause that is over need not wait for.
    private func countUsers(_ ports: RelayPorts) {
        guard watch.beginsUserCount() else { return }
        // A store that does not say is asked again later.
        _ = ports.start { [watch] in try? await watch.countUsers() }
    }

    /// Sweeps until nothing is left to do.
    ///
    /// - Returns: for how long nothing is.
    private func sweepOnce() async throws(StoreError) -> Duration {
        var hasMore = true
        var idleTime = Duration.zero
        while hasMore, !Task.isCancelled {
            let retention = state.withLock { $0.retention }
            let report = try await store.sweep(retention, limit: Sweeper.page, at: JobMoment(time))
            for job in report.ended { announcer.record(.ended(JobReport(job))) }
            hasMore = report.hasMore
            idleTime = report.idleTime
        }
        return idleTime
    }
}
