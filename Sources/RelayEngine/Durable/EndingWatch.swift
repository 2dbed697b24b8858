import RelayBase
package import RelayCore
package import RelayJobs
import Synchronization

/// Kept jobs that die or expire within the hour, as of the last time that somebody asked; the store is asked every five
/// seconds at most.
package final class EndingWatch: Sendable {
    private struct State {
        var jobs: [String: EndingJobs] = [:]
        var lookedAt: Instant?
        var isLooking = false
    }

    /// How far it looks ahead, in milliseconds.
    package static let span: Int64 = 3_600_000
    private static let pause = Duration.seconds(5)
    /// For how long somebody who asks waits for the store; whoever asks later is told what it said.
    private static let timeout = Duration.milliseconds(250)
    /// Routes whose failed jobs are looked at, those with most first.
    private static let mostRoutes = 50

    private let store: any JobStore
    private let watch: StoreWatch
    private let state = Mutex(State())

    init(_ store: any JobStore, _ watch: StoreWatch) {
        self.store = store
        self.watch = watch
    }

    /// By route.
    package var jobs: [String: EndingJobs] { state.withLock { $0.jobs } }

    /// Looks, unless it has just looked or does.
    package func look(_ ports: RelayPorts) async {
        let now = ports.time.now()
        let isDue = state.withLock { state in
            guard !state.isLooking, state.lookedAt.map({ $0.duration(to: now) >= Self.pause }) ?? true else {
                return false
            }
            state.isLooking = true
            return true
        }
        guard isDue else { return }
        let end = ports.time.wallMilliseconds().addingSaturating(Self.span)
        let looking = ports.begin { [self] in await look(by: end, ports) }
        _ = await ports.wait(for: looking, by: now.advanced(by: Self.timeout))
    }

    private func look(by end: Int64, _ ports: RelayPorts) async {
        let counters = watch.counters
        let failing = counters.counts.filter { $0.key.state == .retrying && $0.value > 0 }
            .sorted { $0.value == $1.value ? $0.key.route < $1.key.route : $0.value > $1.value }
        let routes = failing.prefix(Self.mostRoutes).map(\.key.route)
        // Nobody knows of what a store does not tell.
        let isEmpty = counters.unfinished() == 0
        let jobs = isEmpty ? [:] : (try? await store.ending(by: end, of: routes)) ?? [:]
        state.withLock { $0 = State(jobs: jobs, lookedAt: ports.time.now()) }
    }
}
