import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// A change of a job on its way to the database: it takes effect if nobody else has made the change of this number.
struct FleetChange: Sendable {
    let before: FleetRow
    var after: FleetStanding
    /// Attempts that go on record with it.
    var attempts: [Attempt] = []
    var action: ActionRecord?
    var answer: StoredAnswer?
    /// The claim that is settled with it.
    var settled: UInt64?
    /// The job that tells of this ending.
    var notice: FleetAcceptance?
    /// Whether it takes the place of a claim that nobody was told of: the job has not run.
    var isUnclaimed = false
    /// Whether the job is removed with it.
    var isDrop = false
    /// The generation that holds the claim then; nil when the job does not run.
    var generation: Int64?

    init(_ before: FleetRow, _ after: FleetStanding) {
        self.before = before
        self.after = after
        if after.machine.state == .running { generation = before.generation }
    }

    var n: Int32 { before.n + 1 }

    /// Whether the job ends with it and owes a notice from then on.
    var owes: Bool { after.machine.isNoticeOwed && !before.standing.machine.isNoticeOwed }

    /// Whether nothing waits for the job any more after it.
    var isEnd: Bool { isDrop || after.machine.state.isTerminal }

    /// The job as it stands once the change is made.
    var row: FleetRow {
        var row = before
        (row.n, row.standing, row.generation, row.countedState) = (n, after, generation, nil)
        row.isUnmarked = row.record.notifies && !after.machine.notifies
        return row
    }

    /// Where it waits after the change.
    func waiting(at now: Int64) -> FleetStatements.Waiting {
        isDrop ? .none : FleetStatements.Waiting(after.machine, at: now)
    }
}

extension FleetStatements.Waiting {
    /// How much longer than it has an entry a job may have been due, in milliseconds, to go with those that come now.
    static let lateness: Int64 = 300

    init(_ machine: JobStateMachine, at now: Int64) {
        switch machine.state {
        case .scheduled: self = .deferred
        case _ where !machine.isReady: self = .none
        case _ where machine.runAt > now: self = .deferred
        case _ where machine.runAt < now - Self.lateness: self = .early
        default: self = .ready
        }
    }
}

extension FleetStatements {
    /// The statements that make the changes, which are of different jobs: one for each slot.
    func change(
        _ changes: [FleetChange],
        _ heads: FleetHeads,
        by node: NodeName,
        at now: Int64
    ) -> [PostgresStatement] {
        Dictionary(grouping: changes, by: \.before.slot).sorted { $0.key < $1.key }
            .map { slot, changes in change(changes, of: slot, heads, by: node, at: now) }
    }

    private func change(
        _ changes: [FleetChange],
        of slot: Int16,
        _ heads: FleetHeads,
        by node: NodeName,
        at now: Int64
    ) -> PostgresStatement {
        let empty: [[UInt8]?] = []
        var (attempts, actions, answers, bodies) = (empty, empty, empty, empty)
        for change in changes {
            let id = change.before.id
            attempts.append(
                FleetContent.sealed(
                    change.attempts,
                    after: change.before.standing.machine.attempts,
                    for: id,
                    by: node
                )
            )
            actions.append(change.action.map { [$0].sealed(at: 0) })
            answers.append(change.answer?.sealedHead(at: 0))
            if case .bytes(let bytes)? = change.answer?.body {
                bodies.append(FleetContent.sealed(bytes, for: id))
            } else {
                bodies.append(nil)
            }
        }
        let waiting = changes.map { $0.waiting(at: now) }
        return PostgresStatement(
            change(slot, heads, Parts(waiting)),
            [
                .int64s(changes.map(\.before.seq)),
                .int32s(changes.map(\.n)),
                .int16s(
                    changes.map {
                        $0.isDrop ? Int16(FleetRow.movedState) : Int16($0.after.machine.state.rawValue)
                    }
                ),
                .optionalInt64s(changes.map(\.generation)),
                .bytesArray(changes.map { $0.after.sealed(for: $0.before.id) }),
                .optionalBytesArray(attempts), .optionalBytesArray(actions), .optionalBytesArray(answers),
                .optionalBytesArray(bodies),
                .int16s(waiting.map(\.rawValue)),
                .int64s(changes.map(\.after.machine.runAt)),
                .int32s(changes.map(\.before.route)),
                .int64s(changes.map(\.before.party)),
                .int16s(changes.map(\.before.urgency)),
                .int16s(
                    changes.map { $0.before.countedState ?? Int16($0.before.standing.machine.state.rawValue) }
                ),
                .int32s(changes.map(\.before.minute)),
                .int32s(changes.map(\.before.countedMinute)),
                .int32s(changes.map(\.row.countedMinute)),
                .optionalBytesArray(changes.map { $0.answer.flatMap { FleetPiece.name(of: $0.body) } }),
                .optionalInt64s(changes.map { $0.settled.map { Int64(bitPattern: $0) } }),
            ]
        )
    }
}

