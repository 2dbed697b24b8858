import RelayBase
import RelayJobs
import RelayRoute
import RelayTestSupport

/// Holds the durable side of the engine to its promises, by what crosses its borders.
final class DurableChecker: SimulatedChecker<String> {
    var routes: [DurableRoute] = []
    var jobs: [DurableFacts] = []
    var byID: [JobID: DurableFacts] = [:]
    var flights: [ObjectIdentifier: DurableFlight] = [:]
    /// The events that belong to no single job.
    private var story: [(at: Int64, what: String)] = []

    /// The callers that wait for a job, each by a number of its own.
    var waiters: [Int: (job: DurableFacts, since: Int64, deadline: Int64)] = [:]
    private var keys: [String: (job: DurableFacts, fingerprint: [UInt8], until: Int64, lag: Int64)] = [:]
    private var nextTurn = 0
    /// Notices that a process has made of endings, whether they are on disk or not.
    var offered: [JobID: NewJob] = [:]
    private var gates: Set<String> = []
    /// Until when the wall clock was how far ahead.
    var offsets: [(from: Int64, milliseconds: Int64)] = [(0, 0)]
    /// How far the store's line is behind the steady clock at the most: a start whose clock is behind the line counts none of
    /// the time before it, until the clock has come back to the line.
    private var lag: Int64 = 0
    /// When a call that changes something last came to the store.
    var lastContact: Int64 = 0

    /// Rounding to milliseconds, twice.
    static let rounding: Int64 = 2_000_000

    private(set) var life = 0

    func tell(_ job: DurableFacts?, _ what: String) {
        if let job { job.story.append((now, what)) } else { story.append((now, what)) }
        hash.mix(UInt64(bitPattern: now))
        hash.mix(UInt64(truncatingIfNeeded: job?.number ?? -1))
        hash.mix(what)
    }

    func fail(_ job: DurableFacts?, _ sentence: String) {
        tell(job, "BROKEN: \(sentence)")
        fail(job?.number ?? -1, sentence) {
            ((job?.story ?? []) + story.suffix(40)).sorted { $0.at < $1.at }
                .map { "  \(Moment.time($0.at)) \($0.what)" }
        }
    }

    func route(_ name: String) -> DurableRoute? { routes.first { $0.name == name } }

    func enqueued(_ new: NewJob, _ answer: EnqueueResult, at asked: JobMoment) {
        guard let job = byID[new.record.id] else { return fail(nil, "a job is kept that nobody handed over") }
        let name = new.idempotency.map { "\($0.user) \(new.record.route) \($0.key)" }
        let known = name.flatMap { keys[$0] }
        let isClose =
            known.map {
                now >= $0.until - 2 * DurableChecker.rounding
                    && now <= $0.until + lag - $0.lag + 2 * DurableChecker.rounding
            } ?? false
        if let known, !isClose, known.until > now {
            let expected: EnqueueResult =
                known.fingerprint == new.idempotency?.fingerprint
                ? .duplicate(known.job.id) : .conflict(known.job.id)
            note(known.fingerprint == new.idempotency?.fingerprint ? "key known" : "key conflict")
            if answer != expected { fail(job, "an idempotency key gives a second job, or another one") }
            return
        }
        guard answer.isAccepted else {
            if !isClose, !new.lacksCapacity {
                fail(job, "an idempotency key that nobody has used gives another's job")
            }
            return
        }
        store(job, new, asked.steady * 1_000_000)
        if case .running = answer {
            note("claimed with its acceptance")
            claimed(job, attempts: 0, route: new.record.route)
        }
        if let name, let key = new.idempotency {
            keys[name] = (job, key.fingerprint, now + key.window.saturatedNanoseconds, lag)
        }
    }

    /// The delay that was asked for counts from `asked`, when the call began; the store may count from a later moment.
    func store(_ job: DurableFacts, _ new: NewJob, _ asked: Int64) {
        tell(
            job,
            "is on disk, due \(new.due)\(new.record.orderingKey.map { ", in the order of \($0)" } ?? "")"
        )
        job.isStored = true
        job.storedAt = now
        nextTurn += 1
        job.turn = nextTurn
        job.orderingKey = new.record.orderingScope
        job.lag = lag
        if let delay = new.expiresAfter { job.expiresAt = now.addingSaturating(delay.saturatedNanoseconds) }
        job.notBefore = asked
        switch new.due {
        case .now: break
        case .after(let delay): job.notBefore = asked + delay.saturatedNanoseconds
        case .date(let date): job.date = date
        }
    }

