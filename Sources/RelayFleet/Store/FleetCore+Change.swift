import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// The making of changes, one a job: those that met another change are decided anew on what is there now.
extension FleetCore {
    /// How often a change is tried again that met another one.
    private static let tries = 8

    /// The changes that were made, and the jobs of which the server refused one.
    struct Made {
        var changes: [FleetChange] = []
        var refused: [(row: FleetRow, error: StoreError)] = []
    }

    /// - Returns: the changes that were made; a job that the server refuses is told of and does not hinder the others.
    func change(
        _ rows: [FleetRow],
        _ decide: (FleetRow, _ isBlocked: Bool) -> FleetChange?
    ) async throws(StoreError) -> [FleetChange] {
        let made = try await changeEach(rows, decide)
        for (row, error) in made.refused { events.notice("job \(row.id): \(error.message)") }
        if let first = made.refused.first, made.changes.isEmpty { throw first.error }
        return made.changes
    }

    /// Asks again where the reply is lost: what was made by the first try is found, and counts as made.
    func changeEach(
        _ rows: [FleetRow],
        _ decide: (FleetRow, _ isBlocked: Bool) -> FleetChange?
    ) async throws(StoreError) -> Made {
        var (made, found, tried) = (Made(), [FleetChange](), [Int64: [FleetChange]]())
        func own(_ row: FleetRow, _ isBlocked: Bool) -> FleetChange? {
            // Any of those that were tried, since each was decided at another moment.
            if let made = tried[row.seq]?.first(where: { $0.n == row.n && $0.after.isSame(as: row.standing) })
            {
                found.append(made)
                return nil
            }
            let change = decide(row, isBlocked)
            if let change { tried[row.seq, default: []].append(change) }
            return change
        }
        let bound = rows.filter { !$0.scopes.isEmpty }
        if !bound.isEmpty { try await changeInTurn(bound, &made, own) }
        var left = rows.filter { $0.scopes.isEmpty }
        var isFirst = true
        try await untilKnown { () throws(StoreError) in
            if !isFirst {
                let refused = Set(made.refused.map(\.row.seq))
                left = try await self.rows(left.filter { !refused.contains($0.seq) })
            }
            isFirst = false
            for _ in 0..<Self.tries where !left.isEmpty {
                let changes = left.compactMap { own($0, false) }
                guard !changes.isEmpty else { break }
                let refused = made.refused.count
                let applied = try await make(changes, &made)
                made.changes += applied
                let done = Set(applied.map(\.before.seq) + made.refused[refused...].map(\.row.seq))
                let missed = changes.filter { !done.contains($0.before.seq) }
                // This try is known to have missed: an equal change is another node's.
                for change in missed { tried[change.before.seq]?.removeLast() }
                left = []
                guard !missed.isEmpty else { break }
                do throws(StoreError) { left = try await self.rows(missed.map(\.before)) } catch {
                    made.refused += missed.map { ($0.before, error) }
                }
            }
        }
        made.changes += found
        if !made.changes.isEmpty { events.changed() }
        return made
    }

    /// Halves a batch that the server refuses for one job, down to that job.
    private func changeInTurn(
        _ rows: [FleetRow],
        _ made: inout Made,
        owing: Bool = false,
        _ decide: (FleetRow, _ isBlocked: Bool) -> FleetChange?
    ) async throws(StoreError) {
        var refusal: StoreError?
        let begun = loop.currentTime()
        let changes = try await untilKnown { () throws(StoreError) -> [FleetChange] in
            do throws(PostgresError) { return try await changeInTurn(rows, owing: owing, decide) } catch {
                guard error.blamesRow else { throw StoreError(writing: "change jobs", error) }
                refusal = StoreError("change jobs", error)
                return []
            }
        }
        made.changes += changes
        if !changes.isEmpty { committed(since: begun) }
        guard let refusal else { return }
        guard rows.count > 1 else {
            if !owing, rows[0].standing.machine.notifies {
                return try await changeInTurn(rows, &made, owing: true, decide)
            }
            putAside += 1
            return made.refused.append((rows[0], refusal))
        }
        let middle = rows.count / 2
        try await changeInTurn(Array(rows[..<middle]), &made, decide)
        try await changeInTurn(Array(rows[middle...]), &made, decide)
    }

    /// The same for changes of jobs without keys; what tells of their endings is only owed where it was refused before.
    private func make(
        _ changes: [FleetChange],
        _ made: inout Made,
        owing: Bool = false
    ) async throws(StoreError) -> [FleetChange] {
        let (sent, begun, statementTimeout) = (steady, loop.currentTime(), options.statementTimeout)
        var changes = changes
        let round = beginAcceptance()
        defer { endAcceptance(round) }
        let results: [PostgresResult]
        do throws(PostgresError) {
            (changes, results) = try await pool.borrow("change jobs") {
                [changes] connection throws(PostgresError) in
                let told = owing ? changes : try await withNotices(changes, connection)
                let results = try await connection.run(statementsToChange(told), within: statementTimeout)
                try Self.check(results)
                return (told, results)
            }
        } catch {
            guard error.blamesRow else { throw StoreError(writing: "change jobs", error) }
            guard changes.count > 1 else {
                if !owing, changes[0].owes { return try await make(changes, &made, owing: true) }
                putAside += 1
                made.refused.append((changes[0].before, StoreError("change jobs", error)))
                return []
            }
            let middle = changes.count / 2
            let first = try await make(Array(changes[..<middle]), &made)
            return first + (try await make(Array(changes[middle...]), &made))
        }
        committed(since: begun)
        var seqs: Set<Int64> = []
        for result in results.prefix(Set(changes.map(\.before.slot)).count) {
            for row in 0..<result.count {
                observe(result.int64(row, 1), sent: sent)
                if let seq = result.int64(row, 0) { seqs.insert(seq) }
            }
        }
        let applied = changes.filter { seqs.contains($0.before.seq) }
        var fresh: [String: FreshWork] = [:]
        for change in applied { note(change.row, &fresh) }
        tell(applied, results, sent: sent, &fresh)
        if !fresh.isEmpty { events.ready(fresh) }
        return applied
    }
}
