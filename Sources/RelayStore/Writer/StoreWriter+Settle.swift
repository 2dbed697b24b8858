import RelayBase
import RelayJobs
import RelayRecords

extension StoreWriter {
    func settle(_ settlements: [Settlement], at moment: JobMoment) throws(StoreError) -> [Settlement.Answer] {
        try advance(to: moment)
        var answers: [Settlement.Answer] = []
        answers.reserveCapacity(settlements.count)
        for settlement in settlements {
            if let answer = try settlePlain(settlement) {
                answers.append(answer)
            } else {
                answers.append(try settle(settlement))
            }
        }
        volatile.operations += UInt64(settlements.count)
        return answers
    }

    private func settle(_ settlement: Settlement) throws(StoreError) -> Settlement.Answer {
        let token = settlement.token
        let attempts = UInt32(clamping: settlement.attempts.count)
        let spent = UInt32(clamping: settlement.attempts.count { $0.isSpent })
        let now = now
        guard let old = try intact(token.position), old.id == token.id else { return try stale(settlement) }
        var row = old
        guard
            row.machine.settle(
                token: token.number,
                settlement.ending,
                attempts: attempts,
                spent: spent,
                kind: settlement.failureKind,
                isUncertain: settlement.isUncertain,
                isSettled: settlement.isSettled,
                now: now
            )
        else { return try stale(settlement) }
        if settlement.failureKind != nil { row.machine.failureStatus = settlement.failureStatus }
        if let answer = settlement.answer {
            if old.hasAnswer { try dropAnswer(of: token.position) }
            row.hasAnswer = true
            row.hasAnswerBody = answer.body != .expunged
        }
        try put(
            settlement.attempts,
            after: old.machine.attempts,
            of: token.position,
            with: settlement.answer
        )
        if row.machine.state.isTerminal {
            try unlink(&row)
            if settlement.dropsBody || row.dropsContent { try dropContent(of: &row) }
        }
        try save(row, replacing: old)
        try wakeSuccessors(of: row)
        return .applied(row.machine.state, row.machine.end)
    }

    /// Keeps what became of telling an upstream to stop the operation of a cancelled job.
    func note(_ attempt: Attempt, of id: JobID, at moment: JobMoment) throws(StoreError) -> Bool {
        try advance(to: moment)
        guard let seq = try seq(of: id), let old = try intact(seq),
            try change(old, { $0.note(number: attempt.number) }) != nil
        else { return false }
        try put([attempt], after: old.machine.attempts, of: seq, with: nil)
        return true
    }

    /// Keeps attempts that follow the first `count` of a job, and an answer with the last of them.
    func put(
        _ attempts: [Attempt],
        after count: UInt32,
        of seq: Int64,
        with answer: StoredAnswer?
    ) throws(StoreError) {
        for (index, attempt) in attempts.enumerated() {
            let key = AttemptKey.make(seq, Int(count) + index + 1)
            let isLast = index + 1 == attempts.count
            try put(attempt.sealed(at: key), at: key, of: seq, with: isLast ? answer : nil)
        }
        // Nobody was asked for it.
        if attempts.isEmpty, let answer { try put([], at: AttemptKey.make(seq, 0), of: seq, with: answer) }
    }

    private func put(
        _ record: [UInt8],
        at key: Int64,
        of seq: Int64,
        with answer: StoredAnswer?
    ) throws(StoreError) {
        let insert = try database.statement(
            "INSERT OR REPLACE INTO attempt(key, record, head, body, sum) VALUES(?, ?, ?, ?, ?)"
        )
        insert.bind(1, key)
        insert.bind(2, record)
        insert.bind(3, answer?.sealedHead(at: seq))
        switch answer?.body {
        case .bytes(let bytes)?:
            insert.bind(4, bytes)
            insert.bind(5, Int64(Checksum.of(bytes, at: seq)))
        case .file(let file)?:
            insert.bind(4, nil as [UInt8]?)
            insert.bind(5, nil as Int64?)
            try keep(file, for: seq)
        case .expunged?, nil:
            insert.bind(4, nil as [UInt8]?)
            insert.bind(5, nil as Int64?)
        }
        try insert.run()
    }

    /// Removes the request's body and all that its caller sent with it; the answer stays.
    func dropContent(of row: inout JobRow) throws(StoreError) {
        guard row.hasBody else { return }
        if row.isPlain { try unfold(row.seq) }
        if let payload = try? database.payload(row.seq) { try giveUp(payload.body) }
        let update = try database.statement(
            """
            UPDATE payload SET record = coalesce(?2, record), body = NULL, sum = NULL, file = NULL WHERE seq = ?1
            """
        )
        update.bind(1, row.seq)
        update.bind(2, (try? database.record(row.seq))?.expunged.sealed(at: row.seq))
        try update.run()
        row.hasBody = false
        volatile.hasErased = true
    }

    private func stale(_ settlement: Settlement) throws(StoreError) -> Settlement.Answer {
        if case .file(let file)? = settlement.answer?.body { volatile.orphans.append(file.name) }
        return .stale
    }

    /// Gives up an answer that another one replaces.
    private func dropAnswer(of seq: Int64) throws(StoreError) {
        if let old = try? database.answer(seq), case .file(let file) = old.body { try forget(file) }
        try replaceAnswer(of: seq, with: nil)
    }

    /// Leaves no more of an answer than this head.
    func replaceAnswer(of seq: Int64, with head: [UInt8]?) throws(StoreError) {
        let update = try database.statement(
            """
            UPDATE attempt SET head = ?, body = NULL, sum = NULL WHERE key BETWEEN ? AND ? AND head IS NOT NULL
            """
        )
        update.bind(1, head)
        update.bind(2, AttemptKey.make(seq, 0))
        update.bind(3, AttemptKey.make(seq, .max))
        try update.run()
    }

    func forget(_ file: StoredBodyFile) throws(StoreError) {
        let delete = try database.statement("DELETE FROM file WHERE name = ?")
        delete.bind(1, file.name)
        try delete.run()
        volatile.orphans.append(file.name)
        volatile.fileBytes -= Int64(clamping: file.length)
    }

    /// Gives up a body that is about to be erased.
    func giveUp(_ body: StoredBody) throws(StoreError) {
        switch body {
        case .file(let file): try forget(file)
        case .bytes(let bytes): volatile.erased += bytes.count
        case .expunged: break
        }
    }

    /// Gives up every body of a job.
    func giveUpBodies(of seq: Int64) throws(StoreError) {
        if let payload = try? database.payload(seq) { try giveUp(payload.body) }
        if let answer = try? database.answer(seq) { try giveUp(answer.body) }
    }
}

extension Database {
    func answer(_ seq: Int64) throws(StoreError) -> StoredAnswer? {
        let select = try statement(
            """
            SELECT head, body, sum FROM attempt WHERE key BETWEEN ? AND ? AND head IS NOT NULL
            ORDER BY key DESC LIMIT 1
            """
        )
        select.bind(1, AttemptKey.make(seq, 0))
        select.bind(2, AttemptKey.make(seq, .max))
        defer { select.reset() }
        guard try select.step() else { return try ended(seq)?.answer }
        do throws(RecordReader.Damage) {
            let body = select.optionalBytes(1)
            if let body, Int64(Checksum.of(body, at: seq)) != select.int(2) { throw RecordReader.Damage() }
            return try StoredAnswer(sealedHead: select.bytes(0), body: body, at: seq)
        } catch { throw .damaged("the answer", "number \(seq)") }
    }
}
