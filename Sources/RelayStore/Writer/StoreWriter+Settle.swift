import RelayCore

extension StoreWriter {
    func settle(_ settlements: [Settlement], at moment: JobMoment) throws(StoreError) -> [Settlement.Answer] {
        try advance(to: moment)
        var answers: [Settlement.Answer] = []
        answers.reserveCapacity(settlements.count)
        for settlement in settlements { answers.append(try settle(settlement)) }
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
                leavesDoubt: settlement.leavesDoubt,
                now: now
            )
        else { return try stale(settlement) }
        if settlement.failureKind != nil { row.machine.failureStatus = settlement.failureStatus }
        if let answer = settlement.answer {
            if old.hasAnswer { try dropAnswerFile(token.position) }
            try put(answer, of: token.position)
            row.hasAnswer = true
            row.hasAnswerBody = answer.body != .expunged
        }
        try put(settlement.attempts, after: old.machine.attempts, of: token.position)
        if row.machine.state.isTerminal {
            try unlink(&row)
            if settlement.dropsBody { try dropContent(of: &row) }
        }
        try save(row, replacing: old)
        try wakeSuccessors(of: row)
        return .applied(row.machine.state, row.machine.end)
    }

    /// Keeps attempts that follow the first `count` of a job.
    func put(
        _ attempts: [Attempt],
        after count: UInt32,
        of seq: Int64
    ) throws(StoreError) {
        for (index, attempt) in attempts.enumerated() {
            let key = AttemptKey.make(seq, Int(count) + index + 1)
            let insert = try database.statement("INSERT OR REPLACE INTO attempt(key, record) VALUES(?, ?)")
            insert.bind(1, key)
            insert.bind(2, attempt.sealed(at: key))
            try insert.run()
        }
    }

    /// Removes the request's body and all that its caller sent with it; the answer stays.
    func dropContent(of row: inout JobRow) throws(StoreError) {
        guard row.hasBody else { return }
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

    private func put(_ answer: StoredAnswer, of seq: Int64) throws(StoreError) {
        let insert = try database.statement(
            "INSERT OR REPLACE INTO answer(seq, head, body, sum) VALUES(?, ?, ?, ?)"
        )
        insert.bind(1, seq)
        insert.bind(2, answer.sealedHead(at: seq))
        switch answer.body {
        case .bytes(let bytes):
            insert.bind(3, bytes)
            insert.bind(4, Int64(Checksum.of(bytes, at: seq)))
        case .file(let file):
            insert.bind(3, nil as [UInt8]?)
            insert.bind(4, nil as Int64?)
            try keep(file, for: seq)
        case .expunged:
            insert.bind(3, nil as [UInt8]?)
            insert.bind(4, nil as Int64?)
        }
        try insert.run()
    }

    /// Gives up the file of an answer that another one replaces.
    private func dropAnswerFile(_ seq: Int64) throws(StoreError) {
        guard let old = try? database.answer(seq), case .file(let file) = old.body else { return }
        try forget(file)
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
        let select = try statement("SELECT head, body, sum FROM answer WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else { return nil }
        do throws(RecordReader.Damage) {
            let body = select.optionalBytes(1)
            if let body, Int64(Checksum.of(body, at: seq)) != select.int(2) { throw RecordReader.Damage() }
            return try StoredAnswer(sealedHead: select.bytes(0), body: body, at: seq)
        } catch { throw .damaged("the answer", "number \(seq)") }
    }
}
