import RelayBase
import RelayCore
import RelayJobs

// The outcomes of requests, and the reasons that held them back.
extension TrafficChecker {
    func began(_ job: TrafficJob) {
        tell(
            "job \(job.number), \(job.kind) of \(job.user), begins\(job.isKept ? ", kept" : ""), by \(Moment.time(job.deadline))"
        )
        jobs.append(job)
        byID[job.id] = job
    }

    func cancelled(_ job: TrafficJob) {
        guard !job.isOver else { return }
        tell("job \(job.number) is cancelled")
        job.cancelledAt = now
    }

    /// An attempt failed, and this was decided.
    func failed(_ id: JobID, _ attempt: Attempt, isDelivery: Bool) {
        guard let job = job(id, isDelivery: isDelivery), let failure = attempt.failure else { return }
        tell("job \(job.number): \(attempt)")
        checkCause(job, failure)
        let isRetried = if case .retry? = attempt.next { true } else { false }
        let isHold =
            failure.sent == .neverSent && (failure.kind == .breakerOpen || failure.kind == .rateLimited)
        // A run that goes elsewhere goes on from what it has sent.
        if job.isKept, !isHold {
            if case .failover? = attempt.next { job.goesOn = true } else { job.goesOn = false }
        }
        if isRetried { used(job) }
        let terms = job.isKept ? lastEnd?.flight.terms ?? present : job.terms
        if isHold { held(job, attempt, failure) }
        guard !job.isKept, !terms.isOff else { return }
        // A request that asked to be kept is on record later than the budget held it back.
        if job.keeping == nil, attempt.heldBack.contains(where: { $0.reason == .budgetSpent }) {
            budget.refused(job, terms, self)
        }
        budget.decided(job, retries: isRetried, terms, self)
    }

    /// An attempt was not sent because something held it back.
    private func held(_ job: TrafficJob, _ attempt: Attempt, _ failure: Failure) {
        note("held back: \(failure.kind)")
        guard let place = names.firstIndex(of: attempt.upstream), let wait = failure.retryAfter else {
            return fail(job, "what held an attempt back does not say for how long")
        }
        let until = now.addingReportingOverflow(wait.saturatedNanoseconds).partialValue
        let target: String? = if case .failover(let name)? = attempt.next { name } else { nil }
        if target != nil { job.moving += 1 }
        if failure.kind == .breakerOpen {
            // A class that has its share of what may be under way is told so by the same kind.
            if failure.detail.contains("(concurrency)") {
                checkShare(job, place)
            } else if job.keeping == nil {
                if !isOpen(place, present) {
                    fail(job, "held back by the breaker of \(names[place]), which is not open")
                }
                checkStopped(job, place)
            }
        } else {
            checkHold(job, place, until: until, isMoved: target != nil || attempt.isAnswered)
        }
        guard !job.isKept, attempt.number == 1, job.allowsFallback else { return }
        let leads = job.terms.failovers.first {
            $0.whenDown || (failure.kind == .breakerOpen ? $0.whenOpen : $0.whenLimited)
        }
        if let leads, now < job.deadline, target != names[leads.target] {
            fail(job, "does not go where a rule leads when it is held back")
        }
    }

    /// The cause that is on record of an attempt is whose fault it was.
    private func checkCause(_ job: TrafficJob, _ failure: Failure) {
        guard let sign = job.untold else { return }
        job.untold = nil
        guard let cause = sign.cause, failure.kind != .cancelled else { return }
        note("cause: \(cause.rawValue)")
        if failure.cause.rawValue != cause.rawValue {
            fail(job, "is blamed on \(failure.cause.rawValue), and \(cause.rawValue) is to blame")
        }
    }

    /// Requests like it, of which nothing is answered, have half of what the others leave.
    private func checkShare(_ job: TrafficJob, _ place: Int) {
        note("held back beyond the share of those like it")
        let side = sides[place]
        let own = side.underWay.count { $0.job.like == job.like }
        let width = min(side.width ?? .max, present.limit)
        if own * 2 < width - (side.underWay.count - own) {
            fail(job, "held back beyond a share that is not taken")
        }
        if let answered = side.answers[job.like], now - answered < 250_000_000 {
            fail(job, "held back although requests like it are answered")
        }
    }

