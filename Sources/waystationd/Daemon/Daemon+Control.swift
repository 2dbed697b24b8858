import RelayBase
import RelayConfig
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelaySystemd
import RelayTransport
import Synchronization

extension Daemon: DaemonControl {
    var version: String { Version.text }

    var unready: Problem? {
        if storage.isStalled {
            return Problem(
                .storageStalled,
                "the disk of the job store takes no writes at the moment",
                retryAfter: .seconds(5)
            )
        }
        guard !ready.load(ordering: .relaxed) || engine.isDraining else { return nil }
        return Problem(.draining, "the relay is not ready", retryAfter: .seconds(1))
    }

    var contract: [UInt8] { OpenAPI.json }

    func status() -> [UInt8] { report.bytes }

    func troubles() -> [UInt8] { report.troubles }

    func constrained() -> [UInt8] { condition.document }

    func order(_ order: ConstrainedOrder, by client: ClientIdentity?) -> Bool {
        defer { engine.idleSignal.end() }
        return condition.order(order, by: client)
    }

    /// Runs on the control loop, whatever loop asks.
    func reload() async -> (status: UInt16, document: [UInt8]) {
        await aside { [self] in reloadNow() }
    }

    /// Does it on the control loop, for which no request waits.
    func aside<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            controlLoop.execute { continuation.resume(returning: body()) }
        }
    }

    /// Reads the configuration again and installs it, or keeps the old one and says why.
    @discardableResult
    func reloadNow() -> (status: UInt16, document: [UInt8]) {
        notifier.reloading(status: "Reloading \(file)")
        defer {
            notifier.send(.ready(status: report.line))
            engine.idleSignal.end()
        }
        let loaded: LoadedConfiguration
        do throws(ConfigurationRejected) {
            loaded = try ConfigurationLoader.load(file, passed: passed)
        } catch {
            reloadError.withLock { $0 = (error.summary, SystemClock.wall() / 1_000_000) }
            var record = JournalRecord(
                .error,
                .configRejected,
                "configuration refused, the old one stays in force\n\(error.text)"
            )
            record.add(.configFile, file)
            journal.record(record)
            announcer.record(.notice(.configRejected, error.summary))
            return (422, rejection(error))
        }
        reloadError.withLock { $0 = nil }
        let previous = engine.snapshot
        secrets.replace(loaded.secrets)
        // Files with certificates may have changed though the configuration has not.
        for transport in transports.withLock({ $0 }) { transport.forgetSecrets() }
        events.setLevel(loaded.configuration.log.level.priority)
        condition.install(loaded.configuration.constrained)
        let next = loaded.snapshot(previous: previous, tokens: tokens, shards: previous.settings.shards)
        engine.install(next)
        storage.configure(loaded.configuration)
        engine.shedding.configure(loaded.configuration.limits.forShedding)
        limiter.configure(loaded.configuration.limits.forConnections)
        memory.configure(limit: MemoryLimit.account(loaded.configuration.limits.memory))
        recordLoaded(loaded, verb: "reloaded")
        let old = self.loaded.withLock { inForce in
            defer { inForce = loaded }
            return inForce.outline
        }
        let (keys, touched) = loaded.outline.changes(since: old)
        let rest = keys.count > Self.toldKeys ? " and \(keys.count - Self.toldKeys) more" : ""
        let told = keys.prefix(Self.toldKeys).joined(separator: ", ") + rest
        announcer.record(.notice(.configReloaded, told.isEmpty ? nil : told))
        settings.withLock { $0 = FixedSettings(loaded.configuration) }
        return (200, changes(from: previous, to: next, touched))
    }

    func recordLoaded(_ loaded: LoadedConfiguration, verb: String) {
        var record = JournalRecord(
            .info,
            .configLoaded,
            "configuration \(verb) from \(file): routes \(loaded.configuration.routes.count)"
        )
        record.add(.configFile, file)
        record.add(.configDigest, loaded.digest)
        journal.record(record)
        for warning in loaded.warnings {
            var record = JournalRecord(
                .warning,
                .configLoaded,
                "\(file):\(warning.position.line):\(warning.position.column): \(warning.message)"
            )
            record.add(.configFile, file)
            journal.record(record)
        }
    }

    /// Says it where callers cannot be told apart.
    func recordNamespace() {
        guard hidesCallers else { return }
        journal.record(
            JournalRecord(
                .warning,
                .callersHidden,
                "every caller but root has the same uid here: the daemon is in a user namespace of its own; set "
                    + "PrivateUsers=no, or allow_users, keys and the sight of jobs tell nobody apart"
            )
        )
    }

    /// Says in whose place the service manager has put something else: the state directory, and `sockets` in words.
    func recordOverridden(_ wanted: String, by given: String, _ sockets: [String]) {
        var told = sockets
        if given != wanted, wanted != StorageSettings().directory {
            told.append(
                "jobs are in \(given), which STATE_DIRECTORY names, and not in \(wanted) (storage.directory)"
            )
        }
        for message in told { journal.record(JournalRecord(.notice, nil, message)) }
    }

    private func rejection(_ error: ConfigurationRejected) -> [UInt8] {
        var json = JSONObjectWriter()
        json.members(
            of: Problem(.configRejected, "\(error.summary); the old configuration stays in force")
        )
        json.member("diagnostics", json: Diagnostic.json(error.diagnostics))
        json.member("text", error.text)
        return json.bytes
    }

    /// Keys that an event names.
    private static let toldKeys = 6

    /// `touched` are the routes of which a key has changed.
    private func changes(from old: Snapshot, to new: Snapshot, _ touched: Set<String>) -> [UInt8] {
        let (before, after) = (Set(old.routeNames), Set(new.routeNames))
        return ReloadReport.members.bytes(
            of: (
                isChanged: old.settings.digest != new.settings.digest,
                digest: new.settings.digest,
                added: new.routeNames.filter { !before.contains($0) },
                removed: old.routeNames.filter { !after.contains($0) },
                modified: touched.intersection(before).intersection(after).sorted(),
                needsRestart: settings.withLock { $0.waitsForRestart(since: firstSettings) }
            )
        )
    }
}
