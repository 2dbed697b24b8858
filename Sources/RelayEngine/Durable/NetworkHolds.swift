import RelayBase
import RelayCore
import RelayJobs
import Synchronization

/// The kept jobs that wait until the network is not constrained any more, or their route has them wait no more: they go on
/// together, and by their turns.
final class NetworkHolds: Sendable {
    /// The parts that it works with.
    private struct Means {
        var store: any JobStore
        var announcer: Announcer
        var ports: RelayPorts
    }

    private struct State {
        var means: Means?
        /// Whether jobs may be held that nothing holds any more; until all were looked at after the last change.
        var isDue = false
        /// The look that is under way.
        var task: Task<Void, Never>?
        var isDraining = false
    }

    /// Jobs of one call of the store.
    private static let page = 500
    /// The first wait for a store that has refused, and the longest.
    private static let waits: (first: Duration, longest: Duration) = (.milliseconds(100), .seconds(5))

    private let engine: Engine
    private let state = Mutex(State())

    init(_ engine: Engine) { self.engine = engine }

    private var means: Means? { state.withLock { $0.means } }

    /// Whether the network is constrained; it never is before the start.
    var isConstrained: Bool { means?.ports.isConstrained() ?? false }

    /// Whether the network, as it is, and the configuration in force have the job wait.
    func holds(_ job: StoredJob) -> Bool {
        guard isConstrained else { return false }
        let record = job.record
        // Without its route it could not go on either.
        return engine.constrainedUse(of: record.route, own: record.bounds.constrained) ?? .wait == .wait
    }

    /// Lets those go that a constrained network, or an earlier configuration, has put aside before the start.
    func start(_ store: any JobStore, _ announcer: Announcer, _ ports: RelayPorts) {
        state.withLock { $0.means = Means(store: store, announcer: announcer, ports: ports) }
        configured()
    }

    /// Nobody is told of anything any more.
    func stop() { state.withLock { $0.means = nil } }

    /// Looks no more: the next start does it.
    func drain() {
        let task = state.withLock { state in
            state.isDraining = true
            return state.task.take()
        }
        task?.cancel()
    }

    /// The network is another; called on any thread.
    func changed() { if !isConstrained { configured() } }

    /// Jobs may go on that were held: those that nothing holds any more are let go; called on any thread.
    func configured() {
        state.withLock { state in
            state.isDue = true
            guard let means = state.means, !state.isDraining, state.task == nil else { return }
            state.task = means.ports.start { [self] in await walk(means.ports.time) }
        }
    }

    /// A job was put aside for a network, or by a configuration, that may be another by now.
    func releaseIfOpen(_ job: StoredJob) async {
        guard let means, !holds(job) else { return }
        do throws(StoreError) {
            try await release(JobFilter(ids: [job.record.id]), means)
        } catch { configured() }
    }
}

// Letting go what nothing holds.
extension NetworkHolds {
    /// Looks at all that are held, and again with growing waits while the store refuses.
    private func walk(_ time: any TimeSource) async {
        var wait = NetworkHolds.waits.first
        while let means = next() {
            do throws(StoreError) {
                try await releaseAll(means)
                wait = NetworkHolds.waits.first
            } catch {
                state.withLock { $0.isDue = true }
                // Otherwise the process ends, or can tell nothing more of them.
                guard error.mayPass else { return }
                do throws(CancellationError) {
                    try await time.sleep(until: time.now().advanced(by: wait))
                } catch { return }
                wait = min(wait * 2, NetworkHolds.waits.longest)
            }
        }
    }

    /// The means of another look; nil where none is due.
    private func next() -> Means? {
        state.withLock { state in
            guard state.isDue, !state.isDraining, let means = state.means else {
                state.task = nil
                return nil
            }
            state.isDue = false
            return means
        }
    }

    private func releaseAll(_ means: Means) async throws(StoreError) {
        guard means.ports.isConstrained() else { return try await release(JobFilter(), means) }
        let counters = try await means.store.counters(at: JobMoment(engine.time), withDue: false)
        for group in counters.counts.keys where group.state == .held {
            // A route that has them wait lets none go, whatever their own words.
            guard let use = engine.constrainedUse(of: group.route, own: .send), use != .wait else { continue }
            var filter = JobFilter()
            filter.route = group.route
            do throws(StoreError) {
                try await releaseFree(filter, means)
            } catch  where error.code == .corrupt {
                // Each that has to wait all the same is held again when its turn comes.
                try await release(filter, means)
            }
        }
    }

    /// Lets those of a route go that do not wait by their own words.
    private func releaseFree(_ jobs: JobFilter, _ means: Means) async throws(StoreError) {
        let filter = NetworkHolds.held(jobs)
        var cursor: JobCursor?
        repeat {
            let page = try await means.store.jobs(
                filter,
                order: .oldestFirst,
                limit: NetworkHolds.page,
                after: cursor
            )
            let free = page.jobs.filter { !holds($0) }.map(\.record.id)
            if !free.isEmpty { try await release(JobFilter(ids: free), means) }
            cursor = page.next
        } while cursor != nil
    }

    private static func held(_ jobs: JobFilter) -> JobFilter {
        var filter = jobs
        filter.states = [.held]
        filter.reason = .networkConstrained
        return filter
    }

    private func release(_ jobs: JobFilter, _ means: Means) async throws(StoreError) {
        var order = ActionOrder(.release, NetworkHolds.held(jobs), limit: NetworkHolds.page, by: .pause)
        repeat {
            let report = try await means.store.apply(order, at: JobMoment(engine.time))
            for job in report.changes { means.announcer.record(.changed(JobReport(job))) }
            order.cursor = report.next
        } while order.cursor != nil
    }
}
