import RelayBase
import RelayJobs
import RelayRecords

extension StoreWriter {
    func enqueue(_ jobs: [OfferedJob], at moment: JobMoment) throws(StoreError) -> [EnqueueResult] {
        var answers: [EnqueueResult] = []
        answers.reserveCapacity(jobs.count)
        for job in jobs { answers.append(try enqueue(job, at: moment)) }
        return answers
    }

    func enqueue(_ offered: OfferedJob, at moment: JobMoment) throws(StoreError) -> EnqueueResult {
        try advance(to: moment)
        let answer = try put(offered, at: moment)
        if !answer.isAccepted, case .file(let file) = offered.job.body { volatile.orphans.append(file.name) }
        volatile.operations += 1
        return answer
    }

    private func put(_ offered: OfferedJob, at moment: JobMoment) throws(StoreError) -> EnqueueResult {
        if offered.job.lacksCapacity {
            let known = try offered.job.idempotency.flatMap { key throws(StoreError) in
                try keys.known(key, offered.job.record, now: now, in: database)
            }
            return known ?? .abandoned
        }
        if !offered.job.staysUnawaited, offered.job.wait?.isGivenUp == true { return .abandoned }
        if let idempotency = offered.job.idempotency,
            let known = try keys.accept(
                idempotency,
                offered.job.record,
                now: now,
                latest: latest,
                in: database
            )
        {
            return known
        }
        // Ids are the caller's; the same one twice is the same job, and then leaves others as they are.
        let movesOthers = offered.job.record.orderingKey != nil || offered.job.record.supersedeKey != nil
        if movesOthers, try seq(of: offered.job.record.id) != nil { return .duplicate(offered.job.record.id) }
        let route = try route(offered.job.record.route)
        if case .bytes(let bytes) = offered.job.body, PlainRow.fits(offered), plain.waiting < PlainJobs.limit
        {
            return try acceptPlain(offered, bytes, route: route, at: moment)
        }
        return try putUsual(offered.job, route: route, at: moment)
    }

    /// Puts a job that is not plain into all the rows that lead to it.
    func putUsual(
        _ job: NewJob,
        route: Int64,
        at moment: JobMoment
    ) throws(StoreError) -> EnqueueResult {
        let record = job.record
        if let key = record.supersedeScope { try supersede(key, route: route) }

        let seq = try takeSeq()
        let previous: Int64? =
            if let key = record.orderingScope { try append(seq, route: route, key: key) } else { nil }
        var date: Int64?
        let runAt: Int64
        switch job.due {
        case .now: runAt = now
        case .after(let delay): runAt = StoreClock.advance(now, by: delay)
        case .date(let wall):
            date = wall
            runAt = volatile.timeline.line(ofWall: wall)
        }
        let machine = JobStateMachine(
            runAt: runAt,
            expiresAt: job.expiresAfter.map { StoreClock.advance(latest, by: $0) },
            mayRepeat: record.mayRepeat,
            asksFirst: record.asksFirst,
            notifies: record.notifies,
            isDated: date != nil,
            isBlocked: previous != nil,
            now: now
        )
        var row = JobRow(
            seq: seq,
            record,
            route: route,
            machine: machine,
            created: moment.wall,
            bodyLength: job.body.length
        )
        row.date = date
        row.previous = previous
        row.dropsContent = job.dropsContent
        let token = try claim(&row, of: job, at: moment)
        guard try insert(row) else { return .duplicate(record.id) }
        try insertPayload(seq, record, job.body)
        if let past = job.past { try take(past, &row) }
        for label in Set(record.labels) {
            let insert = try database.statement("INSERT INTO label(label, seq) VALUES(?, ?)")
            insert.bind(1, label)
            insert.bind(2, seq)
            try insert.run()
        }
        return token.map { .running($0) } ?? .accepted
    }

    /// Records, with the job, the attempts that were made before it was kept.
    private func take(_ past: PriorAttempts, _ row: inout JobRow) throws(StoreError) {
        let old = row
        row.machine.inherit(past)
        try put(past.attempts, after: 0, of: row.seq, with: nil)
        try save(row, replacing: old)
    }

    /// Claims a job with its acceptance, where that is asked for and it would be the next to be claimed.
    private func claim(
        _ row: inout JobRow,
        of job: NewJob,
        at moment: JobMoment
    ) throws(StoreError) -> ClaimToken? {
        guard let upstream = job.upstream, job.wait?.isGivenUp != true, !shared.isClosing,
            row.machine.isReady, try !hasDue(row.route), try !isRunning(before: row)
        else { return nil }
        let begun = BegunAttempt(upstream: upstream, beganAt: moment.wall)
        guard row.machine.claim(token: volatile.nextToken, begun, now: now) else { return nil }
        defer { volatile.nextToken += 1 }
        return ClaimToken(id: row.id, position: row.seq, number: volatile.nextToken)
    }

