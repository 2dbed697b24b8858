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
        // Content that was dropped once does not come back.
        let next = redirect.map(\.keepsBody) ?? true ? found : found.withoutBody
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
        if judge.needsBody(inbound.response.status) { return judge.inspectLimit }
        if context.options.collectsAnswer || keepsAnswer(inbound.response.status) {
            return context.route.policy.limits.body
        }
        if let length = source.length, length <= Relay.collectLimit { return Int(Relay.collectLimit) }
        return nil
    }

    func keepsAnswer(_ status: Status) -> Bool {
        context.route.policy.response.keepsLastGood != nil && context.method == .get
            && context.route.policy.success.statuses.contains(status)
    }

    func answered(_ inbound: InboundResponse) {
        context.hooks?.responded(inbound.response, machine.attempts[machine.attempts.count - 1])
        if let found = context.hooks?.classify(inbound.response) {
            let failure = judge.completed(found, inbound, time: ports.time)
            guard let recovered = judge.quickRecovery(failure, inbound.response) else {
                return refused(failure, inbound)
            }
            machine.quickRecovered(from: failure, at: ports.time.now())
            return accept(recovered, isQuickRecovered: true)
        }
        switch judge.judge(inbound, time: ports.time) {
        case .success(let response):
            machine.attemptSucceeded(
                at: ports.time.now(),
                status: response.status,
                exchange: inbound.exchange
            )
            accept(response, isQuickRecovered: false)
        case .quickRecovered(let response, let from):
            machine.quickRecovered(from: from, at: ports.time.now())
            accept(response, isQuickRecovered: true)
        case .refused(let failure): refused(failure, inbound)
        case .invalid(var failure):
            if context.hooks != nil { failure.response = inbound.response }
            decide(noted(failure))
        }
    }

    /// The answer is a failure by its status or its content.
    func refused(_ failure: Failure, _ inbound: InboundResponse) {
        if let recovered = context.hooks?.quickRecovery(failure, inbound.response) {
            machine.quickRecovered(from: failure, at: ports.time.now())
            return accept(recovered, isQuickRecovered: true)
        }
        answer = inbound.response
        decide(noted(failure))
    }

    /// Takes note of a failure and gives it its name.
    func noted(_ failure: Failure) -> Failure {
        // Under its own name: what a route calls a failure does not change whose it is.
        if !Task.isCancelled, failure.saysUpstreamFailed {
            context.memory.failed(plan.upstream, now: ports.time.now())
        }
        var named = judge.named(failure)
        if let hooks = context.hooks {
            if named.response == nil { named.response = answer }
            named = hooks.named(named)
        }
        return named
    }

    func keep(_ response: HTTPResponse) {
        guard context.route.policy.response.keepsLastGood != nil, let key = asked.flatMap(AnswerKey.init)
        else { return }
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
                // After a quick recovery a failed transform is final: no rule is asked.
                return isQuickRecovered ? ended(failure) : decide(noted(failure))
            }
        }
        if !isQuickRecovered { keep(response) }
        if machine.attempts.count > 1 || machine.attempts.last?.failure != nil {
            ports.sink.record(.recovered(context, attempts: machine.attempts))
        }
        end(.answered(response, .upstream))
    }
}