extension FleetStatements {
    /// The statements that erase what changes leave no right to be there, where these were made: they follow them in the
    /// transaction.
    func erasures(of changes: [FleetChange]) -> [PostgresStatement] {
        let requests = changes.filter { $0.isDrop || $0.before.standing.hasBody && !$0.after.hasBody }
        let answers = changes.filter {
            $0.isDrop || $0.before.standing.hasAnswerBody && !$0.after.hasAnswerBody
        }
        var statements: [PostgresStatement] = []
        if !requests.isEmpty {
            let records = requests.map { change in
                let row = change.before
                return StoredRecord(row.record.expunged, bodyLength: row.bodyLength, home: row.home)
                    .sealed()
            }
            statements.append(
                PostgresStatement(
                    """
                    DELETE FROM \(s).piece p USING \(s).job j,
                    unnest($1::smallint[], $2::bigint[], $3::int[], $4::bytea[]) AS x(slot, seq, n, standing)
                    WHERE j.slot = x.slot AND j.seq = x.seq AND p.body = j.pieces AND \(isMade)
                    """,
                    positions(requests)
                )
            )
            statements.append(
                PostgresStatement(
                    """
                    UPDATE \(s).job j SET body = NULL, file = NULL, pieces = NULL, record = x.record
                    FROM unnest($1::smallint[], $2::bigint[], $3::int[], $4::bytea[], $5::bytea[])
                    AS x(slot, seq, n, standing, record) WHERE j.slot = x.slot AND j.seq = x.seq AND \(isMade)
                    """,
                    positions(requests) + [.bytesArray(records)]
                )
            )
        }
        if !answers.isEmpty {
            statements.append(
                PostgresStatement(
                    """
                    DELETE FROM \(s).piece p USING \(s).change j,
                    unnest($1::smallint[], $2::bigint[], $3::int[], $4::bytea[]) AS x(slot, seq, n, standing)
                    WHERE j.slot = x.slot AND j.seq = x.seq AND p.body = j.pieces AND \(isMade)
                    """,
                    positions(answers)
                )
            )
            statements.append(
                PostgresStatement(
                    """
                    UPDATE \(s).change j SET body = NULL, pieces = NULL
                    FROM unnest($1::smallint[], $2::bigint[], $3::int[], $4::bytea[]) AS x(slot, seq, n, standing)
                    WHERE j.slot = x.slot AND j.seq = x.seq AND coalesce(j.body, j.pieces) IS NOT NULL AND \(isMade)
                    """,
                    positions(answers)
                )
            )
        }
        return statements
    }

    var isMade: String {
        """
        EXISTS (SELECT FROM \(s).change c WHERE c.slot = x.slot AND c.seq = x.seq AND c.n = x.n
        AND c.standing = x.standing)
        """
    }

    func positions(_ changes: [FleetChange]) -> [PostgresValue] {
        [
            .int16s(changes.map(\.before.slot)), .int64s(changes.map(\.before.seq)),
            .int32s(changes.map(\.n)),
            .bytesArray(changes.map { $0.after.sealed(for: $0.before.id) }),
        ]
    }
}
