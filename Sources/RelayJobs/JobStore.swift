package import RelayBase

/// Where durable jobs live.
///
/// Every call that changes something returns once the change is on disk. Times of the caller come with each call. A
/// store that has thrown `failed` throws it for ever.
package protocol JobStore: AnyObject, Sendable {
    /// Accepts jobs; the answers stand in the order of the jobs.
    ///
    /// A job that names an upstream is claimed with its acceptance where a claim would give it to the caller next.
    ///
    /// - Throws: `full` when there is no room; then none of them is accepted.
    func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult]

    /// The same with an answer of its own for each: in a store that accepts them singly, one that fails hinders no other.
    func enqueueEach(_ jobs: [NewJob], at now: JobMoment) async -> [Result<EnqueueResult, StoreError>]

    /// Accepts one job where that needs no task, and says on a thread of its own choice what became of it.
    ///
    /// - Returns: false when it needs one; nothing is accepted then, and nobody is told.
    func enqueue(
        _ offered: OfferedJob,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<EnqueueResult, StoreError>) -> Void
    ) -> Bool

    /// Claims up to `limit` due jobs of a route, as `ClaimTurns` has it: users take turns, and in them their urgencies; of
    /// one urgency those due longest come first, then the oldest.
    ///
    /// Each claim puts its next attempt on record, as one to `upstream` that begins at `now`: a crash cuts off what
    /// became of it, and not that it was. Where a job with the same supersede key runs, the newer one waits.
    func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch

    /// Puts another attempt of a claim on record, and what came of those before it.
    ///
    /// - Returns: whether it may be sent: not when the claim is lost, or the job is to be cancelled or superseded.
    func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool

    /// Puts the word of an upstream on record that was told to stop the operation of a cancelled job.
    ///
    /// - Returns: false where the job is another by now: nothing is kept then.
    func note(_ attempt: Attempt, of id: JobID, at now: JobMoment) async throws(StoreError) -> Bool

    func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer]

    /// Settles one claim where that needs no task, and says on a thread of its own choice what became of it.
    ///
    /// - Returns: false when it needs one; nothing is settled then, and nobody is told.
    func settle(
        _ settlement: Settlement,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<Settlement.Answer, StoreError>) -> Void
    ) -> Bool

    /// Applies an action to the jobs that match, and says what it did.
    ///
    /// An action that somebody asked for goes on the job's record together with its change.
    func apply(_ order: ActionOrder, at now: JobMoment) async throws(StoreError) -> ActionReport

    /// Wakes, expires, expunges and removes what is due for it, `limit` jobs of each kind at most.
    func sweep(_ retention: Retention, limit: Int, at now: JobMoment) async throws(StoreError) -> SweepReport

    func job(_ id: JobID) async throws(StoreError) -> StoredJob?

    /// The job and what belongs to it, all as it was at one moment.
    func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob?

    func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage

    /// The request's body; nil when there is no such job.
    func body(of id: JobID) async throws(StoreError) -> StoredBody?

    /// The last answer; nil when there is none.
    func answer(of id: JobID) async throws(StoreError) -> StoredAnswer?

    /// The attempts numbered above `number`, in order.
    func attempts(of id: JobID, after number: Int, limit: Int) async throws(StoreError) -> [Attempt]

    /// The piece of a body in a file that begins at `index` times `StoredBodyFile.pieceSize`.
    func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8]

    /// Whether a first byte may be sent under the claim: not while others may take over what this process has, nor once they
    /// may have done so. Answers at once, and from anywhere.
    func maySend(_ token: ClaimToken) -> Bool

    /// Begins a body that is too large for memory.
    func spool() async throws(StoreError) -> any BodySpool

    /// `due` is empty unless it is asked for: it is looked up for each route that has jobs.
    func counters(at now: JobMoment, withDue: Bool) async throws(StoreError) -> JobCounters

    /// Unfinished jobs that have failed by the kind of their last failure and by age, as `JobCounters.ages` has them;
    /// of one route, or of all.
    func failures(of route: String?, at now: JobMoment) async throws(StoreError) -> [FailureKind: [Int]]

    /// Unfinished jobs of each user, nil for the callers of ports; looks at every job there is, and may take its time.
    func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int]

    /// Unfinished jobs by route that do not run and may be over without success by `end`, in milliseconds since 1970 UTC:
    /// the first that expire, and of these routes the first that have failed. A bounded look.
    func ending(
        by end: Int64,
        of routes: [String]
    ) async throws(StoreError) -> [String: EndingJobs]

    func facts() async throws(StoreError) -> StoreFacts

    /// Nil of a store that is this daemon's alone.
    var member: FleetMember? { get }

    /// How long the present write to the disk has lasted; zero between two. Answers at once, and from anywhere.
    func writing(at now: Instant) -> Duration

    /// Puts a route's pause in the place of the one before; nil ends it.
    func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError)

    /// The pauses in force, by route.
    func pauses() async throws(StoreError) -> [String: RoutePause]

    /// Puts a run on record, with its number and its scope; nil where as many go on as may.
    func begin(_ run: ActionRun, at now: JobMoment) async throws(StoreError) -> ActionRun?

    /// Takes the next page of a run, together with the record of how far it is.
    ///
    /// - Returns: nil where no such run goes on.
    func advance(_ run: Int64, by step: RunStep, at now: JobMoment) async throws(StoreError) -> RunAdvance?

    /// Ends a run that goes on.
    ///
    /// - Returns: the run, which may have been over before; nil where there is none.
    func end(
        _ run: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?,
        at now: JobMoment
    ) async throws(StoreError) -> ActionRun?

    /// The runs that go on, and the last ones that are over.
    func runs() async throws(StoreError) -> [ActionRun]

    /// Ends the store after everything that was asked before; later calls throw `closed`.
    func close() async
}

