import Glibc
import RelayBase
import RelayCore
import RelayEngine
import RelayJSON
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelayStore

/// The daemon's state as `GET /v1/status` and `STATUS=` show it.
struct StatusReport {
    let engine: Engine
    let durable: DurableJobs
    let startedAt: Int64
    let startedTicks: Int64
    let connections: Int
    /// Turned away for want of a place, since the start.
    let refusedConnections: Int
    /// Copies of request bodies that are under way.
    let spool: SpoolQuota
    let memory: MemoryMachine
    /// Why the last reload was refused; nil when it was not.
    let reloadError: String?
    /// Whether the network counts as constrained.
    let isConstrained: Bool
    /// Whether the kernel names every caller by the same user.
    let hidesCallers: Bool
    let storageState: StorageState
    /// Of the store at this moment, as the metrics tell them.
    let facts: StoreFacts
    /// How long the journal has not taken a record, and how many were lost for that since the start.
    let journal: (blockedSeconds: Int64, lost: Int)

    var document: [UInt8] {
        let snapshot = engine.snapshot
        var json = JSONObjectWriter()
        json.member("version", Version.text)
        json.array("api_versions") { $0.element("v1") }
        json.member("pid", getpid())
        json.member("started_at", UTCTime.format(seconds: startedAt))
        json.member("uptime_seconds", (SystemClock.monotonic() - startedTicks) / 1_000_000_000)
        let state: DaemonState =
            engine.isDraining ? .draining : reloadError == nil ? .serving : .reloadFailed
        json.member("state", state.rawValue)
        json.member("draining", engine.isDraining)
        json.object("config") { config in
            config.member("file", snapshot.settings.file)
            config.member("digest", snapshot.settings.digest)
            config.member("loaded_at", UTCTime.format(seconds: snapshot.settings.loadedAt))
            if let reloadError { config.member("last_reload_error", reloadError) }
        }
        json.member("in_flight", engine.inFlight)
        json.member("connections", connections)
        json.member("connections_refused", refusedConnections)
        json.array("callers") { list in
            for caller in engine.callers.standings { list.object { write(caller, into: &$0) } }
        }
        json.member("constrained", isConstrained)
        json.member("callers_known", !hidesCallers)
        let counters = durable.watch.counters
        json.object("jobs") { jobs in
            jobs.member("queued", counters.unfinished())
            jobs.member("held", counters.count(.held))
            jobs.member("dead", counters.count(.dead))
            jobs.member("running", durable.inFlight)
        }
        let storage = facts
        json.object("storage") { store in
            store.member("state", storageState.rawValue)
            store.member("used_bytes", storage.usedBytes)
            store.member("max_bytes", storage.maxBytes)
            if let disk = storage.disk {
                store.member("disk_bytes", disk.size)
                store.member("disk_available_bytes", disk.available)
            }
            store.member("corrupt_records", storage.corruptRecords)
        }
        json.object("journal") { writer in
            writer.member("blocked_seconds", journal.blockedSeconds)
            writer.member("lost_records", journal.lost)
        }
        json.object("memory") { writer in
            writer.member("used_bytes", memory.used)
            writer.member("limit_bytes", memory.limit)
            writer.member("waiting", memory.waiting)
        }
        json.object("shedding") { writer in
            let shedding = engine.shedding.standing
            writer.member("level", shedding.level)
            if let cause = shedding.cause { writer.member("reason", cause.rawValue) }
            if let since = shedding.since {
                let past = since.duration(to: Instant(nanoseconds: SystemClock.monotonic()))
                writer.member(
                    "since",
                    UTCTime.format(seconds: SystemClock.wallSeconds() - past.components.seconds)
                )
            }
            writer.member("refused", shedding.refused)
        }
        json.object("spool") { writer in
            writer.member("used_bytes", spool.used)
            writer.member("limit_bytes", spool.limit)
        }
        json.array("routes") { list in
            for name in snapshot.routeNames {
                guard let entry = snapshot.routes[name] else { continue }
                list.object { write(entry, name, counters, into: &$0) }
            }
        }
        json.array("credentials") { list in
            let now = Instant(nanoseconds: SystemClock.monotonic())
            for (credential, refusedBy) in snapshot.credentialStates(now: now) {
                list.object { writer in
                    writer.member("name", credential.name)
                    writer.member("state", credential.word.rawValue)
                    if let expiresIn = credential.expiresIn {
                        writer.member("expires_in_seconds", expiresIn.components.seconds)
                    }
                    if !refusedBy.isEmpty {
                        writer.array("refused_by") { list in
                            for route in refusedBy { list.element(route) }
                        }
                    }
                }
            }
        }
        return json.bytes
    }

