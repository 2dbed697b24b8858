import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

/// The routes at a moment.
struct RouteView: Sendable {
    let snapshot: Snapshot
    private let durable: DurableJobs
    private let counters: JobCounters
    private let time: any TimeSource

    init(_ server: LoopServer) async throws(Problem) {
        snapshot = server.engine.snapshot
        durable = server.durable
        time = server.relay.ports.time
        counters = try await RouteView.counters(server)
    }

    static func counters(_ server: LoopServer) async throws(Problem) -> JobCounters {
        try await server.durable.store.told { store throws(StoreError) in
            try await store.counters(at: JobMoment(server.relay.ports.time), withDue: false)
        }
    }

    /// Unfinished jobs of one route, or of all, by what failed last and by age.
    static func failures(_ route: String?, _ server: LoopServer) async throws(Problem) -> [FailureKind: [Int]]
    {
        try await server.durable.store.told { store throws(StoreError) in
            try await store.failures(of: route, at: JobMoment(server.relay.ports.time))
        }
    }

    /// Those of the configuration in its order, then those that only have jobs.
    var names: [String] {
        let known = Set(snapshot.routeNames)
        return snapshot.routeNames
            + Set(counters.counts.filter { $0.value > 0 }.keys.map(\.route)).subtracting(known).sorted()
    }

    subscript(name: String) -> RouteSituation {
        RouteSituation(name, snapshot, durable, counters, time)
    }
}
