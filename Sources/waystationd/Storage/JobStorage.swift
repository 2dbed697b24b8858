import Glibc
import RelayBase
import RelayConfig
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayServer
import RelayStore
import RelaySystemd
import RelayTransport
import Synchronization

/// The job store of the daemon, in its state directory or in the database of a fleet.
final class JobStorage: Sendable {
    /// Where it is.
    let directory: String
    let jobs: DurableJobs
    let spool: FileReplaySpool
    private let store: any DaemonStore
    /// Whether others use it as well.
    let isShared: Bool
    private let stall = Atomic<Bool>(false)
    /// Whether kept jobs are delivered.
    private let hasStarted = Atomic<Bool>(false)
    /// When its opening began.
    private let began: Int64

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
        store: any DaemonStore,
        isShared: Bool,
        since began: Int64,
        _ journal: Journal,
        fatal: @escaping @Sendable (StoreError) -> Void
    ) {
        self.directory = directory
        self.journal = journal
        self.fatal = fatal
        self.jobs = jobs
        self.spool = spool
        self.store = store
        self.isShared = isShared
        self.began = began
    }

    /// Of the threads that write and of the one that reads.
    var activities: [Activity] { store.activities }

    /// Of a disk that stalls, too: it does not ask the disk.
    var facts: StoreFacts { store.standing }

    /// Whether a write has not come back for seconds.
    var isStalled: Bool { stall.load(ordering: .relaxed) }

    /// Since when, in milliseconds since 1970 UTC; nil while it moves.
    var stalledSince: Int64? {
        guard isStalled else { return nil }
        let lasted = jobs.store.writing(at: Instant(nanoseconds: SystemClock.monotonic()))
        return (SystemClock.wall() - lasted.saturatedNanoseconds) / 1_000_000
    }

    /// Looks whether that has changed, at that moment of the monotonic clock.
    ///
    /// - Returns: nil when it has not.
    func look(at now: Int64) -> Bool? {
        let isStalled = jobs.store.writing(at: Instant(nanoseconds: now)) >= Self.writeTimeout
        return stall.exchange(isStalled, ordering: .relaxed) == isStalled ? nil : isStalled
    }

    /// Looks at the reads in the same way, and tells those who have waited too long for one.
    ///
    /// - Returns: nil when nothing has changed; whether they stall, and the thread that makes them.
    func lookAtReads(at now: Int64) -> (isStalled: Bool, thread: String)? {
        store.lookAtReads(at: now)
    }

    /// Shares what others may still want to know, and closes the store.
    func close() async { await store.close() }

    /// Whether the store is open; a disk without room for that keeps it from it, or a database that is away.
    var isOpen: Bool { store.refusal == nil }

    /// Blocks until kept jobs are delivered, but no longer than a start waits for a database.
    func waitForStart() {
        let end = began + FleetStore.longestStart.saturatedNanoseconds
        while !hasStarted.load(ordering: .relaxed), SystemClock.monotonic() < end { usleep(2_000) }
    }

    /// Has kept jobs delivered once the store is open; until then they are refused.
    func startLater(on deliveryLoops: [DeliveryLoop], waitingOn loop: EventLoop) {
        store.share(jobs.feed, on: loop)
        loop.spawn { [self] in
            let refusal = store.refusal
            if let refusal {
                await jobs.standBy(refusal)
                // Of a database that is away the store tells itself.
                let cause = isShared ? "" : "\(refusal.message); "
                journal.record(
                    JournalRecord(
                        .critical,
                        .storeNotice,
                        "\(cause)requests that wait for their answer are served, no job is accepted or delivered "
                            + "until \(store.awaited)"
                    )
                )
            }
            do throws(StoreError) {
                while try await !store.tryOpening(at: JobMoment(SystemTime())) {
                    do { try await loop.sleep(until: loop.now + JobStorage.spaceInterval) } catch { return }
                }
                try await jobs.start(on: deliveryLoops)
                hasStarted.store(true, ordering: .relaxed)
                guard refusal != nil else { return }
                journal.record(
                    JournalRecord(
                        .notice,
                        .storeNotice,
                        "the job store is open and accepts jobs, since \(store.awaited)"
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
        _ database: FleetStore.Database?,
        _ journal: Journal,
        _ notifier: ServiceNotifier
    ) throws(StartError) -> JobStorage {
        let shared = Shared()
        let began = SystemClock.monotonic()
        var events = JobStoreEvents()
        events.ready = { routes in shared.jobs.withLock { $0 }?.ready(routes) }
        events.ended = { jobs in for job in jobs { announcer.record(.ended(JobReport(job))) } }
        events.changed = { [idleSignal = audience.engine.idleSignal] in idleSignal.end() }
        events.notice = { journal.record(JournalRecord(.critical, .storeNotice, $0)) }
        events.relief = { journal.record(JournalRecord(.notice, .storeNotice, $0)) }
        events.asked = { jobs in shared.jobs.withLock { $0 }?.asked(jobs) }
        events.paused = { pauses in shared.jobs.withLock { $0 }?.paused(pauses) }
        let notices = Notices(audience, announcer) { NoticeDocument.bytes($0, $1) }
        events.notices = notices.maker
        events.noticed = { notices.made($0) }
        let fatal: @Sendable (StoreError) -> Void = { error in
            journal.record(JournalRecord(.critical, .storeFailed, error.message))
            journal.flush(milliseconds: 1000)
            _exit(74)
        }
        events.fatal = fatal
        let opened = Handover<Result<any DaemonStore, StoreError>>()
        let told = events
        _ = loop.spawn {
            let store = await Result { () async throws(StoreError) in
                try await make(directory, configuration, database, told)
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
                store: store.jobs,
                audience,
                announcer,
                notices,
                settings: settings(configuration),
                digest: { Digest.hash($0) }
            )
            shared.jobs.withLock { $0 = jobs }
            do throws(StoreError) {
                let limit = UInt64(configuration.limits.spool)
                let spool = try FileReplaySpool(state: directory, limit: limit)
                return JobStorage(
                    directory,
                    jobs: jobs,
                    spool: spool,
                    store: store,
                    isShared: database != nil,
                    since: began,
                    journal,
                    fatal: fatal
                )
            } catch {
                throw StartError(error)
            }
        case .failure(let error): throw StartError(error)
        }
    }

    private static func make(
        _ directory: String,
        _ configuration: Configuration,
        _ database: FleetStore.Database?,
        _ events: JobStoreEvents
    ) async throws(StoreError) -> any DaemonStore {
        if let database, let settings = configuration.storage.postgresql {
            return try await FleetStore.open(directory, configuration, settings, database, events)
        }
        var options = StoreOptions(directory: directory)
        options.maxSize = configuration.storage.maxSize
        options.sync = configuration.storage.sync == .full ? .full : .off
        options.events = events
        return DiskStore(try await LateJobStore.open(options, at: JobMoment(SystemTime())))
    }

    /// Puts in force what another configuration says; its directory, its database and `sync` wait for a restart.
    func configure(_ configuration: Configuration) {
        store.configure(configuration)
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
