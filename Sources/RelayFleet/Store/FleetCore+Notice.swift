import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// Notices: jobs of other routes that tell of the endings of these, each written in the transaction of the ending, or owed
/// from that on.
extension FleetCore {
    /// Notices that a sweep looks at.
    static let swept = 64

    private var s: String { statements.s }

    /// Bytes of requests that are read at a time, and of notices that one transaction makes; the rest is owed.
    private static let read = 4 << 20
    private static let made = 16 << 20

    /// The changes with the notices of those that end a job; what cannot be told here and now stays owed.
    func withNotices(
        _ changes: [FleetChange],
        _ connection: PostgresConnection,
        isInTurn: Bool = false
    ) async throws(PostgresError) -> [FleetChange] {
        var wanted: [(index: Int, extent: WholeJob.Extent)] = []
        var changes = changes
        for index in changes.indices where changes[index].owes && changes[index].notice == nil {
            let change = changes[index]
            switch events.notices.wish(change.before.record.route, change.after.machine.state) {
            case .owed: break
            case .nothing: changes[index].after.machine.noticeWaived()
            case .notice(let extent): wanted.append((index, extent))
            }
        }
        var made = 0
        var rest = wanted[...]
        while !rest.isEmpty, made < Self.made {
            var bytes = 0
            let page = rest.prefix { index, extent in
                defer { bytes += extent.hasBodies ? Int(clamping: changes[index].before.bodyLength) : 0 }
                return bytes < Self.read
            }
            .prefix(Self.swept)
            rest = rest.dropFirst(page.count)
            let results = try await connection.run(
                page.flatMap { reads(of: changes[$0.index].before, $0.extent) },
                within: options.statementTimeout
            )
            var next = results[...]
            for (index, extent) in page {
                let change = changes[index]
                let own = Array(next.prefix(reads(of: change.before, extent).count))
                next = next.dropFirst(own.count)
                number(&changes[index], own[own.count - 1])
                guard made < Self.made, let notice = events.notices.make(whole(changes[index], extent, own))
                else { continue }
                made += Int(clamping: notice.body.length)
                let route = try await number(of: notice.record.route, connection, learns: !isInTurn)
                changes[index].tell(acceptance(notice, route))
            }
        }
        return changes
    }

    /// The statements that read so much of a job: its history, its request's body and the standings of its changes.
    func reads(of row: FleetRow, _ extent: WholeJob.Extent) -> [PostgresStatement] {
        var reads = [history(at: row)]
        if extent.hasBodies { reads.append(body(at: row)) }
        if row.isUnmarked { reads.append(standings(at: row)) }
        return reads
    }

    /// Numbers the ending of a job by those that stand in its earlier changes, where the last of them leaves that out.
    private func number(_ change: inout FleetChange, _ result: PostgresResult) {
        guard change.before.isUnmarked, !change.before.standing.machine.state.isTerminal,
            let last = marked(change.before, result)?.machine
        else { return }
        change.after.machine.notices = last.notices - (last.isNoticeOwed ? 1 : 0) + 1
    }

    /// The last standing that a version has written which knows of notices.
    func marked(_ row: FleetRow, _ result: PostgresResult) -> FleetStanding? {
        for index in 0..<result.count {
            guard let bytes = result.bytes(index, 0),
                let standing = try? FleetStanding(sealed: bytes, for: row.id),
                standing.machine.notifies
            else { continue }
            return standing
        }
        return nil
    }

    /// The number of a route, which is nobody's to keep before the transaction that gives it is over.
    private func number(
        of route: String,
        _ connection: PostgresConnection,
        learns: Bool
    ) async throws(PostgresError) -> Int32 {
        if let known = routes[route] { return known }
        let results = try await connection.run(
            naming(route, in: "route"),
            within: options.statementTimeout
        )
        guard let id = results[1].int64(0, 0) else { throw PostgresError(.refused, "a route was not kept") }
        let number = Int32(clamping: id)
        if learns { learn(route, number) }
        return number
    }

    private func history(at row: FleetRow) -> PostgresStatement {
        PostgresStatement(statements.history, [.int16(row.slot), .int64(row.seq)])
    }

    func standings(at row: FleetRow) -> PostgresStatement {
        PostgresStatement(statements.standings, [.int16(row.slot), .int64(row.seq)])
    }

    private func body(at row: FleetRow) -> PostgresStatement {
        PostgresStatement(statements.body, [.int16(row.slot), .int64(row.seq)])
    }

