import RelayBase
package import RelayJobs
package import RelayRoute

/// Runs one job from preparation through its attempts to its outcome.
///
/// `ExecutionMachine` decides; this class does the work and reports back. It is a class so that the frames of waiting code
/// hold one reference. It is not thread-safe: the job's event loop uses it until a task is started, and that task alone
/// from then on.
package final class Execution {
    // Unchecked: no method of the machine calls back into this object, so that two accesses never overlap.
    @safe @exclusivity(unchecked) var machine: ExecutionMachine
    let context: JobContext
    let ports: RelayPorts
    let vault: CredentialVault
    /// The memory reserved for the collected answer.
    @safe @exclusivity(unchecked) var reservation: MemoryReservation?
    /// Keeps the request as a job where a `respond` rule asks for that; nil without a store of jobs.
    package var keeper: (any RequestKeeper)?
    /// The place in the queue for memory of answers, for a job of a stream.
    package var ticket: AnswerTicket?

    /// The request or timer that is pending while no task runs the job.
    @safe @exclusivity(unchecked) package internal(set) var pending: (any Sending)?
    /// Repeats the attempt after its pooled connection turned out to be closed.
    var resend: (@Sendable () async throws(Failure) -> InboundResponse)?
    /// The traffic grant of the current attempt, which is given back exactly once.
    @safe @exclusivity(unchecked) var grant: AttemptGrant?
    /// Whether the head of the answer was passed on; `grant` is held until the content ends.
    @safe @exclusivity(unchecked) private var isAnswering = false
    /// Whether the job holds a part of the route's retry budget, which it spends or gives back.
    private var hasBudget = false
    /// The slot in the rate limit that is reserved for the attempt that waits for it.
    private var attemptSlot: RouteTrafficMachine.RateSlot?
    /// Whether the job was abandoned without a task; a task learns that by its own cancellation.
    private(set) var isGivenUp = false

    init(_ machine: consuming ExecutionMachine, ports: RelayPorts, vault: CredentialVault) {
        context = machine.context
        self.machine = machine
        self.ports = ports
        self.vault = vault
    }

    deinit {
        // The route would count what an abandoned job still holds for ever.
        if isAnswering { answerEnded(.unwanted) } else if let grant { endAttempt(AttemptFeedback(), grant) }
        giveBackSlot()
        giveBackBudget()
    }

    /// Abandons a job without a task, and cancels its request.
    package func cancel() {
        giveUp()
        pending?.cancel()
    }

    /// Abandons a job without a task whose request is over, or will be.
    package func giveUp() { isGivenUp = true }

    /// The outcome of a request whose caller waits.
    package var outcome: Outcome { machine.outcome(reservation: reservation) }

    /// The outcome of one delivery of a kept job.
    package var delivery: Delivery { machine.delivery(reservation: reservation) }

    /// The present, for an event of the machine.
    var moment: Moment {
        var moment = ports.moment
        if isGivenUp { moment.isCancelled = true }
        return moment
    }

    /// The deadline of the attempt with its credential; content that moves extends it.
    var deadline: Instant { machine.plan.deadline }

    /// The deadline of the attempt that nothing extends.
    var hardDeadline: Instant { machine.plan.end?.moment ?? .distantFuture }
}

extension RelayPorts {
    var moment: Moment {
        Moment(now: time.now(), wall: time.wallMilliseconds(), isCancelled: Task.isCancelled)
    }
}

// Steps that never suspend: feedback to the route, records, and hooks of a program that answer at once.
extension Execution {
    /// Takes the credential of the attempt, or why there is none.
    func obtained(_ result: Result<Token, Failure>) {
        switch result {
        case .success(let token): machine.obtained(token, moment)
        case .failure(let failure): machine.failed(failure, moment)
        }
    }

    /// Takes steps until the job waits or has ended.
    func advance() {
        while !machine.isQuiet {
            // An attempt that was held back has no grant, and nothing to report.
            if let word = machine.takeFeedback(), let grant {
                if machine.answersByStream {
                    answering(word, grant)
                } else {
                    self.grant = nil
                    endAttempt(word, grant)
                }
            }
            for note in machine.takeNotes() { handle(note) }
            switch machine.step {
            case .prepare, .hold, .token, .send, .collect, .consult, .wait, .keep, .end: return
            case .grant: requestGrant()
            case .begin:
                machine.begun(isConstrained: ports.isConstrained(for: context), moment)
            case .recall(_, let refusal):
                machine.recalled(recall(after: refusal), moment)
                // A consultation decides and gives back later.
                if case .consult = machine.step { break }
                giveBackUnneeded()
            case .classify(let inbound):
                if let attempt = machine.attempt(answered: inbound, moment) {
                    hooks?.responded(inbound.response, attempt)
                }
                let verdict = hooks?.classify(inbound.response)
                machine.classified(verdict, moment)
            case .recover(let failure, let response):
                let recovered = hooks?.quickRecovery(failure, response)
                machine.recovered(recovered, moment)
            case .name(let failure):
                let named = hooks?.named(failure) ?? failure
                machine.named(named, moment)
            case .accept(let response, let maker): offer(response, maker)
            }
        }
    }

