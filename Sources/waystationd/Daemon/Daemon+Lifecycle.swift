import Glibc
import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelaySystemd
import Synchronization

extension Daemon {
    /// Everything is open: serves until a signal ends it.
    func run() throws(StartError) -> Never {
        let started = Handover<PosixError?>()
        controlLoop.execute { [self] in
            do throws(PosixError) {
                let lifecycle = Lifecycle(self)
                try lifecycle.begin()
                started.give(nil)
            } catch {
                started.give(error)
            }
        }
        if let error = started.take() { throw StartError(message: "cannot watch signals: \(error)") }
        startWatchdog()
        ready.store(true, ordering: .relaxed)
        var record = JournalRecord(.info, .started, "waystationd \(Version.text) is ready")
        record.add(.version, Version.text)
        journal.record(record)
        notifier.send(.ready(status: report.line))
        // The loops do the work; this thread tidies up behind the start, when that is over also where much waited for it.
        sleep(Daemon.settling)
        ProcessLimits.releaseStartPages()
        while true { pause() }
    }

    /// Seconds after which the pages that only the start needed are given back.
    private static let settling: UInt32 = 2

    private func startWatchdog() {
        let new = Watchdog(
            interval: Watchdog.intervalFromEnvironment(),
            activities: { [loops = loops + [controlLoop], storage] in
                loops.map(\.activity) + storage.activities
            },
            ping: { [notifier] in notifier.send(.watchdog) },
            stalled: { [journal] names in
                journal.record(
                    JournalRecord(
                        .critical,
                        .loopStalled,
                        "\(names.joined(separator: ", ")) stands still; the watchdog is not fed"
                    )
                )
            },
            look: { [self] now in
                if let isStalled = storage.look(at: now) { tellStorage(isStalled) }
                if let reads = storage.lookAtReads(at: now) { tellReads(reads.isStalled, by: reads.thread) }
                if journal.blockedSeconds > 0 { engine.idleSignal.end() }
            },
            // A drain only waits for what is under way.
            isIdle: { [engine] in engine.idleSignal.lasts || engine.isDraining }
        )
        watchdog.withLock { $0 = new }
        if !new.start() {
            journal.record(JournalRecord(.error, nil, "the watchdog's thread could not be started"))
        }
    }

    /// Says that the job store does not move, or that it does again.
    private func tellStorage(_ isStalled: Bool) {
        let message =
            isStalled
            ? "the job store does not move: its disk takes no writes, and no job is accepted"
            : "the job store moves again and accepts jobs"
        tellStorage(isStalled, message)
        if !engine.isDraining { notifier.send(.status(report.line)) }
    }
}

extension Daemon {
    /// The same of reads; acceptance goes on meanwhile.
    private func tellReads(_ isStalled: Bool, by thread: String) {
        tellStorage(
            isStalled,
            isStalled
                ? "the job store does not answer: its disk gives \(thread) nothing, and who asks for jobs is refused"
                : "the job store answers again"
        )
    }

    private func tellStorage(_ isStalled: Bool, _ message: String) {
        announcer.record(.notice(isStalled ? .storageStalled : .storageResumed, message))
    }
}

/// Signals, the status line, the files that are watched and the drain.
///
/// Confined to the control loop, which keeps it alive.
private final class Lifecycle {
    private let daemon: Daemon
    private var signals: SignalWatcher?
    private var clock: ClockStepWatcher?
    private var ticker: LoopTimer?
    private var pressure: PressureWatcher?
    private var machine = DrainMachine()
    private var health = HealthMachine()
    private var idleMachine = IdleMachine()
    /// The last status line that a look has sent.
    private var line = ""
    /// When more time for the stop may be asked for again.
    private var nextExtension = Int64.min
    private var isEnding = false

    /// Of the ten seconds that are asked for at once, most are always left.
    private static let extending: Int64 = 2_000_000_000
    /// How often files are looked at while nothing else is; what they say is documented to take effect within a second.
    private static let watching: Int64 = 900_000_000
    /// How long the durable jobs that were ended may take to be put back; what is not is found by the next start.
    private static let settling: Int64 = 2_000_000_000