    /// One line for the service manager.
    var line: String {
        if engine.isDraining { return "Draining: \(engine.inFlight + durable.inFlight) in flight" }
        let snapshot = engine.snapshot
        var succeeded: UInt64 = 0
        var failed: UInt64 = 0
        var helped: UInt64 = 0
        var breaches: UInt64 = 0
        for entry in snapshot.routes.values {
            let figures = entry.state.figures
            succeeded += figures.succeeded
            failed += figures.failed
            breaches += figures.breaches
            helped += figures.recovered + figures.fallbacks
        }
        let breached = breaches > 0 ? ", never_fails breached \(breaches)" : ""
        let constraint = isConstrained ? "; network constrained" : ""
        let trouble = reloadError.map { "; reload failed: \($0); old configuration kept" } ?? ""
        let jobs = durable.watch.counters
        let kept = "jobs queued \(jobs.unfinished()), dead \(jobs.count(.dead))"
        let paused = snapshot.routeNames.filter { durable.pauses.pause(of: $0) != nil }
        let hidden = hidesCallers ? "; callers' users are not known (PrivateUsers=)" : ""
        let full =
            switch storageState {
            case .ok: ""
            case .full: "; the job store has no room"
            case .stalled: "; the job store does not move"
            case .gone: "; the job store's file is gone"
            }
        let short = engine.shedding.standing.level > 0 ? "; memory is short, new work is refused" : ""
        let mute = journal.blockedSeconds > 2 ? "; the journal takes no records" : ""
        let pauses = paused.isEmpty ? "" : "; paused: \(paused.prefix(3).joined(separator: ", "))"
        let routes = snapshot.routeNames.count
        return
            "Serving \(routes) route\(routes == 1 ? "" : "s"): \(engine.inFlight + durable.inFlight) in flight, "
            + "ok \(succeeded), recovered \(helped), failed \(failed), \(kept)\(full)\(short)\(mute)\(pauses)\(breached)\(constraint)\(hidden)\(trouble)"
    }

    private func write(_ caller: CallerShares.Standing, into json: inout JSONObjectWriter) {
        if let user = caller.user { json.member("user", user) } else { json.member("ports", true) }
        json.member("connections", caller.connections)
        json.member("requests", caller.requests)
        json.member("bytes", caller.bytes)
        guard !caller.refusals.isEmpty else { return }
        json.object("refused") { refused in
            for bound in CallerBound.allCases {
                if let count = caller.refusals[bound] { refused.member(bound.rawValue, count) }
            }
        }
    }

    private func write(
        _ entry: Snapshot.Entry,
        _ name: String,
        _ jobs: JobCounters,
        into json: inout JSONObjectWriter
    ) {
        let pause = durable.pauses.pause(of: name)
        json.member("name", name)
        entry.write(isPaused: pause != nil, engine.time, into: &json)
        if let pause { json.member("pause_reason", pause.reason) }
        json.principal(pause?.by, as: "paused_by")
        json.member("queued", jobs.unfinished(name))
        json.member("held", jobs.count(.held, of: name))
        json.member("dead", jobs.count(.dead, of: name))
    }
}
