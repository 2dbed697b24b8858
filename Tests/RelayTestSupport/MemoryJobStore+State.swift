import RelayBase
import RelayJobs

extension MemoryJobStore.State {
    mutating func advance(to moment: JobMoment) {
        if timeline.advance(to: moment) { redate() }
    }

    /// The clock has stepped: what is due at a date is due at another point of the line.
    mutating func redate() {
        for position in entries.keys {
            guard let date = entries[position]?.date else { continue }
            let runAt = timeline.line(ofWall: date)
            change(position) { $0.redate(runAt: runAt) }
        }
        wake()
    }

    func isBlocked(_ position: Int64) -> Bool {
        guard let entry = entries[position], let key = entry.record.orderingScope else { return false }
        return entries.values.contains {
            $0.record.route == entry.record.route && $0.record.orderingScope == key && $0.turn < entry.turn
                && !$0.machine.state.isTerminal
        }
    }

    /// Changes a job and, when that ends it, wakes the one behind it.
    @discardableResult
    mutating func change(_ position: Int64, _ step: (inout JobStateMachine) -> Bool) -> Bool {
        guard var entry = entries[position] else { return false }
        let was = entry.machine
        guard step(&entry.machine) else { return false }
        if entry.machine.finishedAt != nil, was.finishedAt == nil {
            entry.machine.finishedAt = timeline.latest
        }
        if entry.machine.state.isTerminal, !was.state.isTerminal, entry.dropsContent { entry.dropContent() }
        entries[position] = entry
        if entry.machine.isNoticeOwed { owing.insert(position) } else { owing.remove(position) }
        count(was.state, -1)
        count(entry.machine.state, 1)
        let machine = entry.machine
        queue(position)
        if machine.isAwaited, !was.isAwaited || machine.runAt < was.runAt || machine.isReady && !was.isReady {
            note(machine, entry.record.route)
        }
        if entry.machine.state.isTerminal, !was.state.isTerminal { wakeBehind(entry) }
        return true
    }

    private mutating func note(_ machine: JobStateMachine, _ route: String) {
        let due = machine.isReady ? machine.runAt : .max
        ready[route, default: FreshWork()].add(dueAt: due, now: timeline.now)
    }

    /// Remembers a job whose end nobody hears of otherwise.
    mutating func tell(_ position: Int64) {
        if let entry = entries[position] { ended.append(entry.report()) }
    }

    mutating func wakeBehind(_ entry: MemoryJobStore.Entry) {
        guard let key = entry.record.orderingScope else { return }
        let line = timeline.now
        let next = entries.filter {
            $0.value.record.route == entry.record.route && $0.value.record.orderingScope == key
                && $0.value.turn > entry.turn && !$0.value.machine.state.isTerminal
        }.min { $0.value.turn < $1.value.turn }
        if let next, !isBlocked(next.key) { change(next.key) { $0.wake(now: line) } }
    }