    private var hooks: (any JobHooks)? { context.hooks }

    private func offer(_ response: HTTPResponse, _ maker: ExecutionMachine.Maker) {
        do throws(Failure) {
            try hooks?.accept(response, isQuickRecovered: !maker.isUpstream)
            machine.accepted()
        } catch {
            machine.notAccepted(error, moment)
        }
    }

    /// Gathers what the route knows for a decision, takes the retry budget that it needs, and records a refused token.
    func recall(after refusal: ExecutionMachine.TokenRefusal? = nil) -> RouteRecall {
        let now = ports.time.now()
        var recall = RouteRecall(random: ports.entropy.next())
        recall.cooling = context.memory.cooling(context.route, now: now)
        recall.hasBudget = takeBudgetIfNeeded(now)
        if let stale = machine.stale {
            recall.stale = context.memory.answer(for: stale.key, maxAge: stale.maxAge, now: now)
        }
        if let refusal {
            recall.refreshHeld = context.memory.tokenRefused(
                refusal.generation,
                isFresh: refusal.isFresh,
                by: machine.plan.upstream,
                now: now
            )
        }
        return recall
    }

    private func handle(_ note: ExecutionMachine.Note) {
        let upstream = machine.plan.upstream
        switch note {
        case .attemptFailed(let attempt):
            ports.sink.record(.attemptFailed(context, attempt))
            hooks?.decided(attempt)
        case .decided(let attempt): hooks?.decided(attempt)
        case .lookedUp(let attempt):
            ports.sink.record(.lookedUp(context, attempt))
            hooks?.decided(attempt)
        case .looked(let word): context.memory.meter.looked(word)
        case .pauseWanted(let reason):
            let rule = machine.recovery.attempts.last?.rule
            ports.sink.record(.pauseWanted(route: context.route.name, rule: rule, reason: reason))
        case .pinsMissed(let exchange): ports.sink.record(.pinsMissed(context, exchange))
        case .upstreamFailed: context.memory.failed(upstream, now: ports.time.now())
        case .tokenAccepted(let generation): context.memory.tokenAccepted(generation, by: upstream)
        case .tokenMissed(let refused): context.memory.refused(refused, to: context.id)
        case .answered(let response, let key): context.memory.keep(response, for: key, now: ports.time.now())
        case .dropped(let body, let wasKept):
            if case .stream(let source) = body { source.cancel() }
            if wasKept { reservation = nil }
        }
    }
}

// Grants, slots of the rate limit and retry budget of the route.
extension Execution {
    private func requestGrant() {
        let moment = moment
        // Only of a job that was let in so: no other asks, nor pays for that.
        if context.constrainedUse > .light, ports.isConstrained() {
            let use = ports.presentUse(context)
            if use > .light {
                giveBackSlot()
                return machine.constrained(use, moment)
            }
        }
        if context.route.policy.closed != nil,
            let hold = context.route.closing(moment.now, wall: moment.wall)
        {
            giveBackSlot()
            return machine.held(hold, moment)
        }
        if context.route.isWithoutTraffic { return machine.granted() }
        if let slot = attemptSlot, slot.upstreamIndex != machine.plan.upstreamIndex { giveBackSlot() }
        var asking = machine.asking(moment, hasBudget: hasBudget, slotIndex: attemptSlot?.upstreamIndex)
        if asking.isKept { asking.random = ports.entropy.next() }
        switch context.memory.traffic.grant(
            context.route,
            asking,
            of: { machine.asked(of: context) },
            moment.now
        ) {
        case .go(let grant):
            self.grant = grant
            hasBudget = false
            attemptSlot = nil
            if !grant.reported.isEmpty { machine.recovery.reported(grant.reported) }
            machine.granted()
        case .held(let hold, let slot):
            // A slot is good for one try: an attempt that is held back again gets a new one, or none.
            attemptSlot = slot
            machine.held(hold, moment)
            // That step decides whether to fail over, and what becomes of the slot.
            if case .recall = machine.step { return }
            settleSlot()
        }
    }