    /// The job as it is after the change.
    func whole(
        _ change: FleetChange,
        _ extent: WholeJob.Extent,
        _ results: [PostgresResult]
    ) -> WholeJob {
        let row = change.row
        let history = history(of: row, results[0])
        var attempts = history.attempts
        for (index, attempt) in change.attempts.enumerated() {
            attempts.append(attempt)
            attempts[attempts.count - 1].number = Int(change.before.standing.machine.attempts) + index + 1
            if attempt.node == .none { attempts[attempts.count - 1].node = node }
        }
        let job = row.job()
        var whole = WholeJob(job, Array(attempts.suffix(extent.attempts)))
        whole.actions = history.actions
        if let action = change.action { whole.actions.keep(action) }
        if extent.hasAnswer(of: job) {
            whole.answer = change.answer ?? history.answer
            whole.hasDamagedAnswer = whole.answer == nil
        }
        if extent.hasBodies, row.standing.hasBody, results.count > 1, results[1].count > 0 {
            whole.body = try? body(of: row, results[1].bytes(0, 0), results[1].bytes(0, 1))
            whole.hasDamagedBody = whole.body == nil
        } else if extent.hasBodies {
            whole.body = .expunged
        }
        return whole
    }

    func acceptance(_ notice: NewJob, _ route: Int32) -> FleetAcceptance {
        var acceptance = FleetAcceptance(notice, route: route, at: FleetHome(), created: now)
        acceptance.prepare(isBlocked: false) { nil }
        return acceptance
    }

    /// The statements that keep the notices of the changes, and what is owed: they follow the changes in the transaction.
    func statementsToTell(_ changes: [FleetChange]) -> [PostgresStatement] {
        let told = changes.filter { $0.notice != nil }
        let owing = changes.filter { $0.owes && $0.notice == nil }
        let settled = changes.filter {
            $0.before.standing.machine.isNoticeOwed && (!$0.after.machine.isNoticeOwed || $0.isDrop)
        }
        var batch: [PostgresStatement] = []
        if !told.isEmpty {
            batch.append(
                statements.accept(
                    told.compactMap(\.notice),
                    into: heads,
                    generation: generation,
                    by: node,
                    at: now,
                    with: told
                )
            )
        }
        if !owing.isEmpty {
            batch.append(
                PostgresStatement(
                    """
                    INSERT INTO \(s).owed(seq) SELECT x.seq FROM unnest($1::smallint[], $2::bigint[], $3::int[], $4::bytea[])
                    AS x(slot, seq, n, standing) WHERE \(statements.isMade) ON CONFLICT DO NOTHING
                    """,
                    statements.positions(owing)
                )
            )
        }
        if !settled.isEmpty {
            batch.append(
                PostgresStatement(
                    """
                    DELETE FROM \(s).owed o USING unnest($1::smallint[], $2::bigint[], $3::int[], $4::bytea[])
                    AS x(slot, seq, n, standing) WHERE o.seq = x.seq AND \(statements.isMade)
                    """,
                    statements.positions(settled)
                )
            )
        }
        return batch
    }

    /// Tells of the notices that went with the changes, whose statements had these results.
    func tell(
        _ changes: [FleetChange],
        _ results: [PostgresResult],
        sent: Int64,
        _ fresh: inout [String: FreshWork]
    ) {
        facts.owedNotices += changes.count { $0.owes && $0.notice == nil }
        loseNotices(
            of: changes.filter { $0.isDrop && $0.before.standing.machine.isNoticeOwed }.map {
                "\($0.before.id)"
            }
        )
        let told = changes.compactMap { change in change.notice.map { (change, $0) } }
        // Their acceptance comes right after the changes, of which there is one statement for each slot.
        let place = Set(changes.map(\.before.slot)).count
        guard !told.isEmpty, results.count > place else { return }
        var kept: [JobID: Int64] = [:]
        for row in 0..<results[place].count {
            observe(results[place].int64(row, 2), sent: sent)
            if let id = results[place].bytes(row, 0).flatMap(JobID.init(bytes:)) {
                kept[id] = results[place].int64(row, 1)
            }
        }
        var made: [MadeNotice] = []
        for (change, notice) in told {
            guard let seq = kept[notice.id] else { continue }
            highestSeq = max(highestSeq, seq)
            if routes[notice.job.record.route] == nil { learn(notice.job.record.route, notice.route) }
            note(notice.row(slot: heads.job, seq: seq, generation: generation), &fresh)
            made.append(MadeNotice(notice.job.record, of: change.before.id, change.before.record.route))
        }
        if !made.isEmpty { events.noticed(made) }
    }

    func loseNotices(of jobs: [String]) {
        if !jobs.isEmpty { events.notice(NoticeMaker.lost(jobs)) }
    }
}

extension FleetChange {
    /// The notice goes with the ending.
    mutating func tell(_ notice: FleetAcceptance) {
        self.notice = notice
        after.machine.noticeMade()
    }
}
