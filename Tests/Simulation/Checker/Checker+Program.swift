import RelayBase
import RelayJobs
import RelayRoute

// The calls of a program's own code, and their order.
extension Checker {
    func prepares(_ job: JobRecord) {
        if job.cancelledAt != nil, job.attemptBegan.count > 1 || job.cancelledAt != now {
            violated(job.number, "a request is prepared after the job was cancelled")
        }
        if job.program?.isUnprepared == true { violated(job.number, "a failed preparation is not final") }
        job.program?.isPreparing = true
    }

    /// The code made a request of that key.
    func prepared(_ job: JobRecord, key: String?) {
        guard let program = job.program else { return }
        program.isPreparing = false
        if let made = program.madeKey, made != key { program.changesKey = true }
        program.madeKey = key
    }

    func consulted(_ job: JobRecord, _ name: String, _ context: RecoveryContext) {
        note(job, .consulted, context.attempt, context.attemptsLeft, name)
        coverage.note(.programAsked)
        let number = job.number
        job.program?.askedAt = job.program?.askedAt ?? now
        if job.cancelledAt != nil { violated(number, "a strategy is asked after the job was cancelled") }
        if job.program?.isUnprepared == true { violated(number, "a failed preparation is not final") }
        switch job.stage {
        case .attempting, .judging: break
        case .sending: violated(number, "a strategy is asked while an attempt is under way")
        case .waiting, .closing: violated(number, "a strategy is asked after it was decided what follows")
        }
        if context.attempt != job.attemptBegan.count {
            violated(number, "a strategy is told of another attempt than the last")
        }
        if context.attemptsLeft > job.maxAttempts - wire(job) {
            violated(number, "a strategy is told of more attempts than are left")
        }
        if context.timeLeft.saturatedNanoseconds != job.deadline - now {
            violated(number, "a strategy is told of another time than is left")
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
        let number = job.number
        note(job, .attempted, attempt.number)
        if program.phase != .decided { violated(number, "an attempt begins before the last was decided") }
        program.phase = .began
        if attempt.number != job.attemptBegan.count + 1 || attempt.beganAt != SimulatedTime.wall(at: now) {
            violated(number, "an attempt is told with another number or time than it has")
        }
        if job.cancelledAt != nil, !job.attemptBegan.isEmpty {
            violated(number, "an attempt begins after the job was cancelled")
        }
        if program.isUnprepared { violated(number, "a failed preparation is not final") }
        if now >= job.deadline { violated(number, "an attempt begins at or after the job's deadline") }
        switch job.stage {
        case .attempting where job.attemptBegan.isEmpty || job.isDue: break
        case .waiting(let until):
            if now != until { violated(number, "an attempt begins at another time than its rule said") }
        default: violated(number, "an attempt begins although no rule sends again")
        }
        job.isDue = false
        begin(job, at: now)
        guard let place = job.route.policy.upstreams.firstIndex(where: { $0.name == attempt.upstream }) else {
            return violated(number, "an attempt goes to an upstream the route does not have")
        }
        if place != job.attemptPlace {
            violated(number, "an attempt goes to another upstream than the rules say")
        }
        program.sending = nil
        program.hasReached = false
        program.askedAt = nil
        program.isRenamed = false
        program.accepted = nil
        job.stage = .attempting
    }

    func observedAnswer(_ job: JobRecord, _ response: HTTPResponse, _ attempt: Attempt) {
        guard let program = job.program else { return }
        if program.phase != .began { violated(job.number, "an observer hears of an answer out of order") }
        program.phase = .responded
        guard case .judging(.answers(let answer), _) = job.stage, answer.status == response.status.rawValue,
            attempt.number == job.attemptBegan.count
        else { return violated(job.number, "an observer hears of an answer nobody gave") }
    }

    func observedDecision(_ job: JobRecord, _ attempt: Attempt) {
        guard let program = job.program else { return }
        if program.phase == .decided { violated(job.number, "an observer hears twice of one decision") }
        if attempt.number != job.attemptBegan.count {
            violated(job.number, "an observer hears of another attempt than the last")
        }
        program.phase = .decided
    }
}
