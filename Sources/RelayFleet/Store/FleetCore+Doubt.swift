import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRecords

/// Acceptances of which the reply was lost.
extension FleetCore {
    /// How long it is tried to find out.
    private static let deadline: Int64 = 10_000
    /// Nanoseconds between two tries.
    private static let pause: Int64 = 100_000_000

    /// Settles which of the jobs are kept: a row with the id of each that is not makes an acceptance that is still under
    /// way fail, and waits for one that commits.
    func resolve(_ jobs: [FleetAcceptance]) async -> [JobID: Result<EnqueueResult, StoreError>] {
        mayHoldUnknown = true
        let (slot, end) = (acceptSlot, steady + Self.deadline)
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
        let results = try await round(
            "find out whether the job was kept",
            [
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
                PostgresStatement(statements.keys, [.bytesArray(jobs.compactMap(\.keyHash))]),
            ]
        )
        var kept: [JobID: Int64] = [:]
        for row in 0..<results[1].count where results[1].int64(row, 2) ?? 0 < FleetRow.movedState {
            if let id = results[1].bytes(row, 0).flatMap(JobID.init(bytes:)) {
                kept[id] = results[1].int64(row, 1)
            }
        }
        let known = knownKeys(results[2])
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
