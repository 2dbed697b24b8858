package import RelayBase
import RelayCore
import RelayInterface
package import RelayJobs
import RelayRoute
import Synchronization

/// Takes jobs in: what is accepted is on disk.
package final class Acceptance: Sendable {
    let store: any JobStore
    let engine: Engine
    let capacity: QueueCapacity
    let watch: StoreWatch
    let announcer: Announcer
    let dispatcher: Dispatcher
    let waits = AcceptanceWaits()
    /// SHA-256.
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    /// When a body last found no room.
    private let fullAt = Mutex<Instant?>(nil)
    private let refusedAsFull = Atomic<UInt64>(0)

    init(
        _ dispatcher: Dispatcher,
        _ audience: Listeners,
        _ watch: StoreWatch,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.dispatcher = dispatcher
        store = dispatcher.store
        announcer = dispatcher.announcer
        engine = audience.engine
        capacity = audience.capacity
        self.watch = watch
        self.digest = digest
    }

    package struct Accepted: Sendable {
        package var id: JobID
        /// Whether the idempotency key was known: the job is an earlier one.
        package var isReplayed: Bool
        /// Whether it may be sent again when nobody knows what became of it.
        package var mayRepeat: Bool
    }

    /// Whether one more job may wait for its delivery; asked before a body is read.
    ///
    /// - Throws: `queue_full`.
    package func checkCapacity(for admission: Admission) throws(Problem) {
        let context = admission.context
        if capacity.isFull || context.share != nil && capacity.isFull(for: context.client?.user) {
            throw full(admission)
        }
    }

    /// Why there is no room for a job: for one of that caller, or for any.
    func full(_ admission: Admission) -> Problem {
        let (context, route) = (admission.context, admission.route.name)
        if let share = context.share, capacity.isFull(for: context.client?.user) {
            share.refused(.queuedJobs)
            var limits = CallerLimits()
            limits.maxQueuedJobs = capacity.userLimit
            var problem = Problem(.queuedJobs, of: share, limits, retryAfter: .seconds(10))
            problem.route = route
            return problem
        }
        return Problem(
            .queueFull,
            "\(capacity.limit) jobs wait for their delivery already (limits.max_queued_jobs)",
            route: route,
            retryAfter: .seconds(10)
        )
    }

    /// Puts an admitted job on disk.
    ///
    /// A key that is known is answered with its job also where there is no room for another. Without `patience` the
    /// caller waits as long as the disk takes. With a `past` it is a request that was tried before, and is answered
    /// otherwise.
    ///
    /// - Throws: `idempotency_key_reused`, `queue_full`, `storage_full`, `storage_failed`, `storage_stalled`,
    ///   `storage_unavailable`, `acceptance_unknown`.
    package func accept(
        _ admission: Admission,
        body: StoredBody,
        _ patience: StorageDeadline? = nil,
        past: PriorAttempts? = nil
    ) async throws(Problem) -> Accepted {
        let route = admission.route.name
        let job = newJob(admission, body, past)
        let (user, isBounded) = (admission.context.client?.user, admission.context.share != nil)
        guard let reservation = capacity.reserve(of: user, isBounded: isBounded) else {
            return try await known(job, patience, instead: full(admission))
        }
        return try await accept(job, route, patience, holding: reservation)
    }

    /// Holds the room, and a permit if one is free, until the job is known to be on disk, or not to be.
    private func accept(
        _ job: NewJob,
        _ route: String,
        _ patience: StorageDeadline?,
        holding: borrowing QueueCapacity.Reservation
    ) async throws(Problem) -> Accepted {
        let moment = JobMoment(engine.time)
        var offer = mayBeOffered(job.body, job.due, past: job.past) ? dispatcher.offer(route) : nil
        var new = job
        new.upstream = offer?.upstream
        let acceptance: EnqueueResult
        do throws(StoreError) {
            acceptance = try await enqueue(new, at: moment, patience)
            if offer != nil { offer?.begin(OfferedJob(new), acceptance, at: moment) }
        } catch {
            offer = nil
            return try await known(job, patience, after: error)
        }
        return try accepted(job, acceptance)
    }

    /// The earlier job of the same key, where the store has no room for a new one.
    ///
    /// - Throws: what the store's refusal is when there is none.
    func known(
        _ job: NewJob,
        _ patience: StorageDeadline?,
        after refusal: StoreError
    ) async throws(Problem) -> Accepted {
        let route = job.record.route
        guard refusal.code == .full else { throw Problem(refusal, accepting: job) }
        // A caller that reads 507 and then asks for the status sees why.
        await watch.look()
        return try await known(job, patience, instead: refused(refusal, route))
    }

    /// Whether a permit may wait for the disk with the job: not with one whose body goes to a file, from which its run
    /// reads it by pieces, and not for a disk that is slow.
    func mayBeOffered(_ body: StoredBody, _ due: NewJob.Due, past: PriorAttempts?) -> Bool {
        if case .bytes(let bytes) = body, bytes.count > StoredBodyFile.pieceSize { return false }
        return due == .now && past == nil
            && store.writing(at: engine.time.now()) < Acceptance.slowWrite
    }

    /// A write that takes longer holds no permits of requests that need no disk.
    private static let slowWrite: Duration = .milliseconds(100)

    /// The earlier job of the same key, where there is no room for a new one.
    ///
    /// - Throws: `refusal` when there is none.
    private func known(
        _ job: NewJob,
        _ patience: StorageDeadline?,
        instead refusal: @autoclosure () -> Problem
    ) async throws(Problem) -> Accepted {
        var job = job
        job.lacksCapacity = true
        // Also without a key: the store removes the file of a body that it does not accept.
        let answer = try? await enqueue(job, at: JobMoment(engine.time), patience)
        guard let answer, answer != .abandoned else { throw refusal() }
        return try accepted(job, answer)
    }

    /// The answer to the caller.
    ///
    /// - Throws: `idempotency_key_reused`, `storage_stalled`.
    @inline(__always)
    func accepted(_ job: NewJob, _ acceptance: EnqueueResult) throws(Problem) -> Accepted {
        let route = job.record.route
        switch acceptance {
        case .accepted, .running:
            return Accepted(id: job.record.id, isReplayed: false, mayRepeat: job.record.mayRepeat)
        case .duplicate(let id): return Accepted(id: id, isReplayed: true, mayRepeat: job.record.mayRepeat)
        case .conflict(let id):
            throw Problem(
                .idempotencyKeyReused,
                "this idempotency key belongs to a job with another method, target or body",
                route: route,
                job: id
            )
        case .abandoned: throw Problem.stalled(route, hasKey: job.staysUnawaited, store)
        }
    }

    /// The store's answer, or `abandoned` when the caller's patience is over first.
    private func enqueue(
        _ job: NewJob,
        at moment: JobMoment,
        _ patience: StorageDeadline?
    ) async throws(StoreError) -> EnqueueResult {
        guard let patience else {
            let answer = try await store.enqueueOne(job, at: moment)
            announce(job, answer)
            return answer
        }
        // Jobs that wait behind a write that does not come back would fill the memory.
        let time = patience.ports.time
        if StorageDeadline.isOver(store, time) { return .abandoned }
        let place = waits.enter(until: time.now().advanced(by: patience.limit), patience.ports)
        defer { waits.remove(place) }
        let wait = AcceptanceWait()
        var job = job
        job.wait = wait
        let offered = OfferedJob(job)
        let told: @Sendable (AcceptanceWaits.Answer) -> Void = { [self] answer in
            announceUnawaited(offered, answer)
            place.pending.give(answer)
        }
        if !store.enqueue(offered, at: moment, told) {
            _ = patience.ports.start { [store] in
                let answer = await Result { () async throws(StoreError) in
                    try await store.enqueueOne(offered.job, at: moment)
                }
                told(answer)
            }
        }
        guard let result = try await place.answer(unlessGivenUp: wait)?.get() else {
            if wait.isInDoubt { throw .unconfirmed }
            return .abandoned
        }
        announce(job, result)
        return result
    }

    /// Tells of a job that is on disk.
    func announce(_ job: NewJob, _ result: EnqueueResult) {
        guard result.isAccepted else { return }
        let (record, past) = (job.record, job.past)
        announcer.record(.accepted(JobReport(record.id, record.route, record.submitter, past)))
    }

    /// The same of one that is shared, of which only what is told is taken.
    func announce(_ offered: OfferedJob, _ result: EnqueueResult) {
        guard result.isAccepted else { return }
        let user = offered.job.record.submitter
        let report = JobReport(offered.job.record.id, offered.job.record.route, user, offered.job.past)
        announcer.record(.accepted(report))
    }

    /// Tells of a job that is on disk and that nobody waits for: one with a key stays, for the caller that comes again,
    /// and so does one that could not be taken back.
    func announceUnawaited(_ offered: OfferedJob, _ answer: AcceptanceWaits.Answer) {
        guard offered.job.wait?.isGivenUp == true, offered.job.staysGivenUp,
            case .success(let result) = answer
        else { return }
        announce(offered, result)
    }

    /// The job of an admitted request; with a `wait` and an `upstream` where its caller has no task.
    func newJob(
        _ admission: Admission,
        _ body: StoredBody,
        _ past: PriorAttempts? = nil,
        wait: AcceptanceWait? = nil,
        upstream: String? = nil
    ) -> NewJob {
        let context = admission.context
        let policy = admission.route.policy
        var fields = admission.fields
        // A field that the route's credential replaces never goes out, and is none of the disk's business.
        if let authentication = policy.authentication { fields.remove(authentication.fieldName) }
        // How long a caller waits for its answer says nothing of how long the job may take that goes on behind it.
        let timeout = past == nil ? context.options.timeout : nil
        return NewJob(
            JobRecord(
                id: context.id,
                route: context.route.name,
                method: context.method,
                target: context.target,
                fields: fields,
                priority: admission.keeping.priority,
                // One key for all of them; what callers send has its order within the route's.
                orderingKey: policy.delivery.ordering == .route
                    ? JobRecord.routeOrder : admission.keeping.orderingKey,
                supersedeKey: admission.keeping.supersedeKey,
                idempotencyKey: admission.keeping.idempotencyKey,
                labels: context.options.labels,
                submitter: context.client.map {
                    JobRecord.Submitter(user: $0.user, unit: $0.unit, on: $0.node)
                },
                mayRepeat: admission.route.mayRepeatAfterCrash(context.method, admission.fields),
                asksFirst: admission.route.asks && !context.method.isSafe,
                notifies: policy.delivery.notices != nil,
                trace: JobRecord.TraceContext(
                    parent: admission.fields[.traceparent],
                    state: admission.fields[.tracestate],
                    baggage: admission.fields[.baggage]
                ),
                bounds: JobRecord.Bounds(
                    timeout: timeout,
                    attemptTimeout: context.options.attemptTimeout,
                    maxAttempts: context.options.maxAttempts,
                    allowsFallback: context.options.allowsFallback,
                    constrained: context.options.constrained
                )
            ),
            body: body,
            due: past.map { .after($0.wait) } ?? admission.keeping.due,
            expiresAfter: DurableOptions.lifetime(
                longest: policy.delivery.expiresAfter,
                admission.keeping.expiresAfter,
                timeout
            ),
            idempotency: idempotency(admission, body),
            dropsContent: policy.delivery.keepsRequests == .never,
            past: past,
            wait: wait,
            upstream: upstream
        )
    }

    private func idempotency(_ admission: Admission, _ body: StoredBody) -> NewJob.Idempotency? {
        guard let key = admission.keeping.idempotencyKey else { return nil }
        return NewJob.Idempotency(
            user: admission.context.client?.user ?? .max,
            key: key,
            fingerprint: fingerprint(admission.context, body),
            window: admission.route.policy.idempotency.window
        )
    }

    /// Of method, target and body; of a body in a file by its length and checksums, as it is not in memory.
    private func fingerprint(_ context: JobContext, _ body: StoredBody) -> [UInt8] {
        var bytes = Array("\(context.method.rawValue) \(context.target)\n".utf8)
        switch body {
        case .bytes(let content): bytes += content
        case .file(let file):
            bytes += Array("file \(file.length)".utf8)
            for checksum in file.checksums { bytes += Array(" \(checksum)".utf8) }
        case .expunged: break
        }
        return digest(bytes)
    }
}

