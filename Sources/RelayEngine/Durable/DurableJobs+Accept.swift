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

    /// Holds the room of one job, which `accept` takes or `giveBackRoom` gives back.
    ///
    /// - Throws: `queue_full`.
    package func reserveRoom(for route: String) throws(Problem) {
        let limit = settings.maxQueued
        guard room.withLock({ $0.reserve(limit) }) else { throw DurableJobs.full(limit, route) }
    }

    /// The job whose room is held does not come.
    package func giveBackRoom() { room.withLock { $0.gaveBack() } }

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
    /// For a body in a file the caller has held the room before the file was finished: from then on only a store
    /// removes it.
    ///
    /// - Throws: `idempotency_key_reused`, `queue_full`, `storage_full`, `storage_failed`.
    package func accept(_ admission: Admission, body: StoredBody) async throws(Problem) -> Accepted {
        let settings = settings
        if case .file = body {} else { try reserveRoom(for: admission.route.name) }
        var isNew = false
        defer { room.withLock { if isNew { $0.accepted() } else { $0.gaveBack() } } }
        let job = newJob(admission, body, settings)
        let acceptance: Acceptance?
        do throws(StoreError) {
            acceptance = try await store.enqueue([job], at: moment).first
        } catch {
            // Whoever reads 507 and then asks for the status sees why.
            if error.code == .full, let facts = try? await store.facts() {
                latestFacts.withLock { $0 = facts }
            }
            throw Problem(error, route: admission.route.name)
        }
        switch acceptance {
        case .accepted: break
        case .duplicate(let id): return Accepted(id: id, isReplayed: true, mayRepeat: job.record.mayRepeat)
        case .conflict(let id):
            var problem = Problem(
                .idempotencyKeyReused,
                "this idempotency key belongs to a job with another method, target or body"
            )
            problem.route = admission.route.name
            problem.job = id
            throw problem
        case nil: throw Problem(.storageFailed, "the job store did not say what became of the job")
        }
        isNew = true
        let event = FeedEvent(
            .jobAccepted,
            route: admission.route.name,
            job: admission.id,
            user: job.record.submitter?.user
        )
        feed.publish(event, at: engine.time.wallMilliseconds())
        return Accepted(id: admission.id, isReplayed: false, mayRepeat: job.record.mayRepeat)
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
        record.orderingKey = policy.delivery.ordering == .route ? "*" : options.orderingKey
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
