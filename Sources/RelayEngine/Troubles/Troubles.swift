import RelayBase
import RelayCore
package import RelayInterface
package import RelayJobs
import RelayRoute

/// All that is wrong at a moment, the most costly first, and the sums of it.
package struct Troubles: Sendable {
    /// As many as are told.
    package static let limit = 100

    package let worst: [Trouble]
    package let count: Int
    package let state: TroubleState
    /// The earliest moment of those of the worst state.
    package let since: Int64?
    /// Names of all routes that a trouble concerns.
    package let routeCount: Int
    package let credentialCount: Int
    package let failuresPerMinute: Int

    /// Groups those of one kind and one subject.
    package init(_ found: some Sequence<Trouble>) {
        var groups: [String: Trouble] = [:]
        for trouble in found {
            let id = trouble.id
            if groups[id] == nil { groups[id] = trouble } else { groups[id]?.merge(trouble) }
        }
        let ranks = Dictionary(uniqueKeysWithValues: zip(TroubleKind.allCases, 0...))
        let ordered = groups.map { (id: $0.key, trouble: $0.value, rank: ranks[$0.value.kind] ?? 0) }.sorted {
            let (one, other) = ($0.trouble, $1.trouble)
            if one.stopsAll != other.stopsAll { return one.stopsAll }
            if one.failuresPerMinute != other.failuresPerMinute {
                return one.failuresPerMinute > other.failuresPerMinute
            }
            let (ending, later) = ((one.expiring + one.dying).count, (other.expiring + other.dying).count)
            if ending != later { return ending > later }
            if one.oldest != other.oldest { return one.oldest ?? .max < other.oldest ?? .max }
            return $0.rank == $1.rank ? $0.id < $1.id : $0.rank < $1.rank
        }.map(\.trouble)
        worst = Array(ordered.prefix(Troubles.limit))
        count = ordered.count
        let state = ordered.map(\.state).max() ?? .ok
        self.state = state
        since = ordered.reduce(nil) { $1.state == state ? Trouble.earlier($0, $1.since) : $0 }
        routeCount = ordered.reduce(into: Set<String>()) { $0.formUnion($1.routes.keys) }.count
        credentialCount = ordered.count { if case .credential = $0.subject { true } else { false } }
        failuresPerMinute = ordered.reduce(0) { $0 + $1.failuresPerMinute }
    }
}

extension Trouble {
    /// Whether it is the daemon's own, and work of everybody is refused for it.
    fileprivate var stopsAll: Bool { state == .failing && (subject == .store || subject == .daemon) }
}

/// How the daemon itself is, beside its routes.
package struct DaemonFacts: Sendable {
    /// Why the last reload was refused, and when.
    package var reload: (error: String, at: Int64)?
    /// That of the configuration in force.
    package var digest = ""
    package var isDraining = false
    package var isConstrained = false
    package var hidesCallers = false
    package var shedding: (cause: String, since: Int64?)?
    /// The state of the store that refuses jobs, and since when.
    package var store: (kind: TroubleKind, since: Int64?)?
    package var facts = StoreFacts()
    package var journal: (blockedSeconds: Int64, lost: Int) = (0, 0)
    /// Credentials in trouble.
    package var credentials: [(name: String, kind: TroubleKind, since: Int64?, refusedBy: [String])] = []

    package init() {}

    /// Seconds from which on a journal that takes no record is told of.
    private static let longBlock: Int64 = 2

    /// The troubles at the moment `wall`, in milliseconds since 1970 UTC.
    package func troubles(_ wall: Int64) -> [Trouble] {
        var found: [Trouble] = []
        func add(_ isSo: Bool, _ kind: TroubleKind, since: Int64? = nil, _ told: String? = nil) {
            if isSo { found.append(Trouble(kind, .daemon, since: since, told: told)) }
        }
        if let store {
            found.append(Trouble(store.kind, .store, since: store.since, told: text(of: store.kind)))
        }
        if store == nil, let text = shortage { found.append(Trouble(.storeFilling, .store, told: text)) }
        if facts.corruptRecords > 0 {
            let text = "Damaged records met in the job store since the start: \(facts.corruptRecords)."
            found.append(Trouble(.storeDamaged, .store, told: text))
        }
        if facts.owedNotices > 0 {
            let text =
                "Jobs that have ended of which another route is still to be told: \(facts.owedNotices)."
            found.append(Trouble(.noticesOwed, .store, told: text))
        }
        add(
            shedding != nil,
            .memoryShort,
            since: shedding?.since,
            "Memory is short\(shedding.map { " (\($0.cause))" } ?? "")."
        )
        add(isDraining, .draining)
        add(
            reload != nil,
            .reloadRefused,
            since: reload?.at,
            "The last reload was refused: \(reload?.error ?? "")"
        )
        if reload != nil { found[found.count - 1].revision = digest }
        add(hidesCallers, .callersHidden)
        add(isConstrained, .networkConstrained)
        let isBlocked = journal.blockedSeconds > Self.longBlock
        add(
            isBlocked,
            .journalBlocked,
            since: wall - journal.blockedSeconds * 1_000,
            "The journal has not taken a record for \(journal.blockedSeconds)s."
        )
        add(
            !isBlocked && journal.lost > 0,
            .journalLost,
            "Records the journal did not take since the start: \(journal.lost)."
        )
        for one in credentials {
            var trouble = Trouble(one.kind, .credential(one.name), since: one.since)
            for route in one.refusedBy { trouble.concerns(route) }
            found.append(trouble)
        }
        return found
    }

    private func text(of kind: TroubleKind) -> String? {
        if kind == .storeUnavailable { return facts.absence.map { "The job store is away: \($0)." } }
        guard kind == .storeFull else { return nil }
        return "The job store has no room, at \(facts.usedBytes) of \(facts.maxBytes) bytes."
    }

    /// The room of the store that comes to its end; nil where none does.
    private var shortage: String? {
        if facts.usedBytes > facts.maxBytes / 5 * 4 {
            return "The job store is nearly full, at \(facts.usedBytes) of \(facts.maxBytes) bytes."
        }
        guard let disk = facts.disk, disk.available < min(disk.size / 10, facts.maxBytes) else { return nil }
        return "The disk of the job store is nearly full, with \(disk.available) of \(disk.size) bytes left."
    }
}
