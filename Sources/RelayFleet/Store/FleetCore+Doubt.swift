import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRecords

/// Writes of which the reply was lost.
extension FleetCore {
    /// Nanoseconds between two tries.
    private static let pause: Int64 = 100_000_000

    /// Settles which of the jobs are kept: a row with the id of each that is not makes an acceptance that is still under
    /// way fail, and waits for one that commits.
    func resolve(_ jobs: [FleetAcceptance]) async -> [JobID: Result<EnqueueResult, StoreError>] {
        // Before anything is asked: what is claimed later is none of these.
        doubt(jobs)
        let (slot, end) = (acceptSlot, doubtEnd)
        while steady < end {
            do throws(StoreError) { return try await settle(jobs, in: slot) } catch {
                if error.code == .closed { break }
                try? await loop.sleep(until: loop.currentTime() + Self.pause)
            }
        }
        let error = StoreError(
            .unknown,
            "the database did not answer whether the job was kept; ask for it by its id before it is sent again"
        )
        return Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, .failure(error)) })
    }

    private func settle(
        _ jobs: [FleetAcceptance],
        in slot: Int16
    ) async throws(StoreError) -> [JobID: Result<EnqueueResult, StoreError>] {
        let ids = PostgresValue.uuids(jobs.map(\.id.bytes))
        let keyed = jobs.filter { $0.keyHash != nil }
        let results = try await round(
            "find out whether the job was kept",
            [
                // In the order of an acceptance. One that comes later does not get its key, and every other job does.
                PostgresStatement(
                    """
                    INSERT INTO \(statements.s).key(hash, id, fingerprint, until) SELECT hash, id, '', 0
                    FROM unnest($1::bytea[], $2::uuid[]) AS x(hash, id) ORDER BY hash ON CONFLICT (hash) DO UPDATE
                    SET id = excluded.id, fingerprint = '', until = 0 WHERE key.until <= \(statements.now)
                    """,
                    [.bytesArray(keyed.compactMap(\.keyHash)), .uuids(keyed.map(\.id.bytes))]
                ),
                PostgresStatement(
                    """
                    INSERT INTO \(statements.s).job(slot, seq, id, route, created, state, standing, record)
                    SELECT $1, nextval('\(statements.s).seq'), id, 0, 0, \(FleetRow.movedState), '', ''
                    FROM unnest($2::uuid[]) id ON CONFLICT (id, slot) DO NOTHING
                    """,
                    [.int16(slot), ids]
                ),
                PostgresStatement(
                    "SELECT id, seq, state FROM \(statements.s).job WHERE slot = $1 AND id = ANY($2::uuid[])",
                    [.int16(slot), ids]
                ),
                PostgresStatement(statements.keys, [.bytesArray(keyed.compactMap(\.keyHash))]),
            ]
        )
        var kept: [JobID: Int64] = [:]
        for row in 0..<results[2].count where results[2].int64(row, 2) ?? 0 < FleetRow.movedState {
            if let id = results[2].bytes(row, 0).flatMap(JobID.init(bytes:)) {
                kept[id] = results[2].int64(row, 1)
            }
        }
        let known = knownKeys(results[3])
        var answers: [JobID: Result<EnqueueResult, StoreError>] = [:]
        for job in jobs {
            if let seq = kept[job.id] {
                // One that was claimed with it is found by the next look at claims that nobody holds.
                highestSeq = max(highestSeq, seq)
                answers[job.id] = .success(.accepted)
            } else if let key = job.keyHash, let other = known[key], other.id != job.id {
                let isSame = other.fingerprint == job.job.idempotency?.fingerprint
                answers[job.id] = .success(isSame ? .duplicate(other.id) : .conflict(other.id))
            } else {
                answers[job.id] = .failure(
                    .away("keep the job", "the connection was lost; the job was not kept")
                )
            }
        }
        return answers
    }
}

extension FleetCore {
    /// When it is no longer tried to find out.
    private var doubtEnd: Int64 { steady + options.doubtTimeout.saturatedNanoseconds / 1_000_000 }

    /// Asks again until it is known what became of a write whose reply was lost: what is done is not done twice.
    ///
    /// - Throws: `unknown` where nobody finds out.
    func untilKnown<Value>(_ body: () async throws(StoreError) -> Value) async throws(StoreError) -> Value {
        let end = doubtEnd
        var doubt: StoreError?
        while true {
            do throws(StoreError) { return try await body() } catch {
                if error.code == .unknown { doubt = error }
                guard let doubt else { throw error }
                guard steady < end, !isClosing else { throw doubt }
                try? await loop.sleep(until: loop.currentTime() + Self.pause)
            }
        }
    }

    /// Runs statements that may run twice with the effect of once.
    func write(
        _ call: String,
        _ statements: [PostgresStatement]
    ) async throws(StoreError) -> [PostgresResult] {
        let statementTimeout = options.statementTimeout
        return try await untilKnown { () throws(StoreError) in
            do throws(PostgresError) {
                return try await pool.borrow(call) { connection throws(PostgresError) in
                    let results = try await connection.run(statements, within: statementTimeout)
                    try Self.check(results)
                    return results
                }
            } catch { throw StoreError(writing: call, error) }
        }
    }
}
