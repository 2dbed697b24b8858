import RelayBase
import RelayJobs
import RelayRecords

extension StoreWriter {
    func apply(_ order: ActionOrder, at moment: JobMoment) throws(StoreError) -> ActionReport {
        try advance(to: moment)
        try wake()
        let (action, filter, origin) = (order.action, order.filter, order.origin)
        var query = JobQuery(database: database, filter: filter, order: .oldestFirst, after: order.cursor)
        query.names = routeNames
        query.skipsDamaged = true
        var report = ActionReport()
        let page = try query.page(limit: order.limit, timeline: volatile.timeline)
        report.next = page.next
        for job in page.jobs {
            // The log has no room for more that is erased; the next call goes on here.
            if report.matched > 0, volatile.erased >= eraseLimit {
                report.next = JobCursor(position: job.position - 1)
                break
            }
            if let scope = order.scope {
                guard job.position <= scope.last.position else { break }
                guard (try endedAt(job.position)).map({ $0 <= scope.line }) ?? true else { continue }
            }
            report.matched += 1
            guard var old = try intact(job.position) else { continue }
            if let spare = filter.spares(job) {
                report.spare(spare)
                continue
            }
            let due = order.spacing.map { StoreClock.advance(now, by: $0.delay(of: report.changed)) }
            // Saved with the change, if there is one.
            if origin != .pause, action != .drop { old.hasActions = true }
            guard let row = try apply(action, to: old, due, &report) else { continue }
            let record = ActionRecord(action, by: origin, to: row.machine.state, at: moment.wall)
            if let record { try keep(record, of: row.seq) }
            report.changes.append(self.report(row, JobChange.Cause(action, by: origin), before: old))
        }
        if let scope = order.scope, let next = report.next, next >= scope.last { report.next = nil }
        volatile.operations += UInt64(report.changed)
        return report
    }

    /// The end of a job on the store's line of time; nil of one that is not over, or damaged.
    private func endedAt(_ position: Int64) throws(StoreError) -> Int64? {
        do throws(StoreError) {
            return try database.jobRow(position)?.machine.finishedAt
        } catch {
            guard error.code == .corrupt else { throw error }
            return nil
        }
    }

    /// - Returns: the job as it is now, or as it last was; nil when nothing has changed.
    private func apply(
        _ action: JobAction,
        to old: JobRow,
        _ due: Int64?,
        _ report: inout ActionReport
    ) throws(StoreError) -> JobRow? {
        let now = now
        switch action {
        case .cancel: return try change(old) { $0.cancel(now: now) }
        case .hold: return try change(old) { $0.hold() }
        case .release: return try change(old) { $0.release(isBlocked: old.isBlocked, now: now) }
        case .retry: return try retry(old, due, &report)
        case .drop: return try drop(old) ? old : nil
        case .expunge: return old.machine.state.isTerminal && old.hasBodies ? try expunge(old) : nil
        }
    }

    /// Cancels a job that nobody was told of, or has it wait.
    func giveUp(_ job: StoreShared.Abandoned) throws(StoreError) {
        let now = now
        switch job {
        case .unclaimed(let id):
            guard let seq = try seq(of: id), let old = try intact(seq) else { return }
            if let row = try change(old, { $0.cancel(now: now) }) { tell(report(row, .unawaited)) }
        case .claimed(let token, let stays):
            guard let old = try intact(token.position), old.id == token.id else { return }
            let row = try change(old) { $0.giveUp(token: token.number, stays: stays, now: now) }
            guard let row else { return }
            // One that stays may be over all the same: cancelled or superseded since.
            if row.machine.state.isTerminal { tell(report(row, stays ? .store : .unawaited)) }
            try wakeSuccessors(of: row)
        }
    }

