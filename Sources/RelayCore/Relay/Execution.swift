import RelayBase
package import RelayJobs
package import RelayRoute

/// Drives one job through preparation, attempts and recovery to its one outcome.
///
/// `ExecutionMachine` makes the decisions; here is what they take. A class, so that the frames of the waiting code hold
/// one reference. Confined to the job's task or, before it has one, to its loop.
package final class Execution {
    // No method of it leads back here (decision 169); so with every field that is declared unchecked.
    @safe @exclusivity(unchecked) var machine: ExecutionMachine
    let context: JobContext
    let ports: RelayPorts
    let vault: CredentialVault
    /// The memory that the collected answer takes.
    var reservation: MemoryReservation?
    /// The keeper of the request where a rule answers it and wants it kept; nil where nobody can keep it.
    package var keeper: (any RequestKeeper)?
    /// The ticket by which it waits for memory for the answer, where the job is one of a stream.
    package var ticket: AnswerTicket?

    /// The wait without a task that is under way.
    package internal(set) var sending: (any Sending)?
    /// How the attempt goes on whose kept connection was gone.
    var again: (@Sendable () async throws(Failure) -> InboundResponse)?
    /// The leave of the attempt that is under way.
    var grant: AttemptGrant?
    /// Whether its answer's head is there, and its content on the way to the caller.
    private var isAnswering = false
    /// Whether a retry that was decided on, or is about to be, has its part of the route's budget.
    private var hasBudget = false
    /// The turn of the attempt that waits for one.
    private var attemptSlot: RouteTrafficMachine.RateSlot?
    /// Whether nobody wants the job any more, which its task, where it has one, may not know.
    private(set) var isGivenUp = false

    init(_ machine: consuming ExecutionMachine, ports: RelayPorts, vault: CredentialVault) {
        context = machine.context
        self.machine = machine
        self.ports = ports
        self.vault = vault
    }

    deinit {
        if isAnswering { answerEnded(.unwanted) } else if let grant { tell(AttemptFeedback(), grant) }
        giveBackSlot()
        giveBackBudget()
    }

    /// Gives up the job that has no task: its receiver is told.
    package func cancel() {
        giveUp()
        sending?.cancel()
    }

    /// Gives up the job that has no task, whose receiver is told already, or will be.
    package func giveUp() { isGivenUp = true }

    /// How the request ended that somebody waits for.
    package var outcome: Outcome { machine.outcome(reservation: reservation) }

    /// How the run of a kept job has ended.
    package var delivery: Delivery { machine.delivery(reservation: reservation) }

    /// The present, as an event is told it.
    var moment: Moment {
        var moment = ports.moment
        if isGivenUp { moment.isCancelled = true }
        return moment
    }

    /// The moment by which the attempt must be over, its credential included, as far as content does not move.
    var deadline: Instant { machine.plan.deadline }

    /// The moment by which it must be over, whatever moves.
    var end: Instant { machine.plan.end?.moment ?? .distantFuture }
}

extension RelayPorts {
    var moment: Moment {
        Moment(now: time.now(), wall: time.wallMilliseconds(), isCancelled: Task.isCancelled)
    }
}

// Work without waiting: what others are told, what the route remembers, and a program's code that answers at once.
extension Execution {
    /// The credential of the attempt is there, or is known not to be had.
    func obtained(_ result: Result<Token, Failure>) {
        switch result {
        case .success(let token): machine.obtained(token, moment)
        case .failure(let failure): machine.failed(failure, moment)
        }
    }

