import RelayBase
package import RelayCore
package import RelayEngine
package import RelayInterface
package import RelayJobs
import RelayPosix
package import RelayRoute

/// The daemon's state as `GET /v1/status` and `STATUS=` show it.
package struct StatusReport: Sendable {
    let engine: Engine
    let durable: DurableJobs
    let snapshot: Snapshot
    let jobs: JobCounters
    let shedding: Shedding.Standing
    /// Of the store at this moment, as the metrics tell them.
    let facts: StoreFacts
    let storage: StorageState
    private let memory: MemoryMachine
    package var processID: Int32 = 0
    package var startedAt: Int64 = 0
    package var startedTicks: Int64 = 0
    package var connections = 0
    /// Turned away for want of a place, since the start.
    package var refusedConnections = 0
    /// Copies of request bodies that are under way.
    package var spool: (used: UInt64, limit: UInt64) = (0, 0)
    /// Why the last reload was refused, and when in milliseconds since 1970 UTC; nil when it was not.
    package var reloadError: (error: String, at: Int64)?
    /// Since when the store has not moved, in the same words.
    package var stalledSince: Int64?
    /// Whether the network counts as constrained.
    package var isConstrained = false
    /// Whether the kernel names every caller by the same user.
    package var hidesCallers = false
    /// How long the journal has not taken a record, and how many were lost for that since the start.
    package var journal: (blockedSeconds: Int64, lost: Int) = (0, 0)

    package init(
        _ engine: Engine,
        _ durable: DurableJobs,
        _ facts: StoreFacts,
        _ storage: StorageState,
        _ memory: MemoryMachine
    ) {
        (self.engine, self.durable, self.facts) = (engine, durable, facts)
        (self.storage, self.memory) = (storage, memory)
        (snapshot, jobs) = (engine.snapshot, durable.watch.counters)
        shedding = engine.shedding.standing
    }

    private var state: DaemonState {
        engine.isDraining ? .draining : reloadError == nil ? .serving : .reloadFailed
    }

    var sheddingSince: Int64? {
        shedding.since.map {
            let past = $0.duration(to: Instant(nanoseconds: SystemClock.monotonic()))
            return SystemClock.wallSeconds() - past.components.seconds
        }
    }
}

extension StatusReport: Document {
    package static let members: [Member<StatusReport>] = [
        .required("version") { _ in Version.text }, .required("api_versions") { _ in ["v1"] },
        .required("pid", .integer(1...)) { $0.processID },
        .required("started_at", .moment) { UTCTime.format(seconds: $0.startedAt) },
        .required("uptime_seconds") { (SystemClock.monotonic() - $0.startedTicks) / 1_000_000_000 },
        .required("state") { $0.state }, .required("draining") { $0.engine.isDraining },
        .group(
            "config",
            [
                .required("file") { $0.snapshot.settings.file },
                .required("digest") { $0.snapshot.settings.digest },
                .required("loaded_at", .moment) { UTCTime.format(seconds: $0.snapshot.settings.loadedAt) },
                .optional("last_reload_error") { $0.reloadError?.error },
            ]
        ),
        .required("in_flight") { $0.engine.inFlight }, .required("connections") { $0.connections },
        .required("connections_refused", .count, "For want of a place, since the start.") {
            $0.refusedConnections
        },
        .required("callers", .list(.named("Caller"))) { $0.engine.callers.standings },
        .required("constrained") { $0.isConstrained },
        .required("callers_known", .boolean, "False where a user namespace gives all the same user.") {
            !$0.hidesCallers
        },
        .group(
            "jobs",
            [
                .required("queued", .count, "All that are not over.") { $0.jobs.unfinished() },
                .required("held") { $0.jobs.count(.held) }, .required("dead") { $0.jobs.count(.dead) },
                .required("running") { $0.durable.inFlight },
                .optional(
                    "owed_notices",
                    .count,
                    "Jobs that have ended of which another route is still to be told."
                ) { $0.facts.owedNotices > 0 ? $0.facts.owedNotices : nil },
            ]
        ),
        .group(
            "storage",
            [
                .required("state") { $0.storage },
                .optional("reason", .text, "Why it is unavailable.") { $0.facts.absence },
                .required("used_bytes") { $0.facts.usedBytes },
                .required("max_bytes") { $0.facts.maxBytes },
                .optional("disk_bytes", .count, "Of the file system it is on.") { $0.facts.disk?.size },
                .optional("disk_available_bytes", .count, "What of it may still be written.") {
                    $0.facts.disk?.available
                },
                .required("corrupt_records", .count, "Met since the start.") { $0.facts.corruptRecords },
            ]
        ),
        .part(
            "database",
            of: DatabaseFacts.members,
            "The one in which a fleet keeps its jobs, as of a second ago.",
            maybe: true
        ) { $0.facts.database },
        .group(
            "journal",
            [
                .required("blocked_seconds") { $0.journal.blockedSeconds },
                .required("lost_records") { $0.journal.lost },
            ]
        ),
        .group(
            "memory",
            [
                .required("used_bytes") { $0.memory.used }, .required("limit_bytes") { $0.memory.limit },
                .required("waiting") { $0.memory.waiting },
            ]
        ),
        .group(
            "shedding",
            [
                .required("level", .integer(0...3)) { $0.shedding.level },
                .optional("reason", .text) { $0.shedding.cause?.rawValue },
                .optional("since", .moment) { $0.sheddingSince.map(UTCTime.format(seconds:)) },
                .required("refused") { $0.shedding.refused },
                .optional(
                    "would_have_refused",
                    .count,
                    "Where its mode is report, and nothing is refused."
                ) { $0.shedding.reports ? $0.shedding.wouldHaveRefused : nil },
            ]
        ),
        .group(
            "spool",
            [.required("used_bytes") { $0.spool.used }, .required("limit_bytes") { $0.spool.limit }]
        ),
        .list("routes", of: route) { report in
            report.snapshot.routeNames.map {
                RouteSituation(
                    $0,
                    report.snapshot,
                    report.durable,
                    report.jobs,
                    report.engine.time,
                    withTraffic: false
                )
            }
        },
        .list("credentials", of: credential) {
            $0.snapshot.credentialStates(now: Instant(nanoseconds: SystemClock.monotonic()))
        },
    ]