    /// Whether a job of the route waits that is due.
    func hasDue(_ route: Int64) throws(StoreError) -> Bool {
        try wake()
        if plain[route]?.hasWaiting == true { return true }
        return try hasUsualDue(route)
    }

    /// The same of those that are not plain.
    func hasUsualDue(_ route: Int64) throws(StoreError) -> Bool {
        if let first = volatile.firstDue[route], first > now { return false }
        let first = try nextDue(route) ?? .max
        volatile.firstDue[route] = first
        return first <= now
    }

    /// - Returns: false when there is a job with this id.
    private func insert(_ row: JobRow) throws(StoreError) -> Bool {
        guard try insertID(row.id, row.seq) else { return false }
        try insertRow(row)
        try mark(row, before: nil)
        count(row, 1)
        noteWaiting(row, before: nil)
        if row.machine.state == .running { remember(row) }
        return true
    }

    func insertRow(_ row: JobRow) throws(StoreError) {
        let insert = try database.statement(
            """
            INSERT INTO job(seq, id, route, prio, state, reason, lane, side, run_at, date, expires, created,
            attempts, spent, earlier, crashes, token, version, flags, okey, prv, skey, length, sum, user, upstream,
            began, fin)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?25, ?26, 0, 0, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
            ?23, ?24)
            """
        )
        insert.bind(1, row.seq)
        insert.bind(2, row.id)
        insert.bind(3, row.route)
        insert.bind(4, row.priority)
        insert.bind(5, Int64(row.machine.state.rawValue))
        insert.bind(6, Int64(row.machine.reason?.rawValue ?? 0))
        insert.bind(7, row.queue)
        insert.bind(8, row.side)
        insert.bind(9, row.machine.runAt)
        insert.bind(10, row.date)
        insert.bind(11, row.machine.expiresAt)
        insert.bind(12, row.created)
        insert.bind(13, Int64(bitPattern: row.machine.token))
        insert.bind(14, Int64(bitPattern: row.machine.version))
        insert.bind(15, row.flags)
        insert.bind(16, row.orderingKey)
        insert.bind(17, row.previous)
        insert.bind(18, row.supersedeKey)
        insert.bind(19, row.bodyLength)
        insert.bind(20, row.sum)
        insert.bind(21, row.user.map(Int64.init))
        insert.bind(22, row.machine.begun?.upstream)
        insert.bind(23, row.machine.begun?.beganAt)
        insert.bind(24, row.machine.finishedAt)
        insert.bind(25, Int64(row.machine.attempts))
        insert.bind(26, Int64(row.machine.spentAttempts))
        try insert.run()
        noteQueue(row, before: nil)
    }

    func insertPayload(_ seq: Int64, _ record: JobRecord, _ body: StoredBody) throws(StoreError) {
        let insert = try database.statement(
            "INSERT INTO payload(seq, record, body, sum, file) VALUES(?, ?, ?, ?, ?)"
        )
        insert.bind(1, seq)
        insert.bind(2, record.sealed(at: seq))
        insert.bind(3, nil as [UInt8]?)
        insert.bind(4, nil as Int64?)
        insert.bind(5, nil as [UInt8]?)
        switch body {
        case .bytes(let bytes):
            insert.bind(3, bytes)
            insert.bind(4, Int64(Checksum.of(bytes, at: seq)))
        case .file(let file):
            var writer = RecordWriter()
            writer.add(file)
            insert.bind(5, writer.sealed(at: seq))
            try keep(file, for: seq)
        case .expunged: break
        }
        try insert.run()
    }

    /// Makes the file `seq`'s: from now on a start of the store leaves it alone.
    func keep(_ file: StoredBodyFile, for seq: Int64) throws(StoreError) {
        let insert = try database.statement("INSERT INTO file(name, seq, length) VALUES(?, ?, ?)")
        insert.bind(1, file.name)
        insert.bind(2, seq)
        insert.bind(3, Int64(clamping: file.length))
        try insert.run()
        volatile.fileBytes += Int64(clamping: file.length)
    }
}

extension Statement {
    /// The first column of every row; resets.
    func numbers() throws(StoreError) -> [Int64] {
        defer { reset() }
        var numbers: [Int64] = []
        while try step() { numbers.append(int(0)) }
        return numbers
    }
}