    /// Whether a breaker may refuse an attempt now.
    func isOpen(_ place: Int, _ terms: TrafficTerms) -> Bool {
        let side = sides[place]
        if let opens = side.order(at: now) { return opens }
        guard side.openSince != nil else { return false }
        // A request whose like has probed in vain leaves the next probe to others for a moment.
        return now <= max(side.failedAt + side.pause * 12 / 10 + 1, side.probeEnded) + 250_000_000
            || side.underWay.contains { $0.order > side.changed && !$0.terms.isOff }
    }

    private func checkHold(_ job: TrafficJob, _ place: Int, until: Int64, isMoved: Bool) {
        let (terms, side) = (job.isKept ? present : job.terms, sides[place])
        let isTooFast = side.tooFast.contains { $0 > now - 61_000_000_000 }
        // A turn that leaves no time for an answer is not taken.
        let needed = terms.rate != nil || isTooFast ? terms.attempt : 1
        if !isMoved, !job.isKept, until < job.deadline - needed {
            fail(job, "fails for a hold that would have been over in time")
        }
        // An end whose part in the window's size has not been seen may have halved it.
        let width = side.width.map { side.last == nil ? $0 : max(1, $0 / 2) } ?? .max
        let isFull = side.underWay.count >= min(width, terms.limit)
        if terms.rate != nil || isTooFast || terms.window != nil && isFull { return }
        // Dates are reckoned in fractions of a second.
        if side.patience(terms.longest ?? 0, of: job.kind) < until - 1_000 {
            fail(job, "held back for \(names[place]), which has not asked for that")
        }
    }

    func checkFailover(_ flight: TrafficFlight) {
        let job = flight.job
        guard !job.isKept, job.allowsFallback, job.sent == 0, flight.place == 0, job.foundRoom,
            flight.terms.failovers.contains(where: { $0.whenLimited || $0.whenDown }),
            let longest = flight.terms.longest
        else { return }
        var side = sides[0]
        side.asked.removeAll { $0.at >= job.began || $0.isVague || $0.resource != nil }
        let until = side.sure(longest, of: job.kind, now)
        if until > job.began, until < job.deadline { fail(job, "waits although a rule leads elsewhere") }
    }

    func ended(_ job: TrafficJob, _ outcome: Outcome, stored: StoredJob?) {
        tell("job \(job.number) ends: \(outcome.failure.map { "\($0.kind)" } ?? "answered")")
        note("ended: \(outcome.failure.map { "\($0.kind)" } ?? "answered")")
        record(outcome)
        if job.isOver { fail(job, "has two outcomes") }
        job.isOver = true
        if now > job.deadline { fail(job, "an outcome comes after the deadline") }
        if let cancelledAt = job.cancelledAt, now > cancelledAt {
            fail(job, "a cancelled request does not end at once")
        }
        budget.decided(job, retries: false, job.terms, self)
        if job.sent != outcome.attempts.count(where: \.wasSent) {
            fail(job, "\(job.sent) attempts were sent, and others are told of")
        }
        checkKeeping(job, outcome, stored)
        waited(job, outcome)
        guard let failure = outcome.failure, failure.kind == .breakerOpen || failure.kind == .rateLimited
        else { return }
        if job.sent == 0, failure.sent != .neverSent { fail(job, "a request that was held counts as sent") }
        if failure.retryAfter == nil { fail(job, "a request that was held is not told for how long") }
    }
}

extension Attempt {
    /// Whether its caller is answered in the upstream's stead.
    fileprivate var isAnswered: Bool {
        switch next {
        case .respond, .respondAndKeep: true
        default: false
        }
    }

    fileprivate var wasSent: Bool {
        guard let failure, failure.sent == .neverSent else { return true }
        let unsent: [FailureKind] = [.breakerOpen, .rateLimited, .cancelled, .httpResponseTimeout]
        return !unsent.contains(failure.kind)
    }
}