    private func retry(
        _ old: JobRow,
        _ due: Int64?,
        _ report: inout ActionReport
    ) throws(StoreError) -> JobRow? {
        let now = now
        guard old.machine.state.isTerminal else {
            return try change(old) { $0.hurry(isBlocked: old.isBlocked, runAt: due, now: now) }
        }
        guard old.machine.state != .succeeded else { return nil }
        guard old.hasBody else {
            report.expunged += 1
            return nil
        }
        var row = old
        if let key = old.orderingKey { row.previous = try append(old.seq, route: old.route, key: key) }
        guard row.machine.replay(isBlocked: row.isBlocked, runAt: due, now: now) else { return nil }
        try save(row, replacing: old)
        return row
    }

    /// Removes a job that does not run, with everything about it but its idempotency key.
    func drop(_ old: JobRow) throws(StoreError) -> Bool {
        guard old.machine.state != .running else { return false }
        if old.isPlain {
            try dropPlain(old)
            return true
        }
        var row = old
        if !old.machine.state.isTerminal { try unlink(&row) }
        if old.machine.isNoticeOwed { try loseNotice(of: old) }
        for label in Set((try? database.record(old.seq))?.labels ?? []) {
            let delete = try database.statement("DELETE FROM label WHERE label = ? AND seq = ?")
            delete.bind(1, label)
            delete.bind(2, old.seq)
            try delete.run()
        }
        try giveUpBodies(of: old.seq)
        for delete in [
            try database.statement("DELETE FROM payload WHERE seq = ?"),
            try database.statement("DELETE FROM job WHERE seq = ?"),
        ] {
            delete.bind(1, old.seq)
            try delete.run()
        }
        if old.machine.attempts > 0 || old.hasAnswer {
            let delete = try database.statement("DELETE FROM attempt WHERE key BETWEEN ? AND ?")
            delete.bind(1, AttemptKey.make(old.seq, 0))
            delete.bind(2, AttemptKey.make(old.seq, .max))
            try delete.run()
        }
        try removeID(old.id)
        forgetRow(old.seq)
        noteQueue(nil, before: old)
        try mark(nil, before: old)
        if old.hasActions { try forgetActions(of: old.seq) }
        count(old, -1)
        volatile.hasErased = true
        return true
    }

    /// Removes the bodies of a job that is over, and the upstream's words about it.
    @discardableResult
    func expunge(_ old: JobRow) throws(StoreError) -> JobRow {
        var row = old
        try dropContent(of: &row)
        if old.hasAnswer, var answer = try? database.answer(old.seq) {
            try giveUp(answer.body)
            answer.body = .expunged
            answer.fields = HeaderFields()
            try replaceAnswer(of: old.seq, with: answer.sealedHead(at: old.seq))
        }
        try dropQuotations(of: row)
        volatile.hasErased = true
        row.hasAnswerBody = false
        row.machine.touch()
        try save(row, replacing: old)
        return row
    }

    /// Leaves what failed, and no word of an upstream about it: a title may say of whom a request was.
    private func dropQuotations(of row: JobRow) throws(StoreError) {
        guard row.machine.attempts > 0 else { return }
        let select = try database.statement("SELECT key, record FROM attempt WHERE key BETWEEN ? AND ?")
        select.bind(1, AttemptKey.make(row.seq, 1))
        select.bind(2, AttemptKey.make(row.seq, .max))
        var quoting: [(key: Int64, attempt: Attempt)] = []
        do {
            defer { select.reset() }
            while try select.step() {
                let key = select.int(0)
                // A damaged one is told of when somebody reads it.
                guard let attempt = try? Attempt(sealed: select.bytes(1), at: key),
                    attempt.failure?.apiTitle != nil
                else { continue }
                quoting.append((key, attempt))
            }
        }
        for (key, attempt) in quoting {
            let update = try database.statement("UPDATE attempt SET record = ? WHERE key = ?")
            update.bind(1, attempt.unquoted.sealed(at: key))
            update.bind(2, key)
            try update.run()
        }
    }
}
