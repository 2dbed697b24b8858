import RelayBase
import RelayJobs

extension MemoryJobStore.State {
    func job(_ position: Int64) -> StoredJob? {
        guard let entry = entries[position] else { return nil }
        var job = StoredJob(
            entry.record,
            position: position,
            machine: entry.machine,
            createdAt: entry.created,
            timeline: timeline,
            bodyLength: entry.bodyLength,
            hasBody: entry.body != .expunged,
            hasAnswer: entry.answer != nil,
            hasAnswerBody: entry.answer.map { $0.body != .expunged } ?? false
        )
        if job.failureKind != nil { job.failureUpstream = entry.attempts.last?.upstream }
        return job
    }

    func page(_ filter: JobFilter, _ order: ListOrder, _ limit: Int, _ cursor: JobCursor?) -> JobPage {
        var page = JobPage()
        let start = cursor?.position ?? (order == .oldestFirst ? .min : .max)
        let found = entries.keys.sorted(by: order == .oldestFirst ? (<) : (>))
            .filter { order == .oldestFirst ? $0 > start : $0 < start }
            .compactMap { job($0) }
            .filter { filter.matches($0) }
        page.jobs = Array(found.prefix(max(0, limit)))
        if found.count > page.jobs.count, let last = page.jobs.last {
            page.next = JobCursor(position: last.position)
        }
        return page
    }

    mutating func apply(_ order: ActionOrder, at now: JobMoment) -> ActionReport {
        let (action, origin) = (order.action, order.origin)
        var report = ActionReport()
        wake()
        let page = page(order.filter, .oldestFirst, order.limit, order.cursor)
        report.next = page.next
        if let scope = order.scope, let next = report.next, next >= scope.last { report.next = nil }
        if order.isDryRun {
            for job in page.jobs { report.count(job, action, order.filter) }
            return report
        }
        let jobs = page.jobs.filter { job in
            guard let scope = order.scope else { return true }
            let ended = entries[job.position]?.machine.finishedAt
            return job.position <= scope.last.position && ended.map { $0 <= scope.line } ?? true
        }
        report.matched = jobs.count
        let spares = jobs.compactMap { job in order.filter.spares(job).map { (job.position, $0) } }
        for (_, spare) in spares { report.spare(spare) }
        let spared = spares.map(\.0)
        let cause = JobChange.Cause(action, by: origin)
        for job in jobs where !spared.contains(job.position) {
            let delay = order.spacing?.delay(of: report.changed)
            guard let entry = apply(action, to: job.position, delay, &report) else { continue }
            let record = ActionRecord(action, by: origin, to: entry.machine.state, at: now.wall)
            if let record { entries[job.position]?.actions.keep(record) }
            report.changes.append(entry.report(cause, before: job.state))
        }
        return report
    }

    mutating func begin(_ run: ActionRun) -> ActionRun? {
        guard runs.values.filter({ $0.state == .running }).count < ActionRun.mostRunning else { return nil }
        var run = run
        run.number = (runs.keys.max() ?? 0) + 1
        run.scope = ActionRun.Scope(
            last: JobCursor(position: entries.keys.max() ?? 0),
            line: timeline.now
        )
        run.version = 1
        runs[run.number] = run
        return run
    }

    mutating func advance(_ number: Int64, by step: RunStep, at now: JobMoment) -> RunAdvance? {
        guard var run = runs[number], run.state == .running else { return nil }
        let report = apply(run.order(step), at: now)
        run.add(report, at: now.wall)
        runs[number] = run
        for number in Array(runs.values).forgotten { runs[number] = nil }
        return RunAdvance(run, report)
    }

