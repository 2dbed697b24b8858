import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

extension FleetCore {
    func row(_ id: JobID) async throws(StoreError) -> FleetRow? {
        let results = try await round(
            "read a job",
            [PostgresStatement(statements.byID, [.uuid(id.bytes)])]
        )
        for index in 0..<results[0].count {
            if let row = try FleetRow(results[0], index), !isGone(row) { return row }
        }
        return nil
    }

    /// The jobs as they are now.
    func rows(_ rows: [FleetRow]) async throws(StoreError) -> [FleetRow] {
        let results = try await round(
            "read jobs",
            [PostgresStatement(statements.bySeq, [.int16s(rows.map(\.slot)), .int64s(rows.map(\.seq))])]
        )
        return all(results[0])
    }

    /// The jobs of a result but for those whose record is damaged, which are counted.
    func all(_ result: PostgresResult, to end: Int? = nil) -> [FleetRow] {
        (0..<(end ?? result.count)).compactMap { index in
            do throws(StoreError) { return try FleetRow(result, index) } catch {
                facts.corruptRecords += 1
                return nil
            }
        }
    }

    /// Whether its time in the store is over, though its slot is not emptied yet.
    func isGone(_ row: FleetRow) -> Bool {
        let machine = row.standing.machine
        guard machine.state.isTerminal, let finished = machine.finishedAt else { return false }
        return finished <= (machine.state == .succeeded ? goneSucceeded : goneOthers)
    }

    func job(_ id: JobID) async throws(StoreError) -> StoredJob? { try await row(id)?.job() }

    func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        guard let row = try await row(id) else { return nil }
        let history = try await history(of: row)
        let job = row.job()
        var whole = WholeJob(job, Array(history.attempts.suffix(extent.attempts)))
        whole.actions = history.actions
        if extent.hasAnswer(of: job) {
            whole.answer = history.answer
            whole.hasDamagedAnswer = history.answer == nil
        }
        if extent.hasBodies {
            do throws(StoreError) { whole.body = try await body(of: row) } catch {
                guard error.code == .corrupt else { throw error }
                whole.hasDamagedBody = true
            }
        }
        return whole
    }

    struct History {
        var attempts: [Attempt] = []
        var actions: [ActionRecord] = []
        var answer: StoredAnswer?
    }

    func history(of row: FleetRow) async throws(StoreError) -> History {
        let results = try await round(
            "read a job's history",
            [PostgresStatement(statements.history, [.int16(row.slot), .int64(row.seq)])]
        )
        return history(of: row, results[0])
    }

    func history(of row: FleetRow, _ result: PostgresResult) -> History {
        var history = History()
        for index in 0..<result.count {
            do throws(RecordReader.Damage) {
                if let bytes = result.bytes(index, 1) {
                    history.attempts += try FleetContent.attempts(sealed: bytes, for: row.id)
                }
                if let bytes = result.bytes(index, 2) {
                    for action in try [ActionRecord](sealed: bytes, at: 0) { history.actions.keep(action) }
                }
                if let head = result.bytes(index, 3) {
                    let body = result.bytes(index, 4).flatMap {
                        try? FleetContent.body(sealed: $0, for: row.id)
                    }
                    history.answer = try StoredAnswer(sealedHead: head, body: body, at: 0)
                }
            } catch { facts.corruptRecords += 1 }
        }
        if !row.standing.hasAnswerBody { history.answer?.body = .expunged }
        if !row.standing.hasBody { history.attempts = history.attempts.map(\.unquoted) }
        return history
    }

    func body(of row: FleetRow) async throws(StoreError) -> StoredBody {
        guard row.standing.hasBody else { return .expunged }
        let results = try await round(
            "read a body",
            [PostgresStatement(statements.body, [.int16(row.slot), .int64(row.seq)])]
        )
        guard results[0].count > 0 else { return .expunged }
        return try body(of: row, results[0].bytes(0, 0), results[0].bytes(0, 1))
    }
}
