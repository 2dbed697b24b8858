import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRecords

/// A job whose caller waits for the word that it is kept.
struct PendingAcceptance {
    let job: NewJob
    let told: @Sendable (Result<EnqueueResult, StoreError>) -> Void
}

extension FleetCore {
    /// Jobs of one statement at most.
    private static let batch = 256

    func offer(_ pending: PendingAcceptance) {
        do throws(StoreError) { try checkOpen() } catch { return pending.told(.failure(error)) }
        accepting.add(pending)
        guard !accepting.isWorked else { return }
        accepting.isWorked = true
        spawn { await $0.acceptAll() }
    }

    private func acceptAll() async {
        while !accepting.isEmpty {
            let batch = nextBatch()
            var jobs: [FleetAcceptance] = []
            var answers: [JobID: Result<EnqueueResult, StoreError>] = [:]
            for pending in batch {
                let job = pending.job
                // From here on a caller that gives up cannot know what becomes of its job.
                if !job.lacksCapacity, job.wait?.send() == false, !job.staysUnawaited {
                    answers[job.record.id] = .success(.abandoned)
                    continue
                }
                do throws(StoreError) {
                    let route = try await number(of: job.record.route)
                    jobs.append(FleetAcceptance(job, route: route, at: home, created: now))
                } catch { answers[job.record.id] = .failure(error) }
            }
            let known = jobs.filter(\.job.lacksCapacity)
            for job in known { answers[job.id] = await look(for: job) }
            let plain = jobs.filter { !$0.job.lacksCapacity && $0.scopes.isEmpty }
            await accept(plain, &answers) { [self] jobs throws(PostgresError) in try await put(jobs) }
            let bound = jobs.filter { !$0.job.lacksCapacity && !$0.scopes.isEmpty }
            await accept(bound, &answers) { [self] jobs throws(PostgresError) in try await putInTurn(jobs) }
            for pending in batch {
                let answer = answers[pending.job.record.id] ?? .failure(.closed)
                if case .success(let result) = answer, result.isAccepted, pending.job.wait?.land() == false {
                    await giveUp(pending.job, result)
                }
                pending.told(answer)
            }
        }
        accepting.isWorked = false
    }

    /// The next jobs, of which no two share a key: of those that do, each has to see the one before.
    private func nextBatch() -> [PendingAcceptance] {
        var (batch, rest, seen, bytes) = ([PendingAcceptance](), [PendingAcceptance](), Set<[UInt8]>(), 0)
        for pending in accepting.take(2 * Self.batch) {
            let job = FleetAcceptance(pending.job, route: 0, at: home, created: 0)
            let own = Set(job.scopes.map(\.bytes) + [job.keyHash, job.id.bytes].compactMap(\.self))
            if batch.count < Self.batch, bytes < batchBytes, seen.isDisjoint(with: own) {
                batch.append(pending)
                bytes += Int(clamping: pending.job.body.length)
            } else {
                rest.append(pending)
            }
            // Also of one that waits: those behind it must not overtake it.
            seen.formUnion(own)
        }
        accepting.putBack(rest)
        return batch
    }

    /// Accepts jobs that share no key; a batch that fails is halved down to the job that is to blame.
    private func accept(
        _ jobs: [FleetAcceptance],
        _ answers: inout [JobID: Result<EnqueueResult, StoreError>],
        _ put: ([FleetAcceptance]) async throws(PostgresError) -> [JobID: EnqueueResult]
    ) async {
        guard !jobs.isEmpty else { return }
        let begun = loop.currentTime()
        do throws(PostgresError) {
            let results = try await put(jobs)
            for job in jobs { answers[job.id] = results[job.id].map { .success($0) } ?? .failure(.unsafe) }
            committed(since: begun)
            facts.operations += UInt64(jobs.count)
        } catch {
            if error.sqlState == Self.warned {
                // It may be committed with a claim that nobody here has.
                doubt(jobs)
                for job in jobs { answers[job.id] = .failure(.warned) }
            } else if error.isUnknown {
                for (id, answer) in await resolve(jobs) { answers[id] = answer }
            } else if error.blamesRow, jobs.count > 1 {
                let middle = jobs.count / 2
                await accept(Array(jobs[..<middle]), &answers, put)
                await accept(Array(jobs[middle...]), &answers, put)
            } else {
                if error.blamesRow { putAside += 1 }
                for job in jobs { answers[job.id] = .failure(StoreError("keep the job", error)) }
            }
        }
    }