    mutating func enqueue(_ job: NewJob, at moment: JobMoment) -> EnqueueResult {
        let now = timeline.now
        let record = job.record
        if job.lacksCapacity, job.idempotency == nil { return .abandoned }
        if let idempotency = job.idempotency {
            let name = MemoryJobStore.KeyName(
                user: idempotency.user,
                route: record.route,
                key: idempotency.key
            )
            if let known = keys[name], known.until > now {
                return known.fingerprint == idempotency.fingerprint
                    ? .duplicate(known.id) : .conflict(known.id)
            }
            if job.lacksCapacity { return .abandoned }
            keys[name] = MemoryJobStore.KnownKey(
                id: record.id,
                fingerprint: idempotency.fingerprint,
                until: StoreClock.advance(timeline.latest, by: idempotency.window)
            )
        }
        if positions[record.id] != nil { return .duplicate(record.id) }
        if let key = record.supersedeScope { supersede(key, record.route) }
        var date: Int64?
        let runAt: Int64
        switch job.due {
        case .now: runAt = now
        case .after(let delay): runAt = StoreClock.advance(now, by: delay)
        case .date(let wall):
            date = wall
            runAt = timeline.line(ofWall: wall)
        }
        let isBlocked =
            record.orderingScope != nil
            && entries.values.contains {
                $0.record.route == record.route && $0.record.orderingScope == record.orderingScope
                    && !$0.machine.state.isTerminal
            }
        var machine = JobStateMachine(
            runAt: runAt,
            expiresAt: job.expiresAfter.map { StoreClock.advance(timeline.latest, by: $0) },
            mayRepeat: record.mayRepeat,
            asksFirst: record.asksFirst,
            notifies: record.notifies,
            isDated: date != nil,
            isBlocked: isBlocked,
            now: now
        )
        if let past = job.past { machine.inherit(past) }
        var token: ClaimToken?
        if let upstream = job.upstream, job.wait?.isGivenUp != true, machine.isReady,
            !hasDue(record.route), !isRunning(before: nextPosition, record),
            machine.claim(token: nextToken, BegunAttempt(upstream: upstream, beganAt: moment.wall), now: now)
        {
            token = ClaimToken(id: record.id, position: nextPosition, number: nextToken)
            nextToken += 1
        }
        if machine.isAwaited { note(machine, record.route) }
        entries[nextPosition] = MemoryJobStore.Entry(
            record: record,
            body: job.body,
            bodyLength: job.body.length,
            machine: machine,
            date: date,
            created: moment.wall,
            turn: nextTurn,
            dropsContent: job.dropsContent
        )
        count(machine.state, 1)
        firstExpiry = min(firstExpiry, machine.expiresAt ?? .max)
        firstAccepted = min(firstAccepted, now)
        queue(nextPosition)
        if let past = job.past { add(past.attempts, after: 0, of: nextPosition) }
        positions[record.id] = nextPosition
        nextPosition += 1
        nextTurn += 1
        return token.map { .running($0) } ?? .accepted
    }

    /// Nobody waited any more for a job that was accepted: it ends, or waits if it is to stay.
    mutating func giveUp(_ job: NewJob, _ result: EnqueueResult) {
        let now = timeline.now
        guard result.isAccepted, let position = positions[job.record.id] else { return }
        let isChanged =
            if case .running(let token) = result {
                change(position) { $0.giveUp(token: token.number, stays: job.staysGivenUp, now: now) }
            } else {
                !job.staysGivenUp && change(position) { $0.cancel(now: now) }
            }
        if isChanged, entries[position]?.machine.state.isTerminal == true { tell(position) }
        wakeSuccessors(of: position)
    }

    private mutating func supersede(_ key: String, _ route: String) {
        let now = timeline.now
        for position in entries.keys.sorted() {
            guard let entry = entries[position], entry.record.route == route,
                entry.record.supersedeScope == key, change(position, { $0.supersede(now: now) })
            else { continue }
            if entries[position]?.machine.state.isTerminal == true { tell(position) }
        }
    }

    /// Whether an older job with its supersede key is with the upstream.
    private func isRunning(before position: Int64, _ record: JobRecord) -> Bool {
        guard let key = record.supersedeScope else { return false }
        return entries.contains {
            $0.key < position && $0.value.record.route == record.route
                && $0.value.record.supersedeScope == key && $0.value.machine.state == .running
        }
    }

    /// A job has come to rest: whoever waited for that may go.
    mutating func wakeSuccessors(of position: Int64) {
        guard let record = entries[position]?.record, let key = record.supersedeScope else { return }
        let now = timeline.now
        for (other, entry) in entries
        where entry.record.route == record.route && entry.record.supersedeScope == key
            && entry.machine.state == .queued && !isBlocked(other)
        {
            change(other) { $0.wake(now: now) }
        }
    }

    mutating func begin(_ next: NextAttempt, at moment: JobMoment) -> Bool {
        let position = next.token.position
        guard let before = entries[position], before.record.id == next.token.id else { return false }
        if next.isResend { return change(position) { $0.resend(token: next.token.number) } }
        let isBegun = change(position) {
            $0.begin(
                token: next.token.number,
                BegunAttempt(upstream: next.upstream, beganAt: moment.wall),
                attempts: UInt32(next.earlier.count),
                spent: UInt32(next.earlier.count { $0.isSpent }),
                kind: next.earlier.last?.failure?.kind
            )
        }
        if isBegun, let last = next.earlier.last { entries[position]?.machine.failureStatus = last.status }
        if isBegun { add(next.earlier, after: before.machine.attempts, of: position) }
        return isBegun
    }

