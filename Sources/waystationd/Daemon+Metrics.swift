import RelayCore
import RelayEngine
import RelayPosix
import RelayServer
import RelayStore
import RelaySystemd
import Synchronization

extension Daemon {
    func metrics(_ format: MetricsText.Format) async -> [UInt8] {
        await aside { [self] in metricsNow(format) }
    }

    func history(of route: String?) async -> [UInt8] {
        await aside { [engine] in
            HistoryDocument(route.map { [$0] } ?? engine.snapshot.routeNames, engine, SystemTime()).bytes
        }
    }

    private func metricsNow(_ format: MetricsText.Format) -> [UInt8] {
        var text = MetricsText(format)
        let (snapshot, clock) = (engine.snapshot, SystemTime())
        for name in snapshot.routeNames {
            guard let entry = snapshot.routes[name] else { continue }
            text.add(name, entry, isPaused: durable.pauses.pause(of: name) != nil, clock)
        }
        text.add(durable.watch.counters, of: durable, snapshot)
        text.add(.queueLimit, audience.room.limit)
        text.add(.storeInfo, [storage.directory], 1)
        addCredentials(snapshot, clock, to: &text)
        text.add(durable.watch.facts, isStalled: storage.isStalled, lacksRoom: durable.acceptance.lacksRoom)
        text.add(.spool, storage.spool.usage.used)
        text.add(.spoolLimit, storage.spool.usage.limit)
        addCallers(snapshot, to: &text)
        addService(snapshot, to: &text)
        text.addProcess(startedAt: startedAt)
        return text.bytes
    }

    private func addCredentials(_ snapshot: Snapshot, _ clock: any ClockSource, to text: inout MetricsText) {
        let fetches = engine.tally.counts.credentials
        for (credential, _) in snapshot.credentialStates(now: clock.now()) {
            for word in CredentialVault.State.Word.allCases {
                text.add(.credentialState, [credential.name, word.rawValue], credential.word == word)
            }
            if let left = credential.expiresIn {
                let end = clock.wallMilliseconds() + left.saturatedNanoseconds / 1_000_000
                text.add(.credentialExpiry, [credential.name], seconds: Double(end) / 1_000)
            }
            let counts = fetches[credential.name]
            text.add(.credentialRefreshes, [credential.name, "success"], counts?.succeeded ?? 0)
            text.add(.credentialRefreshes, [credential.name, "failure"], counts?.failed ?? 0)
        }
    }

    private func addCallers(_ snapshot: Snapshot, to text: inout MetricsText) {
        text.add(.connections, places.current)
        text.add(.connectionsRefused, places.refused)
        var answers: [String: [UInt64]] = [:]
        for listener in listeners.withLock({ $0 }) {
            let more = listener.answers.classes
            answers[listener.name] = answers[listener.name].map { zip($0, more).map(&+) } ?? more
        }
        for (name, classes) in answers.sorted(by: { $0.key < $1.key }) {
            // An interim answer is none of the relay's own.
            for (index, count) in classes.enumerated().dropFirst() {
                text.add(.httpRequests, [name, "\(index + 1)xx"], count)
            }
        }
        var refused: [ProblemTally.Name: UInt64] = [:]
        for tally in problems.withLock({ $0 }) { refused.merge(tally.all, uniquingKeysWith: &+) }
        let told = refused.map { (labels: [$0.key.route ?? "", $0.key.code.rawValue], count: $0.value) }
        for (labels, count) in told.sorted(by: { $0.labels.lexicographicallyPrecedes($1.labels) })
        where labels[0].isEmpty || snapshot.routes[labels[0]] != nil {
            text.add(.rejected, labels, count)
        }
    }

    private func addService(_ snapshot: Snapshot, to text: inout MetricsText) {
        let bodies = memory.usage
        text.add(.memory, bodies.used)
        text.add(.memoryLimit, bodies.limit)
        let shedding = engine.shedding.standing
        text.add(.sheddingLevel, shedding.level)
        text.add(.shed, shedding.refused)
        text.add(.constrained, condition.isConstrained)
        text.add(.draining, engine.isDraining)
        text.add(.journalLost, journal.lost)
        text.add(.journalBlocked, journal.blockedSeconds)
        let counts = engine.tally.counts
        text.add(.reloads, ["success"], counts.reloads)
        text.add(.reloads, ["failure"], counts.refusedReloads)
        text.add(.reloadSuccessful, reloadError.withLock { $0 == nil })
        text.add(.reloadTime, snapshot.settings.loadedAt)
        text.add(.configInfo, [snapshot.settings.file, snapshot.settings.digest], 1)
        text.add(.buildInfo, [Version.text], 1)
    }
}
