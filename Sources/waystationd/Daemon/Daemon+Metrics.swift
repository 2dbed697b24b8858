import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelayStore
import RelaySystemd
import Synchronization

extension Daemon {
    func metrics(_ format: MetricsText.Format) async -> [UInt8] {
        await desk.text(format) { [self] in metricsNow(format) }
    }

    func compose(_ document: @escaping @Sendable () -> [UInt8]) async -> [UInt8] {
        await desk.thread.perform(document)
    }

    private func metricsNow(_ format: MetricsText.Format) -> [UInt8] {
        var text = MetricsText(format)
        let (snapshot, clock) = (engine.snapshot, SystemTime())
        for name in snapshot.routeNames {
            guard let entry = snapshot.routes[name] else { continue }
            text.add(name, entry, isPaused: durable.pauses.pause(of: name) != nil, clock)
        }
        text.add(durable.watch.counters, of: durable, snapshot)
        text.add(.queueLimit, audience.capacity.limit)
        text.add(.storeInfo, [storage.directory], 1)
        addCredentials(snapshot, clock, to: &text)
        text.add(storage.facts, storageState, refusals: durable.acceptance.refusals)
        text.add(.spool, storage.spool.usage.used)
        text.add(.spoolLimit, storage.spool.usage.limit)
        addCallers(snapshot, to: &text)
        addService(snapshot, to: &text)
        text.addProcess(startedAt: startedAt)
        return text.bytes
    }

    private func addCredentials(_ snapshot: Snapshot, _ clock: any ClockSource, to text: inout MetricsText) {
        let fetches = engine.tally.counts.credentials
        for (credential, refusedBy) in snapshot.credentialStates(now: clock.now()) {
            for name in snapshot.routeNames {
                let held = snapshot.routes[name]?.route.policy.authentication?.credential
                guard held == credential.name else { continue }
                text.add(.refusedCredential, [name, credential.name], refusedBy.contains(name))
            }
            for condition in CredentialState.allCases {
                text.add(
                    .credentialState,
                    [credential.name, condition.rawValue],
                    credential.condition == condition
                )
            }
            if let left = credential.expiresIn {
                let end = clock.wallMilliseconds() + left.saturatedNanoseconds / 1_000_000
                text.add(.credentialExpiry, [credential.name], Int64((Double(end) / 1_000).rounded()))
            }
            let counts = fetches[credential.name]
            text.add(.credentialRefreshes, [credential.name, "success"], counts?.succeeded ?? 0)
            text.add(.credentialRefreshes, [credential.name, "failure"], counts?.failed ?? 0)
        }
    }

    private func addCallers(_ snapshot: Snapshot, to text: inout MetricsText) {
        text.add(.connectionsRefused, limiter.refused)
        let cells = Dictionary(grouping: listeners.withLock { $0 }, by: \.name).sorted { $0.key < $1.key }
        for (name, loops) in cells {
            text.add(.connections, [name], loops.reduce(0) { $0 + $1.cells.connections })
            // An interim answer is none of the relay's own.
            for code in 2...5 {
                let count = loops.reduce(0) { $0 &+ $1.cells.classes[code - 1] }
                text.add(.httpRequests, [name, "\(code)xx"], count)
            }
        }
        text.add(.rejected, rejected(snapshot))
    }

    /// The requests that were refused, by route and code: at the door, or where they waited for a permit.
    private func rejected(_ snapshot: Snapshot) -> [[String]: UInt64] {
        var rejected: [[String]: UInt64] = [:]
        // From nothing on what alerts go by: the first burst must show as an increase.
        for route in snapshot.routeNames + [""] {
            for code in [Problem.Code.overloaded, .queueFull, .rateLimited] {
                rejected[[route, code.name]] = 0
            }
        }
        for tally in problems.withLock({ $0 }) {
            for (name, count) in tally.all where name.route.map({ snapshot.routes[$0] != nil }) ?? true {
                rejected[[name.route ?? "", name.code.name], default: 0] &+= count
            }
        }
        for (route, entry) in snapshot.routes {
            for (kind, count) in entry.state.figures.account.unsent {
                rejected[[route, kind.rawValue], default: 0] &+= count
            }
        }
        return rejected
    }

    private func addService(_ snapshot: Snapshot, to text: inout MetricsText) {
        let bodies = memory.usage
        text.add(.memory, bodies.used)
        text.add(.memoryLimit, bodies.limit)
        let shedding = engine.shedding.standing
        text.add(.sheddingLevel, shedding.level)
        text.add(.shed, shedding.refused)
        if shedding.reports || shedding.wouldHaveRefused > 0 {
            text.add(.wouldShed, shedding.wouldHaveRefused)
        }
        text.add(.constrained, condition.isConstrained)
        text.add(.journalLost, journal.lost)
        text.add(.journalBlocked, journal.blockedSeconds)
        let notices = engine.tally.counts.notices
        for kind in EventKind.allCases {
            if let (metric, result) = kind.counter { text.add(metric, [result], notices[kind] ?? 0) }
        }
        text.add(.reloadSuccessful, reloadError.withLock { $0 == nil })
        text.add(.reloadTime, snapshot.settings.loadedAt)
        text.add(.configInfo, [snapshot.settings.file, snapshot.settings.digest], 1)
        text.add(.start, startedAt)
        text.add(.buildInfo, [Version.text], 1)
    }
}
