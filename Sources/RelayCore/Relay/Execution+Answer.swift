// What an answer is: steps 3 to 7 of the way of one attempt.
extension Execution {
    /// Sends the attempt on to where a redirect leads, where the route follows it.
    func follow(_ inbound: InboundResponse) -> Bool {
        guard context.route.policy.response.redirects == .follow,
            machine.attempts[machine.attempts.count - 1].redirects < Redirect.limit
        else { return false }
        let sentTo = redirect?.target ?? plan.upstream.basePath + preparation.target
        guard
            let found = Redirect(
                inbound.response,
                to: redirect?.method ?? preparation.method,
                sentTo: sentTo,
                at: plan.upstream.origin
            )
        else { return false }
        let next = found.following(redirect)
        guard !next.keepsBody || preparation.body.isReplayable else { return false }
        if case .stream(let source) = inbound.response.body { source.cancel() }
        redirect = next
        machine.redirected()
        step = .send
        return true
    }

    /// Bytes of the answer's body that must be in memory before it can be judged; nil when it can be judged now.
    func collects(_ inbound: InboundResponse) -> Int? {
        guard case .stream(let source) = inbound.response.body else { return nil }
        passesRest = false
        if judge.needsBody(inbound.response.status) { return judge.inspectLimit }
        if context.options.collectsAnswer || context.history != nil {
            return context.route.policy.limits.body
        }
        if keepsAnswer(inbound.response.status) {
            let limit = min(LastGoodAnswers.answerLimit, context.route.policy.limits.body)
            // What is too large to be kept passes through, as it would without the cache.
            if source.length.map({ $0 > UInt64(limit) }) ?? false { return nil }
            passesRest = source.length == nil
            return limit
        }
        if let length = source.length, length <= Relay.collectLimit,
            context.hooks != nil || context.route.mendsBrokenBody(of: inbound.response.status)
        {
            return Int(Relay.collectLimit)
        }
        return nil
    }

    func keepsAnswer(_ status: Status) -> Bool {
        context.route.policy.response.keepsLastGood != nil && preparation.method == .get
            && context.route.policy.success.statuses.contains(status)
    }

    func answered(_ inbound: InboundResponse) {
        reportResponse(inbound)
        if let found = context.hooks?.classify(inbound.response) {
            var found = found
            // How far a request got is the relay's to say, whatever a program's code claims.
            found.sent = .answered
            let failure = judge.completed(found, inbound, time: ports.time)
            guard let recovered = judge.quickRecovery(failure, inbound.response) else {
                return refused(failure, inbound)
            }
            return quickRecovered(recovered, from: failure)
        }
        switch judge.judge(inbound, time: ports.time) {
        case .success(let response):
            machine.attemptSucceeded(
                at: ports.time.now(),
                status: response.status,
                exchange: inbound.exchange
            )
            if canRefresh, let token {
                context.memory.tokenAccepted(token.generation, by: plan.upstream)
            }
            accept(response, isQuickRecovered: false)
        case .quickRecovered(let response, let from): quickRecovered(response, from: from)
        case .refused(let failure): refused(failure, inbound)
        case .invalid(var failure):
            if context.hooks != nil { failure.response = inbound.response }
            if context.history != nil { lastAnswer = outgoing(inbound.response) }
            decide(noted(failure))
        }
    }

    /// The answer is a failure by its status or its content.
    func refused(_ failure: Failure, _ inbound: InboundResponse) {
        if let recovered = context.hooks?.quickRecovery(failure, inbound.response) {
            return quickRecovered(recovered, from: failure)
        }
        answer = outgoing(inbound.response)
        if context.history != nil { lastAnswer = answer }
        decide(noted(failure))
    }

    func quickRecovered(_ response: HTTPResponse, from failure: Failure) {
        machine.quickRecovered(from: failure, at: ports.time.now())
        if let attempt = machine.attempts.last { context.hooks?.decided(attempt) }
        accept(response, isQuickRecovered: true)
    }

    func reportResponse(_ inbound: InboundResponse) {
        guard let hooks = context.hooks, var attempt = machine.attempts.last else { return }
        attempt.duration = attempt.began.duration(to: ports.time.now())
        attempt.status = inbound.response.status
        attempt.exchange = inbound.exchange
        hooks.responded(inbound.response, attempt)
    }

    /// Takes note of a failure and gives it its name.
    func noted(_ failure: Failure) -> Failure {
        // Under its own name: what a route calls a failure does not change whose it is.
        if !Task.isCancelled, failure.saysUpstreamFailed {
            context.memory.failed(plan.upstream, now: ports.time.now())
        }
        var named = judge.named(failure)
        if let hooks = context.hooks {
            let sent = named.sent
            if named.response == nil { named.response = answer }
            named.url = url
            // What was never sent because it could not be made, and what the caller gave up, keep their names.
            if named.kind != .preparation, named.kind != .cancelled { named = hooks.named(named) }
            named.sent = sent
            named.url = url
        }
        return named
    }

    func keep(_ response: HTTPResponse) {
        guard context.route.policy.response.keepsLastGood != nil, let key = asked.flatMap(AnswerKey.init)
        else { return }
        if case .stream = response.body { return }
        context.memory.keep(response, for: key, now: ports.time.now())
    }

    /// Takes a success to the caller, by way of the program's own transform where there is one.
    func accept(_ response: HTTPResponse, isQuickRecovered: Bool) {
        if let hooks = context.hooks {
            do throws(Failure) {
                try hooks.accept(response, isQuickRecovered: isQuickRecovered)
            } catch {
                var failure = error
                failure.status = failure.status ?? response.status
                failure.response = failure.response ?? response
                failure.exchange = machine.attempts.last?.exchange
                failure.sent =
                    isQuickRecovered ? machine.attempts.last?.failure?.sent ?? .answered : .answered
                failure.retryAfter = judge.retryAfter(response, time: ports.time)
                // After a quick recovery a failed transform is final: no rule is asked.
                return isQuickRecovered ? ended(failure) : decide(noted(failure))
            }
        }
        // What a rule has made of a failure is the route's own.
        let response = isQuickRecovered ? response : outgoing(response)
        if !isQuickRecovered, response.status != 304 { keep(response) }
        if context.history != nil { return end(.succeeded(response, .upstream)) }
        if machine.attempts.count > 1 || machine.attempts.last?.failure != nil {
            ports.sink.record(.recovered(context, attempts: machine.attempts))
        }
        end(.answered(response, .upstream))
    }
}

extension HeaderFields {
    private static let conditions = ["If-None-Match", "If-Modified-Since"].compactMap(FieldName.init)

    /// Whether they ask only for what has changed (RFC 9110 §13.1).
    var isConditional: Bool { HeaderFields.conditions.contains { self.contains($0) } }
}
