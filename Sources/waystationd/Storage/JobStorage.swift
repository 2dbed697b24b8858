import Glibc
import RelayBase
import RelayConfig
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayStore
import RelaySystemd
import RelayTransport
import Synchronization

/// The job store of the daemon, in its state directory.
final class JobStorage: Sendable {
    /// Where it is.
    let directory: String
    let jobs: DurableJobs
    let spool: FileReplaySpool
    private let store: LateJobStore
    private let stall = Atomic<Bool>(false)
    private let readStall = Atomic<Bool>(false)

    /// How long a write may last before others are told: with what comes after, within five seconds.
    private static let writeTimeout = Duration.seconds(3)

    /// Ends the process for what the store cannot survive.
    private let fatal: @Sendable (StoreError) -> Void
    private let journal: Journal

    /// How often a disk is asked for the room that the store needs to be opened.
    private static let spaceInterval: Int64 = 1_000_000_000

    private init(
        _ directory: String,
        jobs: DurableJobs,
        spool: FileReplaySpool,
        store: LateJobStore,
        _ journal: Journal,
        fatal: @escaping @Sendable (StoreError) -> Void
    ) {
        self.directory = directory
        self.journal = journal
        self.fatal = fatal
        self.jobs = jobs
        self.spool = spool
        self.store = store
    }

    /// Of the threads that write and of the one that reads.
    var activities: [Activity] { store.store.map { $0.activities + [$0.reading] } ?? [] }

    /// Of a disk that stalls, too: it does not ask the disk.
    var facts: StoreFacts { store.standing }

    /// Whether a write has not come back for seconds.
    var isStalled: Bool { stall.load(ordering: .relaxed) }

    /// Since when, in milliseconds since 1970 UTC; nil while it moves.
    var stalledSince: Int64? {
        guard isStalled else { return nil }
        let lasted = store.writing(at: Instant(nanoseconds: SystemClock.monotonic()))
        return (SystemClock.wall() - lasted.saturatedNanoseconds) / 1_000_000
    }

    /// Looks whether that has changed, at that moment of the monotonic clock.
    ///
    /// - Returns: nil when it has not.
    func look(at now: Int64) -> Bool? {
        let isStalled = store.writing(at: Instant(nanoseconds: now)) >= Self.writeTimeout
        return stall.exchange(isStalled, ordering: .relaxed) == isStalled ? nil : isStalled
    }

    /// Looks at the reads in the same way, and tells those who have waited too long for one.
    ///
    /// - Returns: nil when nothing has changed; whether they stall, and the thread that makes them.
    func lookAtReads(at now: Int64) -> (isStalled: Bool, thread: String)? {
        guard let store = store.store else { return nil }
        let isStalled = store.lookAtReads(at: now)
        guard readStall.exchange(isStalled, ordering: .relaxed) != isStalled else { return nil }
        return (isStalled, store.reading.name)
    }

    /// Whether the store is open; a disk without room for that keeps it from it.
    var isOpen: Bool { store.store != nil }

    /// Has kept jobs delivered once there is room for the store; until then they are refused.
    func startLater(on deliveryLoops: [DeliveryLoop], waitingOn loop: EventLoop) {
        loop.spawn { [self] in
            if let refusal = store.refusal {
                await jobs.standBy(refusal)
                journal.record(
                    JournalRecord(
                        .critical,
                        .storeNotice,
                        "\(refusal.message); requests that wait for their answer are served, no job is accepted or delivered "
                            + "until there is room again"
                    )
                )
            }
            do throws(StoreError) {
                while try await !store.tryOpening(at: JobMoment(SystemTime())) {
                    do { try await loop.sleep(until: loop.now + JobStorage.spaceInterval) } catch { return }
                }
                try await jobs.start(on: deliveryLoops)
                journal.record(
                    JournalRecord(
                        .notice,
                        .storeNotice,
                        "the job store \(directory) has room again: it is open and accepts jobs"
                    )
                )
            } catch {
                if error.code != .closed { fatal(error) }
            }
        }
    }

    /// Opens it and says to the journal what the store has to say; what it cannot survive ends the process.
    static func open(
        _ directory: String,
        _ configuration: Configuration,
        _ audience: Listeners,
        _ announcer: Announcer,
        on loop: EventLoop,
        _ journal: Journal,
        _ notifier: ServiceNotifier
    ) throws(StartError) -> JobStorage {
        let shared = Shared()
        var options = StoreOptions(directory: directory)
        options.maxSize = configuration.storage.maxSize
        options.sync = configuration.storage.sync == .full ? .full : .off
        options.events.ready = { routes in shared.jobs.withLock { $0 }?.ready(routes) }
        options.events.ended = { jobs in for job in jobs { announcer.record(.ended(JobReport(job))) } }
        options.events.changed = { [idleSignal = audience.engine.idleSignal] in idleSignal.end() }
        options.events.notice = { journal.record(JournalRecord(.critical, .storeNotice, $0)) }
        options.events.relief = { journal.record(JournalRecord(.notice, .storeNotice, $0)) }
        let fatal: @Sendable (StoreError) -> Void = { error in
            journal.record(JournalRecord(.critical, .storeFailed, error.message))
            journal.flush(milliseconds: 1000)
            _exit(74)
        }
        options.events.fatal = fatal
        let opened = Handover<Result<LateJobStore, StoreError>>()
        let wanted = options
        _ = loop.spawn {
            let store = await Result { () async throws(StoreError) in
                try await LateJobStore.open(wanted, at: JobMoment(SystemTime()))
            }
            opened.give(store)
        }
        let watch = StoreOpenWatchdog(notifier, on: loop) {
            // Looking changes nothing in the files, and a writer that is cut off is what the next start expects.
            journal.record(
                JournalRecord(.info, .stopped, "stopped while the job store was being looked through")
            )
            journal.flush(milliseconds: 1000)
            _exit(0)
        }
        defer { watch.end() }
        switch opened.take() {
        case .success(let store):
            let jobs = DurableJobs(
                store: store,
                audience,
                announcer,
                settings: settings(configuration),
                digest: { Digest.hash($0) }
            )
            shared.jobs.withLock { $0 = jobs }
            do throws(StoreError) {
                let limit = UInt64(configuration.limits.spool)
                let spool = try FileReplaySpool(state: directory, limit: limit)
                return JobStorage(directory, jobs: jobs, spool: spool, store: store, journal, fatal: fatal)
            } catch {
                throw StartError(error)
            }
        case .failure(let error): throw StartError(error)
        }
    }

    /// Puts in force what another configuration says; its directory and `sync` wait for a restart.
    func configure(_ configuration: Configuration) {
        store.setMaxSize(configuration.storage.maxSize)
        spool.configure(limit: UInt64(configuration.limits.spool))
        jobs.configured(Self.settings(configuration))
    }

    private static func settings(_ configuration: Configuration) -> DurableJobs.Settings {
        var settings = DurableJobs.Settings()
        settings.retention = configuration.storage.retention
        settings.maxQueued = configuration.limits.maxQueuedJobs
        let perUser = configuration.limits.perUser
        settings.maxQueuedPerUser = perUser.isEnabled ? perUser.maxQueuedJobs : nil
        return settings
    }

    /// Where the store finds the jobs that are made from it.
    private final class Shared: Sendable {
        let jobs = Mutex<DurableJobs?>(nil)
    }
}