    /// Does all that, up to the next step at which the job waits or ends.
    func advance() {
        while !machine.isQuiet {
            if let word = machine.takeFeedback(), let grant {
                if machine.answersByStream {
                    answering(word, grant)
                } else {
                    self.grant = nil
                    tell(word, grant)
                }
            }
            for note in machine.takeNotes() { tell(note) }
            switch machine.step {
            case .prepare, .hold, .token, .send, .collect, .consult, .wait, .keep, .end: return
            case .grant: requestGrant()
            case .begin:
                machine.begun(isConstrained: ports.isConstrained(for: context.route), moment)
            case .recall(_, let refusal):
                machine.recalled(recall(after: refusal), moment)
                if case .consult = machine.step { break }
                settle()
            case .classify(let inbound):
                if let attempt = machine.attempt(answered: inbound, moment) {
                    hooks?.responded(inbound.response, attempt)
                }
                let found = hooks?.classify(inbound.response)
                machine.classified(found, moment)
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
            try hooks?.accept(response, isQuickRecovered: maker != .upstream)
            machine.accepted()
        } catch {
            machine.notAccepted(error, moment)
        }
    }

    /// The memory that the jobs of the route share, as far as a decision draws on it.
    func recall(after refusal: ExecutionMachine.TokenRefusal? = nil) -> RouteRecall {
        let now = ports.time.now()
        var recall = RouteRecall(random: ports.entropy.next())
        recall.cooling = context.memory.cooling(context.route, now: now)
        recall.hasBudget = takesBudget(now)
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

    private func tell(_ note: ExecutionMachine.Note) {
        let upstream = machine.plan.upstream
        switch note {
        case .attemptFailed(let attempt):
            ports.sink.record(.attemptFailed(context, attempt))
            hooks?.decided(attempt)
        case .decided(let attempt): hooks?.decided(attempt)
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

// The dealings with the route's traffic.
extension Execution {
    private func requestGrant() {
        let moment = moment
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
            machine.granted()
        case .held(let hold, let slot):
            // An attempt that has waited for its turn in vain has had that turn.
            attemptSlot = slot
            machine.held(hold, moment)
            // Whether it goes elsewhere is decided only then.
            if case .recall = machine.step { return }
            settleSlot()
        }
    }

    /// The decision is known now: only a retry keeps its part of the budget.
    func settle() {
        if !machine.isRetry { giveBackBudget() }
        settleSlot()
    }

    /// Only who waits where it stands keeps its turn.
    private func settleSlot() {
        switch machine.step {
        case .hold, .grant: return
        default: giveBackSlot()
        }
    }

    /// The wait for the attempt's turn is over before it has come.
    private func giveBackSlot() {
        guard let slot = attemptSlot.take() else { return }
        let now = ports.time.now()
        context.memory.traffic.tell(context.route, now) { $0.giveBack(slot, context.route, now) }
    }

    /// A wait for nothing but a moment begins.
    ///
    /// - Returns: that moment; nil where the job waits for something else.
    func pauseBegins() -> Instant? {
        switch machine.step {
        case .hold(let hold): return hold.until
        case .wait(let until, _):
            backOff(true)
            return until
        default: return nil
        }
    }

    /// The moment has come, or nobody wants the job any more; once for each wait that began.
    func pauseEnds(isCancelled: Bool) {
        switch machine.step {
        case .hold:
            guard isCancelled else { return machine.heldOver(moment) }
            giveBackSlot()
        case .wait:
            backOff(false)
            guard isCancelled else { return machine.waited(moment) }
        default: return
        }
        machine.cancelled(moment)
    }

    /// The wait before a retry begins, or is over: whoever is not with the upstream takes no room there.
    private func backOff(_ begins: Bool) {
        if context.route.policy.traffic.isOff { return }
        let now = ports.time.now()
        context.memory.traffic.tell(context.route, now) { $0.backOff(begins) }
    }

    /// Takes the part of the budget that a retry needs, where what comes next may be one.
    private func takesBudget(_ now: Instant) -> Bool {
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

    private func tell(_ word: AttemptFeedback, _ grant: AttemptGrant) {
        let verdict = context.memory.traffic.ended(
            settled(grant),
            word,
            asked: { machine.asked(of: context) },
            of: context.route,
            random: ports.entropy.next(),
            ports.time.now()
        )
        if let cause = verdict.blamed { machine.blamed(cause) }
        tell(verdict.change)
    }

    /// The time that its content took says nothing of how soon the upstream answers.
    private func settled(_ given: AttemptGrant) -> AttemptGrant {
        var grant = given
        grant.began = grant.began.advanced(by: machine.recovery.timeMoved)
        return grant
    }

    /// The attempt is not over before its answer is.
    private func answering(_ word: AttemptFeedback, _ grant: AttemptGrant) {
        isAnswering = true
        let change = context.memory.traffic.answering(
            settled(grant),
            word,
            asked: { machine.asked(of: context) },
            of: context.route,
            random: ports.entropy.next(),
            ports.time.now()
        )
        tell(change)
    }

    /// The content of its answer, which was on the way to the caller, has come to its end; told once.
    package func answerEnded(_ end: AnswerEnd) {
        guard isAnswering else { return }
        isAnswering = false
        guard let grant = grant.take() else { return }
        if !end.isBroken, context.memory.traffic.answerEndedWell(grant, ports.time.now()) { return }
        let change = context.memory.traffic.answerEnded(
            grant,
            AttemptFeedback(end, of: machine.recovery.attempts.last, on: context.route),
            asked: { machine.asked(of: context) },
            of: context.route,
            random: ports.entropy.next(),
            ports.time.now()
        )
        tell(change)
    }

    private func tell(_ change: BreakerChange?) {
        guard let change else { return }
        ports.sink.record(.breakerChanged(route: context.route.name, change))
    }
}
