// What comes after a failure, and how the job ends.
extension Execution {
    var stale: HTTPResponse? {
        guard context.route.answersStale, let rule = context.route.policy.response.keepsLastGood,
            let key = asked.flatMap(AnswerKey.init)
        else { return nil }
        return context.memory.answer(for: key, maxAge: rule.maxAge, now: ports.time.now())
    }

    var situation: RecoveryMachine.Situation {
        let now = ports.time.now()
        var situation = RecoveryMachine.Situation(now: now, random: ports.entropy.next())
        situation.canRepeat = preparation.body.isReplayable
        situation.canRefresh = canRefresh
        situation.hasStale = stale != nil
        situation.cooling = context.memory.cooling(context.route, now: now)
        return situation
    }

    func decide(_ found: Failure) {
        var failure = found
        if let redirect { failure.sent = redirect.sent(failure.sent, after: preparation.method) }
        // What the upstream has answered a durable job stands, whatever ends its run.
        if Task.isCancelled, failure.kind != .cancelled, context.history == nil {
            failure = Failure(.cancelled, sent: failure.sent, "the caller went away")
        }
        self.failure = failure
        var situation = situation
        situation.refreshHeld = refreshHeld(after: failure)
        act(machine.attemptFailed(failure, situation))
    }

    /// How long no credential is fetched for the job, whose last attempt may have had a fresh one.
    private func refreshHeld(after failure: Failure) -> Duration? {
        guard canRefresh, let token, machine.refusesCredential(failure) else { return nil }
        // Zero is no token's: the job fetched one because it had none, not because one was refused.
        let renewed = refused.flatMap { $0 > 0 ? $0 : nil }
        let wait = context.memory.tokenRefused(
            token.generation,
            isFresh: renewed.map { token.generation > $0 } ?? false,
            by: plan.upstream,
            now: ports.time.now()
        )
        // A job that has begun to fetch goes on as often as its rule lets it.
        return renewed == nil ? wait : nil
    }

    func act(_ decision: RecoveryMachine.Decision) {
        if case .consult(let strategy) = decision {
            step = .consult(strategy)
            return
        }
        if let attempt = machine.attempts.last {
            ports.sink.record(.attemptFailed(context, attempt))
            context.hooks?.decided(attempt)
        }
        switch decision {
        case .consult: break
        case .fail: if let failure { ended(failure) }
        case .deadLetter, .pauseRoute, .hold: if let failure { putAside(decision, failure) }
        case .stop(let failure):
            discard()
            ended(failure)
        case .respond(let canned, let rule):
            discard()
            respond(canned, rule: rule)
        case .respondStale(let rule):
            guard let stale else {
                if let failure { ended(failure) }
                return
            }
            discard()
            respond(stale, .stale, rule: rule)
        case .failover:
            discard()
            begin()
        case .refreshCredentials:
            discard()
            refused = token?.generation ?? 0
            begin()
        case .retry(let at):
            if context.history != nil { return waits() }
            discard()
            resumeAt = at
            step = .wait
        case .resend(let request, let at):
            discard()
            resume(request, at: at)
        }
    }

    /// Goes on with the request a strategy gave.
    func resume(_ request: HTTPRequest, at time: Instant) {
        do throws(Failure) {
            let next = try prepare(request)
            if next.keys != unpreparedKeys {
                unpreparedKeys = next.keys
                attemptKeys = nil
            }
            take(next)
        } catch {
            return ended(error)
        }
        self.request = request
        resumeAt = time
        step = .wait
    }

    func respond(_ canned: CannedResponse, rule: String) {
        var fields = HeaderFields()
        for field in canned.fields { fields.append(field.name, field.value) }
        let response = HTTPResponse(
            status: canned.status,
            fields: fields,
            body: canned.body.isEmpty ? .empty : .bytes(canned.body)
        )
        respond(response, canned.source, rule: rule)
    }

    func respond(_ response: HTTPResponse, _ source: CannedResponse.Source, rule: String) {
        if let hooks = context.hooks {
            do throws(Failure) {
                try hooks.accept(response, isQuickRecovered: true)
            } catch {
                return ended(error)
            }
        }
        ports.sink.record(.fallbackServed(context, source: source, rule: rule, attempts: machine.attempts))
        let from: Outcome.Source =
            switch source {
            case .fallback: .fallback
            case .placeholder: .placeholder
            case .stale: .stale
            }
        end(.answered(response, from))
    }

    func ended(_ last: Failure) {
        var failure = last
        if !failure.sent.mayHaveActed { failure.sent = machine.furthest }
        if failure.kind != .cancelled {
            failure.isPastDeadline =
                machine.attempts.ranOutOfTime || ports.time.now() >= machine.deadline
        }
        if failure.isPastDeadline { machine.markPastDeadline() }
        if context.hooks != nil { failure.url = failure.url ?? url }
        if context.history != nil { return gaveUp(failure) }
        if context.isBreached(by: failure) { ports.sink.record(.neverFailsBreached(context, failure)) }
        ports.sink.record(.jobFailed(context, failure, attempts: machine.attempts))
        end(.failed(failure, answer: answer))
    }

    func end(_ ending: Outcome.Ending) {
        outcome = Outcome(ending: ending, attempts: machine.attempts)
        outcome?.room = room
        outcome?.pauseReason = pauseReason
        step = .end
    }

    func discard() {
        if case .stream(let source)? = answer?.body { source.cancel() }
        answer = nil
        // The last answer of a durable job's run is kept, whatever comes after it.
        if context.history == nil { room = nil }
    }
}
