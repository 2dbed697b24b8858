import RelayBase
import RelayJobs
import RelayRoute

// The calls of a program's own code, and their order.
extension Checker {
    func prepares(_ job: JobRecord) {
        if job.cancelledAt != nil, job.attemptBegan.count > 1 || job.cancelledAt != now {
            fail(job, "a request is prepared after the job was cancelled")
        }
        if job.program?.isUnprepared == true { fail(job, "a failed preparation is not final") }
        job.program?.isPreparing = true
    }

    func prepared(_ job: JobRecord, key: String?) {
        guard let program = job.program else { return }
        program.isPreparing = false
        if let made = program.madeKey, made != key { program.changesKey = true }
        program.madeKey = key
    }

    func consulted(_ job: JobRecord, _ name: String, _ context: RecoveryContext) {
        note(job, .consulted, context.attempt, context.attemptsLeft, name)
        note(.programAsked)
        job.program?.askedAt = job.program?.askedAt ?? now
        if job.cancelledAt != nil { fail(job, "a strategy is asked after the job was cancelled") }
        if job.program?.isUnprepared == true { fail(job, "a failed preparation is not final") }
        switch job.stage {
        case .attempting, .judging: break
        case .sending: fail(job, "a strategy is asked while an attempt is under way")
        case .waiting, .closing: fail(job, "a strategy is asked after it was decided what follows")
        }
        if context.attempt != job.attemptBegan.count {
            fail(job, "a strategy is told of another attempt than the last")
        }
        if context.attemptsLeft > job.maxAttempts - wire(job) {
            fail(job, "a strategy is told of more attempts than are left")
        }
        if context.timeLeft.saturatedNanoseconds != job.deadline - now {
            fail(job, "a strategy is told of another time than is left")
        }
    }

    func advised(_ job: JobRecord, _ disposition: RecoveryDisposition) {
        let word =
            switch disposition {
            case .passOn: "passes on"
            case .stop(let failure): "stops with \(failure.kind.rawValue)"
            case .retry(let request, let wait): "wants \(request.method) after \(wait)"
            }
        note(job, .advised, 0, 0, word)
    }

    func observedBegin(_ job: JobRecord, _ attempt: Attempt) {
        guard let program = job.program else { return }
        note(job, .attempted, attempt.number)
        if program.phase != .decided { fail(job, "an attempt begins before the last was decided") }
        program.phase = .began
        if attempt.number != job.attemptBegan.count + 1 || attempt.beganAt != Timeline.wall(at: now) {
            fail(job, "an attempt is told with another number or time than it has")
        }
        if job.cancelledAt != nil, !job.attemptBegan.isEmpty {
            fail(job, "an attempt begins after the job was cancelled")
        }
        if program.isUnprepared { fail(job, "a failed preparation is not final") }
        if now >= job.deadline { fail(job, "an attempt begins at or after the job's deadline") }
        switch job.stage {
        case .attempting where job.attemptBegan.isEmpty || job.isDue: break
        case .waiting(let until):
            if now != until { fail(job, "an attempt begins at another time than its rule said") }
        default: fail(job, "an attempt begins although no rule sends again")
        }
        job.isDue = false
        begin(job, at: now)
        guard let place = job.route.policy.upstreams.firstIndex(where: { $0.name == attempt.upstream }) else {
            return fail(job, "an attempt goes to an upstream the route does not have")
        }
        if place != job.attemptPlace { fail(job, "an attempt goes to another upstream than the rules say") }
        program.sending = nil
        program.hasReached = false
        program.askedAt = nil
        program.isRenamed = false
        program.accepted = nil
        job.stage = .attempting
    }

    func observedAnswer(_ job: JobRecord, _ response: HTTPResponse, _ attempt: Attempt) {
        guard let program = job.program else { return }
        if program.phase != .began { fail(job, "an observer hears of an answer out of order") }
        program.phase = .responded
        guard case .judging(.answers(let answer), _) = job.stage, answer.status == response.status.rawValue,
            attempt.number == job.attemptBegan.count
        else { return fail(job, "an observer hears of an answer nobody gave") }
    }

    func observedDecision(_ job: JobRecord, _ attempt: Attempt) {
        guard let program = job.program else { return }
        if program.phase == .decided { fail(job, "an observer hears twice of one decision") }
        if attempt.number != job.attemptBegan.count {
            fail(job, "an observer hears of another attempt than the last")
        }
        program.phase = .decided
    }
}
