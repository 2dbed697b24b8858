package import RelayCore
import Synchronization

// MARK: Accepting

extension DurableJobs {
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
    package func checkRoom(for route: String) throws(Problem) {
        let limit = settings.maxQueued
        guard room.withLock({ $0.hasRoom(limit) }) else { throw DurableJobs.full(limit, route) }
    }

    private static func full(_ limit: Int, _ route: String) -> Problem {
        var problem = Problem(
            .queueFull,
            "\(limit) jobs wait for their delivery already (limits.max_queued_jobs)"
        )
        problem.route = route
        problem.retryAfter = .seconds(10)
        return problem
    }

    /// Puts an admitted job on disk.
    ///
    /// A key that is known is answered with its job also where there is no room for another. Without `patience` the
    /// caller waits as long as the disk takes.
    ///
    /// - Throws: `idempotency_key_reused`, `queue_full`, `storage_full`, `storage_failed`, `storage_stalled`.
    package func accept(
        _ admission: Admission,
        body: StoredBody,
        _ patience: Patience? = nil
    ) async throws(Problem) -> Accepted {
        let settings = settings
        let route = admission.route.name
        let job = newJob(admission, body, settings)
        guard room.withLock({ $0.reserve(settings.maxQueued) }) else {
            return try await known(job, patience, instead: DurableJobs.full(settings.maxQueued, route))
        }
        var isNew = false
        defer { room.withLock { if isNew { $0.accepted() } else { $0.gaveBack() } } }
        let acceptance: Acceptance
        do throws(StoreError) {
            acceptance = try await enqueue(job, patience).get()
        } catch {
            guard error.code == .full else { throw Problem(error, route: route) }
            // Whoever reads 507 and then asks for the status sees why.
            if let facts = try? await store.facts() { latestFacts.withLock { $0 = facts } }
            return try await known(job, patience, instead: Problem(error, route: route))
        }
        let accepted = try accepted(job, acceptance)
        isNew = !accepted.isReplayed
        return accepted
    }

    /// The earlier job of the same key, where there is no room for a new one.
    ///
    /// - Throws: `refusal` when there is none.
    private func known(
        _ job: NewJob,
        _ patience: Patience?,
        instead refusal: Problem
    ) async throws(Problem) -> Accepted {
        var job = job
        job.hasNoRoom = true
        // Also without a key: the store removes the file of a body that it does not accept.
        let answer = try? await enqueue(job, patience).get()
        guard let answer, answer != .abandoned else { throw refusal }
        return try accepted(job, answer)
    }

    /// What the caller is told.
    ///
    /// - Throws: `idempotency_key_reused`, `storage_stalled`.
    private func accepted(_ job: NewJob, _ acceptance: Acceptance) throws(Problem) -> Accepted {
        let route = job.record.route
        switch acceptance {
        case .accepted:
            return Accepted(id: job.record.id, isReplayed: false, mayRepeat: job.record.mayRepeat)
        case .duplicate(let id): return Accepted(id: id, isReplayed: true, mayRepeat: job.record.mayRepeat)
        case .conflict(let id):
            var problem = Problem(
                .idempotencyKeyReused,
                "this idempotency key belongs to a job with another method, target or body"
            )
            problem.route = route
            problem.job = id
            throw problem
        case .abandoned: throw Problem.stalled(route, hasKey: job.staysUnawaited)
        }
    }

    /// What the store says, or `abandoned` when the caller's patience is over first.
    private func enqueue(_ job: NewJob, _ patience: Patience?) async -> Swift.Result<Acceptance, StoreError> {
        guard let patience else { return await enqueue(job) }
        // What waits behind a write that does not come back would fill the memory.
        if Patience.isOver(store, patience.ports.time) { return .success(.abandoned) }
        let wait = AcceptanceWait()
        var job = job
        job.wait = wait
        let waiting = job
        let pending = patience.begin { [self] in await enqueue(waiting) }
        if let answer = await patience.wait(for: pending) { return answer }
        if wait.giveUp() { return .success(.abandoned) }
        return await pending.value() ?? .success(.abandoned)
    }

    private func enqueue(_ job: NewJob) async -> Swift.Result<Acceptance, StoreError> {
        do throws(StoreError) {
            guard let acceptance = try await store.enqueue([job], at: moment).first else {
                return .failure(StoreError(.failed, "the job store did not say what became of the job"))
            }
            // A job with a key stays, for the caller that comes again.
            if acceptance == .accepted, job.staysUnawaited || job.wait?.isGivenUp != true {
                tellAccepted(job)
            }
            return .success(acceptance)
        } catch {
            return .failure(error)
        }
    }

