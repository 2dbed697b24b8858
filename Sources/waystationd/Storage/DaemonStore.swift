import RelayBase
import RelayConfig
import RelayEngine
import RelayJobs
import RelayPosix
import RelayStore
import Synchronization

/// The store of the daemon's jobs: its own disk, or the database of a fleet.
protocol DaemonStore: Sendable {
    var jobs: any JobStore { get }
    /// Of the threads that write and of the one that reads.
    var activities: [Activity] { get }
    /// The facts, at once and from anywhere.
    var standing: StoreFacts { get }
    /// Why it is not open; nil once it is.
    var refusal: StoreError? { get }
    /// The words for what it waits for, after "until".
    var awaited: String { get }

    /// Tries once more to open it; to be called by one task only.
    ///
    /// - Returns: whether it is open now.
    func tryOpening(at now: JobMoment) async throws(StoreError) -> Bool

    /// Looks whether reads stall, and tells those who have waited too long for one.
    ///
    /// - Returns: nil when nothing has changed; whether they stall, and the thread that makes them.
    func lookAtReads(at now: Int64) -> (isStalled: Bool, thread: String)?

    /// Another configuration is in force.
    func configure(_ configuration: Configuration)

    /// Shares the events of the feed with others that use the store.
    func share(_ feed: EventFeed, on loop: EventLoop)

    /// Shares what is left of them, and closes the store.
    func close() async
}

/// A store in the state directory.
final class DiskStore: DaemonStore {
    private let store: LateJobStore
    private let readStall = Atomic<Bool>(false)

    init(_ store: LateJobStore) { self.store = store }

    var jobs: any JobStore { store }
    var activities: [Activity] { store.store.map { $0.activities + [$0.reading] } ?? [] }
    var standing: StoreFacts { store.standing }
    var refusal: StoreError? { store.refusal }
    var awaited: String { "there is room again" }

    func tryOpening(at now: JobMoment) async throws(StoreError) -> Bool {
        try await store.tryOpening(at: now)
    }

    func lookAtReads(at now: Int64) -> (isStalled: Bool, thread: String)? {
        guard let store = store.store else { return nil }
        let isStalled = store.lookAtReads(at: now)
        guard readStall.exchange(isStalled, ordering: .relaxed) != isStalled else { return nil }
        return (isStalled, store.reading.name)
    }

    func share(_ feed: EventFeed, on loop: EventLoop) {}

    func close() async { await store.close() }

    func configure(_ configuration: Configuration) { store.setMaxSize(configuration.storage.maxSize) }
}