/// The work that a route has got since it was last told of any.
package struct FreshWork: Hashable, Sendable {
    /// Jobs that have come to wait and may be claimed now.
    package var jobs = 0
    /// Whether some may be claimed at a date, which the next claim tells.
    package var hasDates = false

    package init(hasDates: Bool = false) { self.hasDates = hasDates }

    /// A job has come to wait until then; `now` is on the same line.
    package mutating func add(dueAt: Int64, now: Int64) {
        if dueAt <= now { jobs += 1 } else { hasDates = true }
    }

    package mutating func add(_ more: FreshWork) {
        jobs += more.jobs
        hasDates = hasDates || more.hasDates
    }
}

/// The events that a store tells without being asked; called on a thread of the store's, so never to wait in.
package struct JobStoreEvents: Sendable {
    /// Routes that may have work now, or sooner than before.
    package var ready: @Sendable ([String: FreshWork]) -> Void = { _ in }
    /// The store is done for; the process should end and be started again.
    package var fatal: @Sendable (StoreError) -> Void = { _ in }
    /// Something an operator should read.
    package var notice: @Sendable (String) -> Void = { _ in }
    /// Takes the end of such a trouble.
    package var relief: @Sendable (String) -> Void = { _ in }
    /// Jobs that run here and that somebody elsewhere has asked to end, or that are no longer this process's: whoever holds
    /// their claim should end it.
    package var asked: @Sendable ([JobID]) -> Void = { _ in }
    /// The pauses in force, where somebody elsewhere has changed them.
    package var paused: @Sendable ([String: RoutePause]) -> Void = { _ in }
    /// Jobs ended that no settlement, no action and no sweep answers for, and that is on disk.
    package var ended: @Sendable ([JobChange]) -> Void = { _ in }
    /// Jobs that tell of the endings of others, together with these, and that is on disk.
    package var noticed: @Sendable ([MadeNotice]) -> Void = { _ in }
    /// Makes them; asked within the transaction that ends a job.
    package var notices = NoticeMaker()
    /// Something has changed on disk that is no sweep's doing; called for every transaction, so it has to be quick.
    package var changed: @Sendable () -> Void = {}

    package init() {}
}

extension JobStore {
    package func enqueueEach(
        _ jobs: [NewJob],
        at now: JobMoment
    ) async -> [Result<EnqueueResult, StoreError>] {
        do throws(StoreError) { return try await enqueue(jobs, at: now).map { .success($0) } } catch {
            return jobs.map { _ in .failure(error) }
        }
    }

    package func enqueue(
        _ offered: OfferedJob,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<EnqueueResult, StoreError>) -> Void
    ) -> Bool { false }

    package func settle(
        _ settlement: Settlement,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<Settlement.Answer, StoreError>) -> Void
    ) -> Bool { false }

    package func enqueueOne(_ job: NewJob, at now: JobMoment) async throws(StoreError) -> EnqueueResult {
        guard let answer = try await enqueue([job], at: now).first else {
            throw StoreError(.failed, "the job store did not say what became of the job")
        }
        return answer
    }

    package var member: FleetMember? { nil }

    /// Of a store of this process alone.
    package func maySend(_ token: ClaimToken) -> Bool { true }

    /// Of a store whose writes take no time.
    package func writing(at now: Instant) -> Duration { .zero }
}

extension StoredBody {
    /// Pieces of a file that are looked through before any of it is passed on.
    private static let checkedPieces = 16

    /// Reads a body in a file through, its first 16 MiB at most: damage is then known before an answer has begun.
    ///
    /// - Throws: `corrupt`.
    package func check(in store: any JobStore) async throws(StoreError) {
        guard case .file(let file) = self else { return }
        for index in 0..<min(file.checksums.count, StoredBody.checkedPieces) {
            _ = try await store.piece(index, of: file)
        }
    }
}