    func claimed(_ claim: StoredJob) {
        guard let job = byID[claim.record.id] else { return }
        claimed(job, attempts: claim.attempts, route: claim.record.route)
        gates.remove(claim.record.route)
    }

    private func claimed(_ job: DurableFacts, attempts: Int, route name: String) {
        tell(job, "is claimed")
        job.runningSince = now
        (job.onRecord, job.sentInRun) = (attempts, 0)
        route(name)?.lastClaim = now
    }

    func recorded(_ next: NextAttempt) {
        guard let job = byID[next.token.id] else { return }
        tell(job, "goes on with another attempt")
        note("attempt on record within a run")
        job.onRecord += next.earlier.count
        job.spent += next.earlier.count { $0.isSpent }
        job.unsettled.removeFirst(min(next.earlier.count, job.unsettled.count))
        if next.earlier.contains(where: { $0.lookUp == nil }) { job.isSettled = true }
    }

    func settled(
        _ said: Settlement,
        _ kept: Settlement,
        _ answer: Settlement.Answer,
        _ now: StoredJob?,
        at asked: JobMoment
    ) {
        guard let job = byID[said.token.id] else { return }
        tell(job, "is settled: \(kept.ending)")
        guard case .applied(let state, _) = answer else { return fail(job, "a settlement comes too late") }
        note("settled \(name(said.ending))")
        job.runningSince = nil
        job.strandedSince = nil
        let made = job.unsettled.count { $0 != .none && $0 != .never && $0 != .crashed && $0 != .asked }
        let counted = kept.attempts.count { $0.isSpent }
        // An attempt that a stop met on the wire may have been answered, for all the relay knows, and does not count.
        if counted > made { fail(job, "more attempts are counted than were made") }
        job.spent += counted
        // A run that has sent nothing says nothing of an earlier one that a crash cut short.
        if job.unsettled.contains(where: { $0 != .asked }) { job.isSettled = true }
        job.unsettled = []
        let stored = asked.steady * 1_000_000
        switch said.ending {
        case .retry(let wait, _):
            job.notBefore = stored + wait.saturatedNanoseconds
            job.date = nil
            let asks = if case .verify? = said.attempts.last?.next { true } else { false }
            // A run that an operator had begun before its question's time has sent nothing, and waits for that time.
            let settling = routes[job.route].policy.verification?.settleAfter ?? .zero
            let isEarly = said.attempts.isEmpty && wait <= settling
            if let route = route(job.route), wait < route.schedule[0], !asks, !isEarly {
                fail(job, "a wait is shorter than its schedule")
            }
        case .requeued(let wait, let reason):
            job.notBefore = max(
                min(job.notBefore, stored),
                wait > .zero ? stored + wait.saturatedNanoseconds : 0
            )
            job.date = nil
            if reason == .credentials { gates.insert(routes[job.route].name) }
        case .held:
            // An operator that lets it go on wants it sent, whatever it has behind it.
            if let route = route(job.route) { job.spent = min(job.spent, route.maxAttempts - 1) }
            job.notBefore = min(job.notBefore, stored)
            job.date = nil
        case .dead(let reason): died(job, reason)
        case .succeeded, .cancelled, .expired: break
        }
        if said.ending == .succeeded, job.last != .success, !job.isFound {
            fail(job, "a job has succeeded that no upstream took")
        }
        job.isHeld = now?.state == .held
        if state.isTerminal { over(job, state) }
    }

    /// The end says what may have become of a job that may not be repeated.
    private func died(_ job: DurableFacts, _ reason: EndReason) {
        guard let route = route(job.route), reason != .corrupt else { return }
        let isSafe = job.method.isIdempotent || job.isKeyed || route.methods == .any
        let isOpen = job.mayHaveActed || job.last != .none && job.last != .never && job.last != .failed
        if reason.rawValue == "outcome_unknown" || reason.rawValue == "not_repeatable" {
            if isSafe || !isOpen { fail(job, "a job is given up as \(reason.rawValue) that was refused") }
        } else if !isSafe, !job.isAbsent, job.last == .unknown || job.last == .answered {
            fail(job, "a job that may have been carried out ends as \(reason.rawValue)")
        }
    }

    private func route(_ number: Int) -> DurableRoute? {
        routes.indices.contains(number) ? routes[number] : nil
    }