    /// - Returns: the job as it is now, or as it last was; nil when nothing has changed.
    mutating func apply(
        _ action: JobAction,
        to position: Int64,
        _ delay: Duration?,
        _ report: inout ActionReport
    ) -> MemoryJobStore.Entry? {
        let now = timeline.now
        guard let entry = entries[position] else { return nil }
        let blocked = isBlocked(position)
        let isChanged =
            switch action {
            case .cancel: change(position) { $0.cancel(now: now) }
            case .hold: change(position) { $0.hold() }
            case .release: change(position) { $0.release(isBlocked: blocked, now: now) }
            case .drop: drop(position)
            case .expunge:
                entry.machine.state.isTerminal && entry.hasBodies && expunge(position)
            case .retry: retry(position, delay.map { StoreClock.advance(now, by: $0) }, &report)
            }
        return isChanged ? entries[position] ?? entry : nil
    }

    private mutating func retry(_ position: Int64, _ due: Int64?, _ report: inout ActionReport) -> Bool {
        guard let entry = entries[position] else { return false }
        let now = timeline.now
        let blocked = isBlocked(position)
        guard entry.machine.state.isTerminal else {
            return change(position) { $0.hurry(isBlocked: blocked, runAt: due, now: now) }
        }
        guard entry.machine.state != .succeeded else { return false }
        guard entry.body != .expunged else {
            report.expunged += 1
            return false
        }
        entries[position]?.turn = nextTurn
        nextTurn += 1
        let behind = isBlocked(position)
        return change(position) { $0.replay(isBlocked: behind, runAt: due, now: now) }
    }

    mutating func drop(_ position: Int64) -> Bool {
        guard let entry = entries[position], entry.machine.state != .running else { return false }
        entries[position] = nil
        owing.remove(position)
        count(entry.machine.state, -1)
        positions[entry.record.id] = nil
        if !entry.machine.state.isTerminal { wakeBehind(entry) }
        return true
    }

    @discardableResult
    mutating func expunge(_ position: Int64) -> Bool {
        entries[position]?.dropContent()
        entries[position]?.answer?.body = .expunged
        if let attempts = entries[position]?.attempts {
            entries[position]?.attempts = attempts.map(\.unquoted)
        }
        entries[position]?.machine.touch()
        return true
    }

    mutating func sweep(_ retention: Retention, limit: Int) -> SweepReport {
        wake()
        var report = SweepReport()
        let now = timeline.now
        func before(_ age: Duration) -> Int64 { now - age.saturatedNanoseconds / 1_000_000 }
        let youngest = before(min(retention.succeeded, retention.dead, retention.bodies))
        // A look at every job, each second, would take a large store long.
        guard firstExpiry <= now || firstAccepted <= youngest else { return report }
        let due = entries.filter { ($0.value.machine.expiresAt ?? .max) <= now }
            .filter { !$0.value.machine.state.isTerminal && $0.value.machine.state != .running }
            .sorted { ($0.value.machine.expiresAt ?? 0, $0.key) < ($1.value.machine.expiresAt ?? 0, $1.key) }
        report.hasMore = due.count > limit
        for (position, _) in due.prefix(limit) where change(position, { $0.expire(now: now) }) {
            if let entry = entries[position] { report.ended.append(entry.report()) }
        }
        for state in [JobState.succeeded, .dead, .cancelled, .expired] {
            let finished = entries.filter { $0.value.machine.state == state }
                .sorted {
                    ($0.value.machine.finishedAt ?? 0, $0.key) < ($1.value.machine.finishedAt ?? 0, $1.key)
                }
            func isDue(_ entry: MemoryJobStore.Entry, _ age: Duration) -> Bool {
                (entry.machine.finishedAt ?? .max) <= before(age)
            }
            let age = state == .succeeded ? retention.succeeded : retention.dead
            let old = finished.filter { isDue($0.value, age) }
            for (position, _) in old.prefix(limit) where drop(position) { report.removed += 1 }
            let bare = finished.filter { isDue($0.value, retention.bodies) && $0.value.hasBodies }
                .filter { entries[$0.key] != nil }
            for (position, _) in bare.prefix(limit) {
                expunge(position)
                report.expunged += 1
            }
            if old.count > limit || bare.count > limit { report.hasMore = true }
        }
        return report
    }
}