    /// Accepts jobs without ordering and supersede keys in one round trip.
    private func put(_ jobs: [FleetAcceptance]) async throws(PostgresError) -> [JobID: EnqueueResult] {
        var jobs = jobs
        for index in jobs.indices {
            let route = jobs[index].route
            jobs[index].prepare(isBlocked: false) { tokenOfNew(route) }
        }
        let round = beginAcceptance()
        defer { endAcceptance(round) }
        acceptSlot = heads.job
        let (slot, sent, statementTimeout) = (heads.job, steady, options.statementTimeout)
        let batch = statementsToAccept(jobs, in: slot)
        let results = try await pool.borrow("keep the job") { connection throws(PostgresError) in
            try await connection.run(batch, within: statementTimeout)
        }
        try Self.check(results)
        return take(results, jobs, slot: slot, sent: sent)
    }

    /// The class of warnings.
    private static let warned = "01000"

    /// A COMMIT with a warning is none to be told of: a standby that it waited for was given up.
    static func check(_ results: [PostgresResult]) throws(PostgresError) {
        guard results.contains(where: \.hasWarning) else { return }
        var error = PostgresError(
            .refused,
            "the server warned that a standby did not confirm",
            sqlState: warned
        )
        error.isUnknown = true
        throw error
    }

    func statementsToAccept(_ jobs: [FleetAcceptance], in slot: Int16) -> [PostgresStatement] {
        let hashes = jobs.compactMap(\.keyHash)
        var heads = heads
        heads.job = slot
        let accept = statements.accept(
            jobs,
            into: heads,
            generation: generation,
            by: node,
            at: now
        )
        return hashes.isEmpty
            ? [accept] : [accept, PostgresStatement(statements.keys, [.bytesArray(hashes)])]
    }

    /// Takes up which of the jobs are kept.
    func take(
        _ results: [PostgresResult],
        _ jobs: [FleetAcceptance],
        slot: Int16,
        sent: Int64
    ) -> [JobID: EnqueueResult] {
        var kept: [JobID: Int64] = [:]
        for row in 0..<results[0].count {
            observe(results[0].int64(row, 2), sent: sent)
            if let id = results[0].bytes(row, 0).flatMap(JobID.init(bytes:)) {
                kept[id] = results[0].int64(row, 1)
            }
        }
        let known = results.count > 1 ? knownKeys(results[1]) : [:]
        var answers: [JobID: EnqueueResult] = [:]
        var fresh: [String: FreshWork] = [:]
        for job in jobs {
            if let seq = kept[job.id] {
                answers[job.id] = take(job, job.row(slot: slot, seq: seq, generation: generation), &fresh)
            } else if let key = job.keyHash, let known = known[key] {
                answers[job.id] =
                    known.fingerprint == job.job.idempotency?.fingerprint
                    ? .duplicate(known.id) : .conflict(known.id)
            } else if job.keyHash == nil, results[0].bool(results[0].count - 1, 3) == true {
                answers[job.id] = .duplicate(job.id)
            }
        }
        if !fresh.isEmpty { events.ready(fresh) }
        events.changed()
        return answers
    }

    private func take(
        _ job: FleetAcceptance,
        _ row: FleetRow,
        _ fresh: inout [String: FreshWork]
    ) -> EnqueueResult {
        highestSeq = max(highestSeq, row.seq)
        guard let token = job.token else {
            note(row, &fresh)
            return .accepted
        }
        running[row.seq] = row
        return .running(ClaimToken(id: row.id, position: row.seq, number: token))
    }

    func knownKeys(_ result: PostgresResult) -> [[UInt8]: (id: JobID, fingerprint: [UInt8])] {
        var known: [[UInt8]: (id: JobID, fingerprint: [UInt8])] = [:]
        for row in 0..<result.count {
            if let hash = result.bytes(row, 0), let id = result.bytes(row, 1).flatMap(JobID.init(bytes:)),
                let fingerprint = result.bytes(row, 2)
            {
                known[hash] = (id, fingerprint)
            }
        }
        return known
    }

    /// Looks only whether the job's idempotency key is known: there is no room for another one.
    private func look(for job: FleetAcceptance) async -> Result<EnqueueResult, StoreError> {
        guard let key = job.keyHash else { return .success(.abandoned) }
        do throws(StoreError) {
            let results = try await round(
                "look for the key",
                [PostgresStatement("\(statements.keys) AND until > \(statements.now)", [.bytesArray([key])])]
            )
            guard let known = knownKeys(results[0])[key] else { return .success(.abandoned) }
            let isSame = known.fingerprint == job.job.idempotency?.fingerprint
            return .success(isSame ? .duplicate(known.id) : .conflict(known.id))
        } catch { return .failure(error) }
    }
}

extension StoreError {
    /// The job is kept by one server, and the standby that was to have it as well has not said so.
    static let warned = StoreError(
        .unknown,
        "the database kept the job without the confirmation of its standby; ask for it by its id before it is sent again"
    )

    /// The server would not keep what it commits: nothing was accepted.
    static let unsafe = StoreError.away(
        "keep the job",
        "fsync, full_page_writes or synchronous_commit is off there, so that it may lose what it has accepted; turn them on, "
            + "or name each that is in accept_risk"
    )
}