    init(_ daemon: Daemon) { self.daemon = daemon }

    func begin() throws(PosixError) {
        // The closures hold this object, and the loop holds them: it lives as long as the process.
        signals = try SignalWatcher([SIGHUP, SIGTERM, SIGINT], on: daemon.controlLoop) { signal in
            if signal == SIGHUP {
                self.daemon.reloadNow()
            } else {
                self.stop()
            }
        }
        watchClock()
        watchPressure()
        let ticker = LoopTimer { self.tick() }
        self.ticker = ticker
        daemon.controlLoop.schedule(ticker, at: daemon.controlLoop.now + IdleMachine.period)
    }

    /// A job that waits for a date waits for another moment when the clock is set.
    private func watchClock() {
        do throws(PosixError) {
            clock = try ClockStepWatcher(on: daemon.controlLoop) { [daemon] in
                daemon.durable.stir()
                daemon.engine.idleSignal.end()
            }
        } catch {
            daemon.journal.record(
                JournalRecord(
                    .warning,
                    nil,
                    "a step of the clock is acted on within a minute and not at once: the kernel does not tell of it "
                        + "(\(error))"
                )
            )
        }
    }

    /// Watches what the service manager offers; without it only our own limits tell that memory is short.
    private func watchPressure() {
        do throws(PressureWatcher.Trouble) {
            pressure = try PressureWatcher.offered(on: daemon.controlLoop) { [daemon] in
                daemon.relieve(daemon.engine.shedding.signalled(daemon.controlInstant), dropsCaches: true)
                daemon.engine.idleSignal.end()
            }
        } catch {
            daemon.journal.record(JournalRecord(.warning, nil, error.message))
        }
    }

    /// Looks at everything that changes by itself or by requests.
    private func tick() {
        let isUndisturbed = daemon.engine.idleSignal.lasts
        daemon.events.summarise()
        daemon.lookAtMemory()
        for refused in daemon.engine.callers.look(daemon.controlInstant) {
            daemon.journal.record(CallerRecords.refused(refused))
        }
        daemon.condition.look()
        daemon.engine.history.look(daemon.engine.snapshot, daemon.controlInstant)
        if !isUndisturbed { daemon.durable.stir() }
        if daemon.memory.takeTrim() { ProcessLimits.trimMemory() }
        if machine.isDraining {
            look()
        } else {
            tellStatus(isUndisturbed: isUndisturbed)
            if health.looked(now: SystemClock.monotonic()) { daemon.notifier.send(.restartReset) }
        }
        guard let ticker, !isEnding else { return }
        let now = daemon.controlLoop.now
        let next = idleMachine.looked(isQuiet: isQuiet, isUndisturbed: isUndisturbed, due: due, now: now)
        daemon.controlLoop.schedule(ticker, at: next)
        if !idleMachine.listens {
            daemon.engine.idleSignal.stop()
        } else if !isUndisturbed {
            daemon.engine.idleSignal.begin {
                [loop = daemon.controlLoop, lifecycle = LoopBound(self, daemon.controlLoop)] in
                loop.execute { lifecycle.value.woken() }
            }
            // A change since the sweep that this look began has woken nobody.
            daemon.durable.stir()
        }
    }

    /// A request ends the rest.
    private func woken() {
        daemon.watchdog.withLock { $0 }?.wake()
        guard let ticker, !isEnding else { return }
        let now = daemon.controlLoop.currentTime()
        if let sooner = idleMachine.woken(next: ticker.deadline, now: now) {
            daemon.controlLoop.schedule(ticker, at: sooner)
        }
    }

    /// At rest the service manager hears nothing that it knows.
    private func tellStatus(isUndisturbed: Bool) {
        let line = daemon.report.line
        if isUndisturbed, line == self.line { return }
        // One that found no place is offered again.
        if daemon.notifier.send(.status(line)) { self.line = line }
    }

