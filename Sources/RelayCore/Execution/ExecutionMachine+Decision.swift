import RelayBase
import RelayRoute

// The steps that follow a failure.
extension ExecutionMachine {
    mutating func attemptFailed(_ failure: Failure, _ moment: Moment) {
        if isLookingUp { return lookUpFailed(failure, moment) }
        if interrupted(by: failure, moment) { return }
        if failure.kind != .preparation, failure.kind != .cancelled {
            if let recovered = judge.quickRecovery(failure, nil) {
                return quickRecovered(recovered, from: failure, nil, moment)
            }
            guard program == nil else {
                step = .recover(failure, nil)
                return
            }
        }
        note(failure, nil, moment)
    }

    /// Takes note of a failure, with the fields of its answer where one came, and gives it its name.
    mutating func note(_ failure: Failure, _ fields: HeaderFields?, _ moment: Moment) {
        say(failure, fields, moment)
        var named = judge.named(failure)
        // Under its own name: what a route calls a failure does not change whose it is.
        if !moment.isCancelled, !named.saysStop, failure.saysUpstreamFailed { notes.append(.upstreamFailed) }
        guard program != nil else { return decide(named, moment) }
        if named.response == nil { named.response = answer }
        named.url = named.isFromBeforeDialling ? nil : url
        // The failure of a request that could not be made, or that the caller gave up, keeps its name.
        if named.kind == .preparation || named.kind == .cancelled { return decide(named, moment) }
        step = .name(named)
    }

    /// Tells the route's traffic how the attempt was.
    mutating func say(_ failure: Failure, _ fields: HeaderFields?, _ moment: Moment) {
        guard !context.route.isWithoutTraffic else { return }
        feedback = feedback(of: failure, fields, waited: recovery.timeWaited(at: moment.now), moment)
    }

    /// The word of a failure after such a wait.
    mutating func feedback(
        of failure: Failure,
        _ fields: HeaderFields?,
        waited: Duration,
        _ moment: Moment
    ) -> AttemptFeedback {
        var feedback = AttemptFeedback(
            failure,
            named: judge.named(failure),
            context.route.policy.traffic.breaker,
            fields,
            wallMilliseconds: moment.wall
        )
        feedback.isCallersEnd = isCallersEnd(failure, waited: waited)
        return feedback
    }

    /// Whether the caller gave up, or its own time was over, before there was an answer.
    private func isCallersEnd(_ failure: Failure, waited: Duration) -> Bool {
        switch failure.kind {
        case .httpResponseTimeout: waited < context.route.policy.timeouts.attempt
        // The upstream may be waiting for a body that the caller has not sent to the end.
        case .cancelled: failure.status == nil && failure.sent != .neverSent && preparation.body.isReplayable
        default: false
        }
    }

    mutating func decide(_ found: Failure, _ moment: Moment) {
        let failure = decidable(behindRedirect(found), moment)
        step = .recall(failure, tokenRefusal(failure))
    }

    /// The failure with how far the request got that was sent on.
    func behindRedirect(_ failure: Failure) -> Failure {
        guard let redirect else { return failure }
        var failure = failure
        failure.sent = redirect.sent(failure.sent, after: preparation.method)
        return failure
    }

    private func tokenRefusal(_ failure: Failure) -> TokenRefusal? {
        guard canRefresh, let token, recovery.refusesCredential(failure) else { return nil }
        // Zero is no token's: the job fetched one because it had none, not because one was refused.
        let renewed = refused.flatMap { $0 > 0 ? $0 : nil }
        return TokenRefusal(
            generation: token.generation,
            isFresh: renewed.map { token.generation > $0 } ?? false,
            hasRenewed: renewed != nil
        )
    }

    func situation(_ recall: RouteRecall, _ moment: Moment) -> RecoveryMachine.Situation {
        var situation = RecoveryMachine.Situation(now: moment.now, random: recall.random)
        situation.canRepeat = preparation.body.isReplayable
        situation.canRefresh = canRefresh
        situation.hasStale = recall.stale != nil
        situation.cooling = recall.cooling
        situation.hasBudget = recall.hasBudget
        situation.waits = waits(moment)
        situation.hold = hold
        return situation
    }