    mutating func note(_ attempt: Attempt, of id: JobID) -> Bool {
        guard let position = entries.first(where: { $0.value.record.id == id })?.key,
            let before = entries[position], change(position, { $0.note(number: attempt.number) })
        else { return false }
        add([attempt], after: before.machine.attempts, of: position)
        return true
    }

    /// Keeps attempts that follow the first `count` of a job.
    mutating func add(_ attempts: [Attempt], after count: UInt32, of position: Int64) {
        for (index, attempt) in attempts.enumerated() {
            var numbered = attempt
            numbered.number = Int(count) + index + 1
            entries[position]?.attempts.append(numbered)
        }
    }

    mutating func claim(_ route: String, limit: Int, _ begun: BegunAttempt) -> ClaimBatch {
        wake()
        var batch = ClaimBatch()
        while batch.claims.count < limit, let next = nextInTurn(route) {
            // One that may not be claimed has let others go.
            guard let claim = claim(next.position, begun) else { continue }
            turns[route, default: ClaimTurns()].took(
                Int(claim.job.record.urgency),
                next.party,
                next.urgencies
            )
            batch.claims.append(claim)
        }
        if batch.claims.count < limit { batch.nextDue = nextDue(route) }
        return batch
    }

    private mutating func claim(_ position: Int64, _ begun: BegunAttempt) -> Claim? {
        let now = timeline.now
        guard let entry = entries[position] else { return nil }
        if change(position, { $0.expire(now: now) }) {
            tell(position)
            return nil
        }
        if let end = entry.machine.expiresAt, timeline.isDoubtful(end) {
            let time = timeline.beliefAt
            change(position) { $0.postpone(until: time) }
            return nil
        }
        if isRunning(before: position, entry.record) {
            change(position) { $0.block() }
            return nil
        }
        let number = nextToken
        nextToken += 1
        guard change(position, { $0.claim(token: number, begun, now: now) }), let job = job(position) else {
            return nil
        }
        let token = ClaimToken(id: entry.record.id, position: position, number: number)
        return Claim(token: token, job: job, body: entry.body)
    }

    mutating func settle(_ settlement: Settlement) -> Settlement.Answer {
        let token = settlement.token
        let now = timeline.now
        guard let before = entries[token.position], before.record.id == token.id else { return .stale }
        let isSettled = change(token.position) {
            $0.settle(
                token: token.number,
                settlement.ending,
                attempts: UInt32(settlement.attempts.count),
                spent: UInt32(settlement.attempts.count { $0.isSpent }),
                kind: settlement.failureKind,
                isUncertain: settlement.isUncertain,
                isSettled: settlement.isSettled,
                now: now
            )
        }
        guard isSettled, var entry = entries[token.position] else { return .stale }
        if settlement.failureKind != nil { entry.machine.failureStatus = settlement.failureStatus }
        if let answer = settlement.answer { entry.answer = answer }
        if settlement.dropsBody, entry.machine.state.isTerminal { entry.dropContent() }
        entries[token.position] = entry
        add(settlement.attempts, after: before.machine.attempts, of: token.position)
        wakeSuccessors(of: token.position)
        return .applied(entry.machine.state, entry.machine.end)
    }
}

extension MemoryJobStore.Entry {
    /// Whether there is anything left to expunge.
    var hasBodies: Bool { body != .expunged || answer.map { $0.body != .expunged } ?? false }

    func report(_ cause: JobChange.Cause = .store, before: JobState? = nil) -> JobChange {
        JobChange(
            id: record.id,
            route: record.route,
            user: record.submitter?.user,
            state: machine.state,
            reason: machine.reason,
            end: machine.end,
            attemptCount: Int(machine.attempts),
            cause: cause,
            isRevived: before?.isTerminal == true && !machine.state.isTerminal
        )
    }
}

extension JobRecord {
    /// Its priority, of which there are eight.
    var urgency: UInt8 { min(priority, 7) }
}
