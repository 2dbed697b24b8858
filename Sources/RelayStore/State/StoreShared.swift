import RelayBase
import RelayJobs
import RelayPosix
import Synchronization

/// The state that the store's threads and its callers all see.
final class StoreShared: Sendable {
    private struct State {
        var timeline: StoreClock
        var facts = StoreFacts()
        /// The messages of the damage that the operator has heard of.
        var told: Set<String> = []
        /// Accepted when nobody waited for them any more.
        var abandoned: [Abandoned] = []
        /// By route, when its oldest plain job was accepted that waits or runs.
        var oldest: [Int64: Int64] = [:]
    }

    /// A job that is on disk and that nobody waits for.
    enum Abandoned {
        /// It is not to be there.
        case unclaimed(JobID)
        /// It is claimed and nobody has been told: it waits again, or ends if it is not to be there.
        case claimed(ClaimToken, stays: Bool)
    }

    /// Damages that the operator hears of in one run; a reader may meet any number.
    private static let toldLimit = 1_000
    /// Of the writer: a transaction with all that belongs to it is an operation.
    let activity = Activity("store")
    private let closing = Atomic<Bool>(false)
    private let commitTimes = DurationCells()

    private let state: Mutex<State>
    private let notice: @Sendable (String) -> Void
    /// Has the next start look through all of the database.
    let suspect: @Sendable () -> Void

    init(
        timeline: StoreClock,
        maxBytes: UInt64,
        notice: @escaping @Sendable (String) -> Void,
        suspect: @escaping @Sendable () -> Void
    ) {
        self.notice = notice
        self.suspect = suspect
        var state = State(timeline: timeline)
        state.facts.maxBytes = maxBytes
        self.state = Mutex(state)
    }

    /// Whether nobody will run what is claimed from now on.
    var isClosing: Bool { closing.load(ordering: .relaxed) }

    func close() { closing.store(true, ordering: .relaxed) }

    /// As of the last transaction.
    var timeline: StoreClock { state.withLock { $0.timeline } }
    var facts: StoreFacts {
        var facts = state.withLock { $0.facts }
        facts.commitTimes = commitTimes.counts
        return facts
    }

    var maxBytes: UInt64 { state.withLock { $0.facts.maxBytes } }

    func setMaxBytes(_ bytes: UInt64) { state.withLock { $0.facts.maxBytes = bytes } }

    /// A transaction took that long to get to the disk.
    func committed(after taken: Duration) { commitTimes.took(taken, .commit) }

    /// Something could not be done.
    func countError(_ error: StoreError) {
        // A record that is damaged was counted where that was known.
        if error.code != .corrupt || error.isStructural {
            state.withLock { $0.facts.errors[error.code, default: 0] += 1 }
        }
        if error.isStructural { suspect() }
    }

    /// Counts what is not what was stored, once where it is known; the operator hears of it, unless somebody else says so.
    func countCorrupt(_ error: StoreError? = nil) {
        let isNews = state.withLock { state in
            if let error, state.told.contains(error.message) { return false }
            state.facts.corruptRecords += 1
            if error?.isStructural != true { state.facts.errors[.corrupt, default: 0] += 1 }
            guard let error, state.told.count < Self.toldLimit else { return false }
            return state.told.insert(error.message).inserted
        }
        guard isNews, let error else { return }
        if error.isStructural { suspect() }
        notice(error.message)
    }

    /// A job's answer is on disk; if nobody waits for it any more, what was done is undone next.
    func land(_ offered: OfferedJob, _ answer: EnqueueResult) {
        guard offered.job.wait?.land() == false else { return }
        switch answer {
        case .accepted where !offered.job.staysUnawaited: abandon(.unclaimed(offered.job.record.id))
        case .running(let token): abandon(.claimed(token, stays: offered.job.staysUnawaited))
        case .accepted, .duplicate, .conflict, .abandoned: break
        }
    }

    private func abandon(_ job: Abandoned) { state.withLock { $0.abandoned.append(job) } }

    /// The jobs that were abandoned since the last call.
    func takeAbandoned() -> [Abandoned] {
        state.withLock { state in
            defer { state.abandoned = [] }
            return state.abandoned
        }
    }

    /// By route, when its oldest plain job was accepted that waits or runs.
    var oldest: [Int64: Int64] { state.withLock { $0.oldest } }

    func tellOldest(_ news: [(route: Int64, oldest: Int64?)]) {
        guard !news.isEmpty else { return }
        state.withLock { state in
            for (route, oldest) in news { state.oldest[route] = oldest }
        }
    }

    func update(_ timeline: StoreClock, _ change: (inout StoreFacts) -> Void) {
        state.withLock { state in
            state.timeline = timeline
            change(&state.facts)
        }
    }
}