    /// Gives back the budget that no retry needs, and the slot that no wait needs.
    func giveBackUnneeded() {
        if !machine.isRetry { giveBackBudget() }
        settleSlot()
    }

    /// Gives the slot back unless the job waits for it.
    private func settleSlot() {
        switch machine.step {
        case .hold, .grant: return
        default: giveBackSlot()
        }
    }

    /// Gives an unused slot back.
    private func giveBackSlot() {
        guard let slot = attemptSlot.take() else { return }
        let now = ports.time.now()
        context.memory.traffic.tell(context.route, now) { $0.giveBack(slot, context.route, now) }
    }

    /// Begins a timed wait, which one `endPause` must follow: the route counts jobs that back off.
    ///
    /// - Returns: its end; nil where the job waits for something else.
    func beginPause() -> Instant? {
        switch machine.step {
        case .hold(let hold): return hold.until
        case .wait(let until, _):
            backOff(begins: true)
            return until
        default: return nil
        }
    }

    /// Ends a timed wait, at its moment or because the job was abandoned.
    func endPause(isCancelled: Bool) {
        switch machine.step {
        case .hold:
            guard isCancelled else { return machine.heldOver(moment) }
            giveBackSlot()
        case .wait:
            backOff(begins: false)
            guard isCancelled else { return machine.waited(moment) }
        default: return
        }
        machine.cancelled(moment)
    }

    /// Ends a wait that left no time for another look.
    func endPauseTooLate() {
        guard case .wait = machine.step else { return endPause(isCancelled: false) }
        backOff(begins: false)
        machine.handBack(.zero, moment)
    }

    /// Counts the job as backing off, or no longer: it takes no place in the upstream's window meanwhile.
    private func backOff(begins: Bool) {
        if context.route.policy.traffic.isOff { return }
        let now = ports.time.now()
        context.memory.traffic.tell(context.route, now) { $0.backOff(begins) }
    }

    /// Takes a part of the retry budget, where the next attempt may be a retry that needs one.
    private func takeBudgetIfNeeded(_ now: Instant) -> Bool {
        if hasBudget || machine.isDelivery || context.route.policy.traffic.isOff { return true }
        hasBudget = context.memory.traffic.tell(context.route, now) { $0.takeBudget(context.route, now) }
        return hasBudget
    }

    private func giveBackBudget() {
        guard hasBudget else { return }
        hasBudget = false
        let now = ports.time.now()
        context.memory.traffic.tell(context.route, now) { $0.giveBackBudget(now) }
    }

    private func endAttempt(_ word: AttemptFeedback, _ grant: AttemptGrant) {
        let verdict = context.memory.traffic.ended(
            excludingTransfer(grant),
            word,
            asked: { machine.asked(of: context) },
            of: context.route,
            random: ports.entropy.next(),
            ports.time.now()
        )
        if let cause = verdict.blamed { machine.blamed(cause) }
        record(verdict.change)
    }

    /// The time that its content took says nothing of how soon the upstream answers.
    private func excludingTransfer(_ given: AttemptGrant) -> AttemptGrant {
        var grant = given
        grant.began = grant.began.advanced(by: machine.recovery.timeMoved)
        return grant
    }

    /// Reports the head of the answer; `answerEnded` ends the attempt.
    private func answering(_ word: AttemptFeedback, _ grant: AttemptGrant) {
        isAnswering = true
        let change = context.memory.traffic.answering(
            excludingTransfer(grant),
            word,
            asked: { machine.asked(of: context) },
            of: context.route,
            random: ports.entropy.next(),
            ports.time.now()
        )
        record(change)
    }

    /// Reports the end of the content that was on the way to the caller; a second call does nothing.
    package func answerEnded(_ end: AnswerEnd) {
        guard isAnswering else { return }
        isAnswering = false
        guard let grant = grant.take() else { return }
        if !end.isBroken, context.memory.traffic.answerEndedWell(grant, ports.time.now()) { return }
        // The content ended badly: no latency is learnt from it.
        let change = context.memory.traffic.answerEnded(
            grant,
            AttemptFeedback(end, of: machine.recovery.attempts.last, on: context.route),
            asked: { machine.asked(of: context) },
            of: context.route,
            random: ports.entropy.next(),
            ports.time.now()
        )
        record(change)
    }

    func record(_ change: BreakerChange?) {
        guard let change else { return }
        ports.sink.record(.breakerChanged(route: context.route.name, change))
    }
}
