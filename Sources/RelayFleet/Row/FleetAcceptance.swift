import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// A job on its way into the database.
struct FleetAcceptance: Sendable {
    let job: NewJob
    /// The number of its route.
    let route: Int32
    /// The node whose users may have handed it over.
    let home: FleetHome
    let created: Int64
    private(set) var standing: FleetStanding
    /// Set where it is claimed with its acceptance.
    private(set) var token: UInt64?

    init(_ job: NewJob, route: Int32, at home: FleetHome, created: Int64) {
        var job = job
        job.record.submitter?.node = home.name
        self.job = job
        self.route = route
        self.home = home
        self.created = created
        let runAt: Int64
        switch job.due {
        case .now: runAt = created
        case .after(let delay): runAt = StoreClock.advance(created, by: delay)
        case .date(let wall): runAt = wall
        }
        standing = FleetStanding(
            JobStateMachine(
                state: .queued,
                runAt: runAt,
                mayRepeat: job.record.mayRepeat,
                asksFirst: job.record.asksFirst,
                notifies: job.record.notifies,
                isDated: false
            )
        )
    }

    /// Decides how it begins: behind another, with its first attempt, or waiting.
    ///
    /// `token` gives the number of a claim; nil where it may not be claimed with its acceptance.
    mutating func prepare(isBlocked: Bool, token next: () -> UInt64?) {
        standing.machine = JobStateMachine(
            runAt: standing.machine.runAt,
            expiresAt: job.expiresAfter.map { StoreClock.advance(created, by: $0) },
            mayRepeat: job.record.mayRepeat,
            asksFirst: job.record.asksFirst,
            notifies: job.record.notifies,
            isDated: isDated,
            isBlocked: isBlocked,
            now: created
        )
        standing.dropsContent = job.dropsContent
        if let past = job.past {
            standing.machine.inherit(past)
            if standing.machine.failureKind != nil { standing.failureUpstream = past.attempts.last?.upstream }
        }
        guard let upstream = job.upstream, job.wait?.isGivenUp != true, standing.machine.isReady,
            let number = next()
        else { return }
        let begun = BegunAttempt(upstream: upstream, beganAt: created)
        if standing.machine.claim(token: number, begun, now: created) { token = number }
    }

    private var isDated: Bool { if case .date = job.due { true } else { false } }

    /// The keys by which it depends on others.
    var scopes: [FleetScope] { FleetScope.all(of: job.record) }

    var id: JobID { job.record.id }

    /// The idempotency key as the table knows it.
    var keyHash: [UInt8]? {
        job.idempotency.map {
            // Callers of ports are nobody's in particular.
            let node = $0.user == .max ? NodeName.none : home.name
            return FleetScope(.idempotency, job.record.route, "\($0.user) \($0.key)", of: node).bytes
        }
    }

    /// The row that it becomes.
    func row(slot: Int16, seq: Int64, generation: Int64) -> FleetRow {
        FleetRow(
            slot: slot,
            seq: seq,
            n: 0,
            id: id,
            route: route,
            created: created,
            bodyLength: job.body.length,
            standing: standing,
            record: job.record,
            home: home.number,
            generation: token == nil ? nil : generation
        )
    }
}

extension FleetStatements {
    /// The statement that accepts the jobs, of which no two have the same key; where there are `endings`, each with its own,
    /// if that was made by a statement before it in the transaction.
    func accept(
        _ jobs: [FleetAcceptance],
        into heads: FleetHeads,
        generation: Int64,
        by node: NodeName,
        at now: Int64,
        with endings: [FleetChange] = []
    ) -> PostgresStatement {
        var (bodies, files): ([[UInt8]?], [[UInt8]?]) = ([], [])
        for job in jobs {
            switch job.job.body {
            case .bytes(let bytes):
                bodies.append(FleetContent.sealed(bytes, for: job.id))
                files.append(nil)
            case .file(let file):
                var writer = RecordWriter()
                writer.add(file)
                bodies.append(nil)
                files.append(writer.sealed(behind: Checksum(of: job.id)))
            case .expunged:
                bodies.append(nil)
                files.append(nil)
            }
        }
        let waiting = jobs.map { Waiting($0.standing.machine, at: now) }
        var parts = Parts(waiting)
        if !endings.isEmpty { parts.insert(.endings) }
        if jobs.contains(where: { $0.job.idempotency != nil }) { parts.insert(.keys) }
        if jobs.contains(where: { $0.standing.machine.expiresAt != nil }) { parts.insert(.expiries) }
        return PostgresStatement(
            accept(heads, parts),
            [
                .uuids(jobs.map(\.id.bytes)),
                .int32s(jobs.map(\.route)),
                .int64s(jobs.map(\.created)),
                .int16s(jobs.map { Int16($0.standing.machine.state.rawValue) }),
                .optionalInt64s(jobs.map { $0.token == nil ? nil : generation }),
                .bytesArray(jobs.map { $0.standing.sealed(for: $0.id) }),
                .bytesArray(
                    jobs.map {
                        StoredRecord($0.job.record, bodyLength: $0.job.body.length, home: $0.home.number)
                            .sealed()
                    }
                ),
                .optionalBytesArray(bodies), .optionalBytesArray(files),
                .optionalBytesArray(
                    jobs.map {
                        FleetContent.sealed($0.job.past?.attempts ?? [], after: 0, for: $0.id, by: node)
                    }
                ),
                .int16s(waiting.map(\.rawValue)),
                .int64s(jobs.map(\.standing.machine.runAt)),
                .int64s(jobs.map { $0.home.party(of: $0.job.record.submitter?.user) }),
                .int16s(jobs.map { Int16(min($0.job.record.priority, 7)) }),
                .optionalInt64s(jobs.map(\.standing.machine.expiresAt)),
                .optionalBytesArray(jobs.map(\.keyHash)),
                .optionalBytesArray(jobs.map(\.job.idempotency?.fingerprint)),
                .int64s(
                    jobs.map { job in
                        job.job.idempotency.map { StoreClock.advance(now, by: $0.window) } ?? 0
                    }
                ),
                .optionalBytesArray(jobs.map { FleetPiece.name(of: $0.job.body) }),
            ] + (endings.isEmpty ? [] : positions(endings))
        )
    }
}