extension JobReport {
    /// The report of a job once it is on disk.
    fileprivate convenience init(
        _ id: JobID,
        _ route: String,
        _ submitter: JobRecord.Submitter?,
        _ past: PriorAttempts?
    ) {
        self.init(
            JobChange(
                id: id,
                route: route,
                user: submitter?.user,
                on: submitter?.node ?? .none,
                state: .queued,
                attemptCount: past?.attempts.count ?? 0
            ),
            answeredWith: past?.standIn
        )
    }
}

// Jobs that find no room on disk.
extension Acceptance {
    /// Jobs that were not accepted since there was no room for them, since the start.
    package var refusals: UInt64 { refusedAsFull.load(ordering: .relaxed) }

    /// Counts a job that the store has no room for.
    func refused(_ error: StoreError, _ route: String) -> Problem {
        refusedAsFull.add(1, ordering: .relaxed)
        return Problem(error, route: route)
    }

    /// How long a refused body makes the store count as full, which may still take smaller ones.
    private static let fullAfterRefusal: Duration = .seconds(10)

    /// A job of the route is refused, since its body found no room in the store.
    package func refuseBody(of route: String) -> Problem {
        foundNoSpace(for: route)
        return refused(
            StoreError(.full, "the job store has no room; free space on its disk, or raise storage.max_size"),
            route
        )
    }

    private func foundNoSpace(for route: String) {
        let now = engine.time.now()
        let last = fullAt.withLock { last in
            defer { last = now }
            return last
        }
        if let last, last.duration(to: now) < Acceptance.fullAfterRefusal { return }
        announcer.record(.bodyFoundNoSpace(route: route))
    }

    /// When the store no longer counts as full for what was refused, nil where nothing was.
    package var fullUntil: Instant? {
        let end = fullAt.withLock { $0?.advanced(by: Acceptance.fullAfterRefusal) }
        return end.flatMap { $0 > engine.time.now() ? $0 : nil }
    }

    /// Whether jobs are refused for want of room, all of them or those with a large body.
    package var lacksSpace: Bool {
        if watch.facts.isFull { return true }
        let now = engine.time.now()
        return fullAt.withLock { $0.map { $0.duration(to: now) < Acceptance.fullAfterRefusal } ?? false }
    }
}