    private func tellAccepted(_ job: NewJob) {
        let event = FeedEvent(
            .jobAccepted,
            route: job.record.route,
            job: job.record.id,
            user: job.record.submitter?.user
        )
        feed.publish(event, at: engine.time.wallMilliseconds())
    }

    private func newJob(_ admission: Admission, _ body: StoredBody, _ settings: Settings) -> NewJob {
        let context = admission.context
        let options = admission.durable ?? DurableOptions()
        let policy = admission.route.policy
        var fields = admission.fields
        // What the route's credential takes the place of never goes out, and is none of the disk's business.
        if let authentication = policy.authentication { fields.remove(authentication.fieldName) }
        var record = JobRecord(
            id: context.id,
            route: context.route.name,
            method: context.method,
            target: context.target,
            fields: fields
        )
        record.priority = options.priority
        // One key for all of them; what callers send has its order within the route's.
        record.orderingKey = policy.delivery.ordering == .route ? JobRecord.routeOrder : options.orderingKey
        record.supersedeKey = options.supersedeKey
        record.idempotencyKey = options.idempotencyKey
        record.labels = context.options.labels
        record.submitter = context.client.map { JobRecord.Submitter(user: $0.user, unit: $0.unit) }
        record.mayRepeat = JobRecord.mayRepeat(context.method, admission.fields, on: admission.route)
        record.trace.parent = admission.fields[.traceparent]
        record.trace.state = admission.fields[.tracestate]
        record.trace.baggage = admission.fields[.baggage]
        record.bounds.timeout = context.options.timeout
        record.bounds.attemptTimeout = context.options.attemptTimeout
        record.bounds.maxAttempts = context.options.maxAttempts
        record.bounds.allowsFallback = context.options.allowsFallback
        var job = NewJob(record, body: body)
        job.dropsContent = policy.delivery.keepsRequests == .never
        job.due = options.due
        job.expiresAfter = options.lifetime(longest: policy.delivery.expiresAfter, context.options)
        if let key = options.idempotencyKey {
            job.idempotency = NewJob.Idempotency(
                user: context.client?.user ?? .max,
                key: key,
                fingerprint: fingerprint(record, body, settings),
                window: policy.idempotency.window
            )
        }
        return job
    }

    /// Of method, target and body; of a body in a file by its length and checksums, as it is not in memory.
    private func fingerprint(_ record: JobRecord, _ body: StoredBody, _ settings: Settings) -> [UInt8] {
        var bytes = Array("\(record.method.rawValue) \(record.target)\n".utf8)
        switch body {
        case .bytes(let content): bytes += content
        case .file(let file):
            bytes += Array("file \(file.length)".utf8)
            for checksum in file.checksums { bytes += Array(" \(checksum)".utf8) }
        case .expunged: break
        }
        return settings.digest(bytes)
    }

    /// Begins a body that is too large for memory.
    package func spool() async throws(Problem) -> any BodySpool {
        do throws(StoreError) { return try await store.spool() } catch { throw Problem(error) }
    }
}

extension Problem {
    /// The disk did not answer in time.
    package static func stalled(_ route: String, hasKey: Bool = false) -> Problem {
        let again =
            hasKey
            ? "send it again with the same key: it is the same job, or takes its place"
            : "as far as is known the job was not accepted: send it again"
        var problem = Problem(
            .storageStalled,
            "the disk of the job store takes no writes at the moment; \(again)"
        )
        problem.route = route
        problem.retryAfter = .seconds(5)
        return problem
    }

    /// The disk did not do in time what somebody asked of the jobs or routes.
    static func stalled(hasBegun: Bool) -> Problem {
        let rest =
            hasBegun
            ? "what was asked is carried out as soon as it does, unless the relay ends before; look before you ask again"
            : "nothing was done; ask again"
        var problem = Problem(
            .storageStalled,
            "the disk of the job store takes no writes at the moment; \(rest)"
        )
        problem.retryAfter = .seconds(5)
        return problem
    }

    /// The disk does not give what was kept.
    package static var unreadNow: Problem {
        var problem = Problem(
            .storageStalled,
            "the disk of the job store does not answer at the moment; ask again"
        )
        problem.retryAfter = .seconds(5)
        return problem
    }

    /// What a caller is told when the store could not do what was asked.
    package init(_ error: StoreError, route: String? = nil) {
        switch error.code {
        case .full: self.init(.storageFull, error.message)
        case .corrupt: self.init(.storageCorrupt, error.message)
        case .newerSchema, .locked, .directory, .failed, .slow, .closed:
            self.init(.storageFailed, error.message)
        }
        self.route = route
        switch error.code {
        case .full: retryAfter = .seconds(60)
        // The disk will not hold it later either.
        case .corrupt: break
        case .newerSchema, .locked, .directory, .failed, .slow, .closed: retryAfter = .seconds(5)
        }
    }
}