    mutating func act(
        _ decision: RecoveryMachine.Decision,
        _ failure: Failure,
        _ recall: RouteRecall,
        _ moment: Moment
    ) {
        if case .fail = decision, failure.isHold, waits(moment) { return waitHere(failure, moment) }
        isRetry = false
        if case .consult(let strategy) = decision {
            step = .consult(strategy, failure)
            return
        }
        if let keeping = keeping(decision, recall) {
            step = .keep(keeping)
            return
        }
        if case .fail = decision, awaitsCredential(failure) { return waitForCredential(failure, moment) }
        if let attempt = recovery.attempts.last {
            notes.append(attempt.lookUp == nil ? .attemptFailed(attempt) : .lookedUp(attempt))
        }
        switch decision {
        case .consult: break
        case .fail: ended(failure, moment)
        case .deadLetter: deadLetter(failure, moment)
        case .pauseRoute(let reason): pauseRoute(reason, failure, moment)
        case .hold: hold(failure, moment)
        case .stop(let failure):
            discard()
            ended(failure, moment)
        case .respond(let canned):
            discard()
            accept(canned.response, from: .standIn(canned.source))
        case .respondStale:
            guard let stale = recall.stale else { return ended(failure, moment) }
            discard()
            accept(stale, from: .standIn(.stale))
        case .failover:
            discardStreamed()
            begin(after: failure, moment)
        case .refreshCredentials:
            discardStreamed()
            refused = token?.generation ?? 0
            begin(after: failure, moment)
        case .retry(let at): retry(at: at, failure, moment)
        case .resend(let request, let at):
            discardStreamed()
            resume(request, at: at, failure, moment)
        }
    }

    /// Goes on with the request a strategy gave.
    private mutating func resume(
        _ request: HTTPRequest,
        at time: Instant,
        _ failure: Failure,
        _ moment: Moment
    ) {
        do throws(Failure) {
            let next = try prepare(request)
            if next.keys != program?.keys {
                program?.keys = next.keys
                program?.attemptKeys = nil
            }
            take(next)
        } catch {
            return ended(error, moment)
        }
        program?.request = request
        isRetry = true
        step = .wait(until: time, failure)
    }

    mutating func begin(after failure: Failure, _ moment: Moment) {
        guard moment.now < recovery.deadline else {
            return questions?.follow == nil ? ended(failure, moment) : handBack(.zero, moment)
        }
        step = .begin
    }

    var firstStep: Step { program == nil ? afterPreparation : .prepare }

    var afterPreparation: Step {
        let route = context.route
        return route.isWithoutTraffic && context.constrainedUse <= .light && route.policy.closed == nil
            ? afterGrant : .grant
    }

    var afterGrant: Step { context.route.policy.authentication == nil ? .send : .token }

    /// From now on what may be done is decided by that request.
    mutating func take(_ next: Preparation) {
        preparation = next
        judge = ResponseJudge(route: context.route, method: next.method)
        recovery.requestChanged(
            method: next.method,
            isKeyed: context.options.hasIdempotencyKey || next.isKeyed
        )
    }

    func prepare(_ request: HTTPRequest) throws(Failure) -> Preparation {
        try Preparation(
            request,
            route: context.route,
            job: context.id,
            added: added,
            wallSeconds: preparedAt
        )
    }

    mutating func ended(_ last: Failure, _ moment: Moment) {
        var failure = last
        // An answer that is at hand says more than why no other attempt was sent.
        if last.isOwnRefusal, answer != nil,
            let real = recovery.attempts.last(where: { $0.failure?.isOwnRefusal == false })
        {
            failure = real.failure ?? last
        }
        if !failure.sent.mayHaveActed { failure.sent = recovery.furthest }
        if failure.kind != .cancelled {
            failure.isPastDeadline =
                recovery.attempts.wouldWaitTooLong || moment.now >= recovery.deadline
                // It would have waited for its turn, had there been the time.
                || failure.isHold && failure.kind == .rateLimited
        }
        if failure.isPastDeadline { recovery.markPastDeadline() }
        if program != nil, failure.url == nil, !failure.isFromBeforeDialling, !recovery.attempts.isEmpty {
            failure.url = url
        }
        gaveUp(failure, moment)
    }
}

extension CannedResponse {
    var response: HTTPResponse {
        var fields = HeaderFields()
        for field in self.fields { fields.append(field.name, field.value) }
        return HTTPResponse(status: status, fields: fields, body: body.isEmpty ? .empty : .bytes(body))
    }
}