    private func name(_ ending: Settlement.Ending) -> String {
        switch ending {
        case .succeeded: "succeeded"
        case .dead(let reason): "dead \(reason.rawValue)"
        case .retry: "retry"
        case .requeued(_, let reason): "back \(reason?.name ?? "at once")"
        case .held(let reason): "held \(reason.name)"
        case .cancelled: "cancelled"
        case .expired: "expired"
        }
    }

    func over(_ job: DurableFacts, _ state: JobState) {
        guard job.overSince == nil else { return }
        job.overSince = now
        job.overLife = life
        tell(job, "is over: \(state.name)")
    }

    func isGateShut(_ route: String) -> Bool { gates.contains(route) }

    func held(_ id: JobID) { byID[id]?.isHeld = true }

    func expired(_ id: JobID) {
        guard let job = byID[id] else { return }
        note("expired while it waited")
        if job.expiresAt - 1_000_000_000 > now { fail(job, "a job expires before its time") }
        over(job, .expired)
    }

    /// The effect of an action on the jobs, told by the difference.
    func applied(
        _ action: JobAction,
        _ before: [StoredJob],
        _ after: [StoredJob],
        _ spacing: JobSpacing?,
        at asked: JobMoment
    ) {
        var later: [JobID: StoredJob] = [:]
        for job in after { later[job.record.id] = job }
        var changed = 0
        for was in before {
            guard let job = byID[was.record.id] else { continue }
            guard let now = later[was.record.id] else {
                tell(job, "is dropped")
                job.isDropped = true
                over(job, was.state)
                continue
            }
            guard now.version != was.version else { continue }
            // Its date may have come, whatever was asked.
            if was.state == .scheduled, isDue(job, asked.wall) { continue }
            // Another job's end may have woken it.
            guard action == .retry || now.state != .queued || was.reason != .ordering else { continue }
            tell(job, "\(action.rawValue): \(was.state.name) is \(now.state.name)")
            note("\(action.rawValue) of a \(was.state.name) job")
            job.isHeld = now.state == .held
            if now.state.isTerminal {
                over(job, now.state)
            } else {
                (job.overSince, job.isEndTold) = (nil, false)
            }
            guard action == .retry else { continue }
            if was.owesNotice { note("retried while it owed its notice") }
            let due = asked.steady * 1_000_000 + (spacing?.delay(of: changed).saturatedNanoseconds ?? 0)
            changed += 1
            if spacing != nil { note("retried with a rate") }
            job.notBefore = was.state.isTerminal || was.state == .held ? due : min(job.notBefore, due)
            job.date = nil
            guard was.state.isTerminal else { continue }
            nextTurn += 1
            job.turn = nextTurn
            job.replays += 1
            job.spent = 0
            job.expiresAt = .max
            (job.last, job.isSettled) = (.none, true)
        }
    }

    func paused(_ name: String, until: Int64?, wall: Int64) {
        tell(nil, "\(name) is paused")
        note(until == nil ? "paused" : "paused for a while")
        guard let route = route(name) else { return }
        if route.pausedUntil == nil { route.pausedSince = now }
        route.pausedUntil = .some(until)
        route.pauseEnd = until.map { now + ($0 - wall) * 1_000_000 }
    }

    func resumed(_ name: String) {
        tell(nil, "\(name) goes on")
        route(name)?.pausedUntil = nil
    }

    func lastMoment(of job: DurableFacts) -> Int64 { job.expiresAt.addingSaturating(lag - job.lag) }

    /// A process starts: what is left of a pause is what the wall clock says now.
    func started(_ number: Int, wall: Int64) {
        life = number
        let behind = -(offsets.last?.milliseconds ?? 0) * 1_000_000 - lag
        if behind > 0, number > 0 {
            note("started behind the line")
            lag += min(behind, now - lastContact)
        }
        for route in routes {
            guard case .some(.some(let until)) = route.pausedUntil, let end = route.pauseEnd else { continue }
            route.pauseEnd = min(end, now + (until - wall) * 1_000_000)
        }
    }

    /// Ends the pauses whose time has come: in the process that began one by the steady clock, in a later one by
    /// what the wall clock says when it starts.
    func look(at wall: Int64) {
        for route in routes {
            guard case .some(.some(let until)) = route.pausedUntil, let end = route.pauseEnd else { continue }
            if until <= wall || end <= now { route.pausedUntil = nil }
        }
    }
}