    private static let route =
        RouteSituation.condition(RouteSituation.conditions) + [
            .optional("pause_reason") { $0.pause?.reason },
            .optional("paused_by", .named("Principal")) { $0.pause?.by },
            .optional(
                "reports_only",
                .list(.text),
                "Parts of its traffic and rules whose mode is report: they tell what they would do, and do nothing."
            ) { $0.entry?.route.reported.unlessEmpty },
            .required("queued") { $0.jobs.unfinished($0.name) },
            .required("held") { $0.jobs.count(.held, of: $0.name) },
            .required("dead") { $0.jobs.count(.dead, of: $0.name) },
        ]

    private static let credential: [Member<(state: CredentialVault.State, refusedBy: [String])>] = [
        .required("name") { $0.state.name }, .required("state") { $0.state.condition },
        .optional("expires_in_seconds", .integer) { $0.state.expiresIn?.components.seconds },
        .optional("refused_by", .list(.text), "Routes whose upstreams refuse it.") {
            $0.refusedBy.unlessEmpty
        },
    ]
}

extension CallerShares.Standing: Document {
    package static let members: [Member<CallerShares.Standing>] = [
        .optional("user") { $0.user },
        .optional("ports", .yes, "The callers of all ports.") { $0.user == nil ? true : nil },
        .required("connections") { $0.connections }, .required("requests") { $0.requests },
        .required("bytes") { $0.bytes },
        .part(
            "refused",
            of: CallerBound.allCases.map { bound in .optional(bound.rawValue) { $0[bound] } },
            "How often since it is known, by the bound's key.",
            maybe: true
        ) { $0.refusals.isEmpty ? nil : $0.refusals },
    ]
}

extension DaemonState: WordValue {}
extension StorageState: WordValue {}

extension StatusReport {
    /// One line for the service manager.
    package var line: String {
        if engine.isDraining { return "Draining: \(engine.inFlight + durable.inFlight) in flight" }
        var succeeded: UInt64 = 0
        var failed: UInt64 = 0
        var helped: UInt64 = 0
        var breaches: UInt64 = 0
        for entry in snapshot.routes.values {
            // One by one: this is composed each second, and all figures of a route are thousands of numbers.
            let meter = entry.state.meter
            succeeded += meter.sum(.succeeded)
            failed += meter.sum(.failed)
            breaches += meter.sum(.breaches)
            for count in [.recovered, .fallback, .placeholder, .stale] as [RouteFigures.Count] {
                helped += meter.sum(count)
            }
        }
        let breached = breaches > 0 ? ", never_fails breached \(breaches)" : ""
        let constraint = isConstrained ? "; network constrained" : ""
        let trouble = reloadError.map { "; reload failed: \($0.error); old configuration kept" } ?? ""
        let kept = "jobs queued \(jobs.unfinished()), dead \(jobs.count(.dead))"
        let paused = snapshot.routeNames.filter { durable.pauses.pause(of: $0) != nil }
        let hidden = hidesCallers ? "; callers' users are not known (PrivateUsers=)" : ""
        let full =
            switch storage {
            case .ok: ""
            case .full: "; the job store has no room"
            case .stalled: "; the job store does not move"
            case .gone: "; the job store's file is gone"
            case .unavailable: "; the job store is away\(facts.absence.map { ": \($0)" } ?? "")"
            }
        let short =
            shedding.level == 0
            ? "" : "; memory is short, new work \(shedding.reports ? "would be" : "is") refused"
        let mute = journal.blockedSeconds > 2 ? "; the journal takes no records" : ""
        let pauses = paused.isEmpty ? "" : "; paused: \(paused.prefix(3).joined(separator: ", "))"
        let routes = snapshot.routeNames.count
        return
            "Serving \(routes) route\(routes == 1 ? "" : "s"): \(engine.inFlight + durable.inFlight) in flight, "
            + "ok \(succeeded), recovered \(helped), failed \(failed), \(kept)\(full)\(short)\(mute)\(pauses)\(breached)\(constraint)\(hidden)\(trouble)"
    }
}