    /// Whether nothing is under way that changes what the looks find.
    private var isQuiet: Bool {
        let engine = daemon.engine
        return !machine.isDraining && engine.inFlight == 0 && daemon.durable.inFlight == 0
            && engine.callers.requests == 0 && daemon.memory.usage.used == 0
            && engine.shedding.standing.since == nil && daemon.journal.blockedSeconds == 0
    }

    /// When a look has something to do though nothing moves.
    private var due: Int64? {
        let now = daemon.controlLoop.now
        let instants = [
            daemon.engine.callers.due, daemon.engine.history.due, daemon.durable.acceptance.fullUntil,
        ].map { $0?.nanoseconds }
        let files = daemon.condition.watchesFiles ? now + Lifecycle.watching : nil
        return (instants + [daemon.events.due, files]).compactMap { $0 }.min()
    }

    private func stop() {
        switch machine.stopWanted(now: SystemClock.monotonic(), limit: drainLimit) {
        case .drain:
            daemon.engine.drain()
            daemon.engine.idleSignal.end()
            daemon.endpointCheck.cancel()
            daemon.durable.drain()
            let requests = daemon.engine.inFlight + daemon.durable.inFlight
            daemon.journal.record(
                JournalRecord(.info, .stopping, "stopping: requests to finish first: \(requests)")
            )
            daemon.notifier.send(.stopping(status: daemon.report.line))
            onEveryLoop { $0.drain() }
            look()
        case .stopNow:
            stopNow()
        }
    }

    /// The longest any request may still take, and a little.
    private var drainLimit: Duration {
        let totals = daemon.engine.snapshot.routes.values.map(\.route.policy.timeouts.total)
        return min((totals.max() ?? .zero) + .seconds(5), .seconds(300))
    }

    private func look() {
        let busy = daemon.limiter.current
        let inFlight = daemon.unfinished
        switch machine.looked(busy: busy, inFlight: inFlight, now: SystemClock.monotonic()) {
        case .wait(let extend):
            let now = daemon.controlLoop.now
            if extend, now >= nextExtension {
                nextExtension = now + Lifecycle.extending
                daemon.notifier.send(.extendTimeout(.seconds(10)))
            }
            tellStatus(isUndisturbed: true)
        case .finished: end { JournalRecord(.info, .stopped, "stopped") }
        case .stopNow:
            stopNow()
        }
    }

    private func stopNow() {
        // Counted before the loops give the places back.
        let unfinished = daemon.engine.inFlight
        let earlier = daemon.engine.inDoubt
        daemon.engine.abort()
        daemon.events.abort()
        daemon.durable.abort()
        onEveryLoop { $0.abort() }
        guard unfinished > 0 else { return end { JournalRecord(.info, .stopped, "stopped") } }
        end { [daemon] in
            let inDoubt = daemon.engine.inDoubt - earlier
            let doubt = inDoubt > 0 ? "; may have been carried out: \(inDoubt)" : ""
            let requests = "\(unfinished) request\(unfinished == 1 ? "" : "s")"
            return JournalRecord(.warning, .stopped, "stopped with \(requests) unfinished\(doubt)")
        }
    }

    /// Waits a moment for what is under way to have its end, closes the store and ends the process with `record`.
    private func end(_ record: @escaping @Sendable () -> JournalRecord) {
        guard !isEnding else { return }
        isEnding = true
        if let ticker { daemon.controlLoop.cancel(ticker) }
        let loop = daemon.controlLoop
        loop.spawn { [daemon] in
            let deadline = loop.now + Lifecycle.settling
            while daemon.unfinished > 0, loop.now < deadline {
                try? await loop.sleep(until: loop.now + 10_000_000)
            }
            await daemon.storage.close()
            daemon.events.finish()
            daemon.journal.record(record())
            daemon.exit(0)
        }
    }

    private func onEveryLoop(_ body: @escaping @Sendable (LoopServer) -> Void) {
        for (loop, server) in daemon.servers.withLock({ $0 }) { loop.execute { body(server.value) } }
    }
}

extension Daemon {
    /// The requests, runs and fetches of credentials that are under way.
    fileprivate var unfinished: Int {
        engine.inFlight + durable.inFlight + engine.snapshot.vault.refreshes
    }
}
