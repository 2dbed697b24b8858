import RelayBase
import RelayCore
import RelayJobs
import Synchronization

/// The kept jobs that wait until the network is not constrained any more: they go on together, and by their turns.
final class NetworkHolds: Sendable {
    /// The parts that it works with.
    private struct Means {
        var store: any JobStore
        var announcer: Announcer
        var ports: RelayPorts
    }

    /// Jobs of one call of the store.
    private static let page = 500

    private let engine: Engine
    private let mutex = RouteMutex()
    private let means = Mutex<Means?>(nil)

    init(_ engine: Engine) { self.engine = engine }

    /// Whether the network is constrained; it never is before the start.
    var isConstrained: Bool { means.withLock { $0 }?.ports.isConstrained() ?? false }

    /// Lets those go that a constrained network, or an earlier configuration, has put aside before the start.
    func start(_ store: any JobStore, _ announcer: Announcer, _ ports: RelayPorts) {
        means.withLock { $0 = Means(store: store, announcer: announcer, ports: ports) }
        changed()
    }

    /// Nobody is told of anything any more.
    func stop() { means.withLock { $0 = nil } }

    /// The network is another, or the configuration is; called on any thread.
    ///
    /// A job that has to wait all the same is put aside again when its turn comes.
    func changed(always: Bool = false) {
        guard let means = means.withLock({ $0 }) else { return }
        if !always, means.ports.isConstrained() { return }
        _ = means.ports.start { [self] in await release(JobFilter(), means) }
    }

    /// A job was put aside for a network that is not constrained any more: it goes on.
    func releaseIfOpen(_ id: JobID) async {
        guard let means = means.withLock({ $0 }), !means.ports.isConstrained() else { return }
        await release(JobFilter(ids: [id]), means)
    }

    /// One after the other, so that none is looked for twice.
    private func release(_ filter: JobFilter, _ means: Means) async {
        var filter = filter
        filter.states = [.held]
        filter.reason = .networkConstrained
        let first = ActionOrder(.release, filter, limit: NetworkHolds.page, by: .pause)
        // A fault that keeps the store from it ends the process, or the next start makes up for it.
        try? await mutex.withLock("") { () async throws(StoreError) in
            var order = first
            repeat {
                let report = try await means.store.apply(order, at: JobMoment(engine.time))
                for job in report.changes { means.announcer.record(.changed(JobReport(job))) }
                order.cursor = report.next
            } while order.cursor != nil
        }
    }
}
