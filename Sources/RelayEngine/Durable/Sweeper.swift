import RelayCore
import Synchronization

/// Does what is done every second: sweeps the store, counts, and ends pauses whose time is up.
final class Sweeper: Sendable {
    private struct State {
        var retention = Retention()
        var task: Task<Void, Never>?
        var isStopped = false
    }

    private let store: any JobStore
    private let watch: StoreWatch
    private let pauses: RoutePauses
    private let announcer: Announcer
    private let time: any ClockSource
    private let state = Mutex(State())

    /// Jobs of each kind in one call of the store.
    private static let page = 500

    init(_ store: any JobStore, _ audience: Audience, _ announcer: Announcer, _ watch: StoreWatch) {
        self.store = store
        self.watch = watch
        self.announcer = announcer
        pauses = audience.pauses
        time = audience.engine.time
    }

    func configure(_ retention: Retention) { state.withLock { $0.retention = retention } }

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
            do throws(StoreError) {
                try await sweepOnce()
                try await watch.count()
                countUsers(ports)
            } catch {
                // What the store cannot survive ends the process; anything else may have passed in a second.
                if error.code == .closed { return }
            }
            await pauses.endThoseOver()
            do throws(CancellationError) {
                try await time.sleep(until: began.advanced(by: .seconds(1)))
            } catch { return }
        }
    }

    /// In a task of its own: it looks at every job, which a pause that is over need not wait for.
    private func countUsers(_ ports: RelayPorts) {
        guard watch.beginsUserCount() else { return }
        // A store that does not say is asked again later.
        _ = ports.start { [watch] in try? await watch.countUsers() }
    }

    private func sweepOnce() async throws(StoreError) {
        var hasMore = true
        while hasMore, !Task.isCancelled {
            let retention = state.withLock { $0.retention }
            let report = try await store.sweep(retention, limit: Sweeper.page, at: JobMoment(time))
            for job in report.ended { announcer.record(.ended(job)) }
            hasMore = report.hasMore
        }
    }
}
