/// One job on its way, between its waits: everything a decision needs and nothing that waits.
///
/// A class, so that the frames of the waiting code hold one reference. Confined to the job's task.
final class Execution {
    let context: JobContext
    let ports: RelayPorts
    private let added: HeaderFields
    private let canRefresh: Bool
    private let preparedAt: Int64
    /// The unprepared request, where hooks may change it.
    private(set) var request: HTTPRequest?
    private var preparation: Preparation
    private var judge: ResponseJudge
    var machine: RecoveryMachine
    private(set) var plan: RecoveryMachine.Plan

    private(set) var step: Step
    /// The answer whose body is to be collected, and up to how many bytes.
    private(set) var uncollected: InboundResponse?
    private(set) var collectLimit = 0
    private(set) var resumeAt = Instant(nanoseconds: 0)
    private var redirect: Redirect?
    private var outcome: Outcome?
    /// The upstream's answer to the last attempt, where it failed with one.
    private var answer: HTTPResponse?
    private var failure: Failure?
    private var token: Token?
    /// Generation of the credential that was refused last.
    private(set) var refused: UInt64?

    /// What the job waits for next.
    enum Step {
        /// A program's preparation of the attempt that has begun.
        case prepare
        /// A credential, for the attempt that has begun.
        case token
        /// The upstream's answer to `outbound`.
        case send
        /// The body of `uncollected`.
        case collect
        /// What a program's strategy says of `consultation`.
        case consult(any RecoveryStrategy)
        /// `resumeAt`.
        case wait
        /// Nothing: there is an `outcome`.
        case end
    }

    /// Prepares the job.
    ///
    /// - Throws: `preparation`, with zero sends.
    init(
        _ request: HTTPRequest,
        _ context: JobContext,
        added: HeaderFields,
        canRefresh: Bool,
        since began: Instant?,
        ports: RelayPorts
    ) throws(Failure) {
        self.context = context
        self.ports = ports
        self.added = added
        self.canRefresh = canRefresh
        preparedAt = ports.time.wallSeconds()
        preparation = try Preparation(
            request,
            route: context.route,
            job: context.id,
            added: added,
            wallSeconds: preparedAt
        )
        if context.hooks != nil || context.route.answersStale
            || context.route.policy.response.keepsLastGood != nil
        {
            self.request = request
        }
        judge = ResponseJudge(route: context.route, method: context.method)
        var options = context.options
        options.hasIdempotencyKey = options.hasIdempotencyKey || preparation.isKeyed
        let now = ports.time.now()
        machine = RecoveryMachine(
            route: context.route,
            method: context.method,
            options: options,
            now: began ?? now
        )
        plan = machine.attemptBegan(at: now, isConstrained: ports.isConstrained(for: context.route))
        step = .send
        step = firstStep
        reportBegin()
    }

    /// The moment by which the attempt must be over, its credential and a collected body included.
    var deadline: Instant { plan.deadline }

    /// The attempt, made from the unprepared request.
    func outbound() throws(Failure) -> OutboundRequest {
        try preparation.attempt(plan, token: token, wallSeconds: ports.time.wallSeconds(), redirect: redirect)
    }

    /// How the job ended; once, after the last step.
    func takeOutcome() -> Outcome {
        guard let outcome else { preconditionFailure("a job was asked for its outcome at the step \(step)") }
        self.outcome = nil
        return outcome
    }

    /// The program made the attempt's request.
    func prepared(_ request: HTTPRequest) {
        do throws(Failure) {
            preparation = try prepare(request)
            step = afterPreparation
        } catch {
            failed(error)
        }
    }

    func obtained(_ token: Token) {
        self.token = token
        step = .send
    }

    func waited() { begin() }

    /// The upstream answered; its body may still be on the way.
    func received(_ inbound: InboundResponse) {
        if inbound.exchange.missedPins { ports.sink.record(.pinsMissed(context, inbound.exchange)) }
        if follow(inbound) { return }
        if let limit = collects(inbound) {
            uncollected = inbound
            collectLimit = limit
            step = .collect
        } else if case .bytes(let bytes) = inbound.response.body, judge.needsBody(inbound.response.status),
            bytes.count > judge.inspectLimit
        {
            // However the packets fell, the limit is the same.
            uncollected = inbound
            collectingFailed(.bodyTooLarge(limit: judge.inspectLimit))
        } else {
            answered(inbound)
        }
    }

    func collected(_ bytes: [UInt8]) {
        guard var inbound = uncollected else { return }
        uncollected = nil
        inbound.response.body = .bytes(bytes)
        answered(inbound)
    }

    /// The body of `uncollected` did not come.
    func collectingFailed(_ failure: Failure) {
        var failure = failure
        failure.status = uncollected?.response.status
        failure.exchange = failure.exchange ?? uncollected?.exchange
        uncollected = nil
        failed(failure)
    }

    func failed(_ failure: Failure) {
        answer = nil
        if failure.kind != .preparation, failure.kind != .cancelled,
            let recovered = judge.quickRecovery(failure, nil) ?? context.hooks?.quickRecovery(failure, nil)
        {
            machine.quickRecovered(from: failure, at: ports.time.now())
            return accept(recovered, isQuickRecovered: true)
        }
        decide(named(failure))
    }

    /// The strategy that was asked has answered.
    func advised(_ disposition: RecoveryDisposition) {
        if Task.isCancelled { return cancelled() }
        if case .retry(let request, _) = disposition, context.hooks != nil {
            do throws(Failure) {
                preparation = try prepare(request)
                self.request = request
                judge = ResponseJudge(route: context.route, method: request.method)
            } catch {
                return ended(error)
            }
        }
        act(machine.advised(disposition, situation))
        if case .retry(let request, _) = disposition {
            machine.requestChanged(
                method: request.method,
                isKeyed: context.options.hasIdempotencyKey || preparation.isKeyed
            )
        }
    }

    /// What a strategy is asked about.
    var consultation: (failure: Failure, request: HTTPRequest, context: RecoveryContext)? {
        guard let failure, let request else { return nil }
        let left = RecoveryContext(
            attempt: plan.number,
            attemptsLeft: machine.attemptsLeft,
            timeLeft: ports.time.now().duration(to: machine.deadline),
            route: context.route.name
        )
        return (failure, request, left)
    }

    /// The caller went away while the job waited.
    func cancelled() {
        ended(Failure(.cancelled, sent: failure?.sent ?? .neverSent, "the caller went away"))
    }
}

extension Execution {
    private func begin() {
        redirect = nil
        plan = machine.attemptBegan(
            at: ports.time.now(),
            isConstrained: ports.isConstrained(for: context.route)
        )
        step = firstStep
        reportBegin()
    }

    private var firstStep: Step { context.hooks == nil ? afterPreparation : .prepare }

    private var afterPreparation: Step {
        context.route.policy.authentication == nil ? .send : .token
    }

    private func prepare(_ request: HTTPRequest) throws(Failure) -> Preparation {
        try Preparation(
            request,
            route: context.route,
            job: context.id,
            added: added,
            wallSeconds: preparedAt
        )
    }

    /// Sends the attempt on to where a redirect leads, where the route follows it.
    private func follow(_ inbound: InboundResponse) -> Bool {
        guard context.route.policy.response.redirects == .follow,
            machine.attempts[machine.attempts.count - 1].redirects < Redirect.limit
        else { return false }
        let sentTo = redirect?.target ?? plan.upstream.basePath + preparation.target
        guard
            let next = Redirect(
                inbound.response,
                to: redirect?.method ?? preparation.method,
                sentTo: sentTo,
                at: plan.upstream.origin
            ),
            !next.keepsBody || preparation.body.isReplayable
        else { return false }
        if case .stream(let source) = inbound.response.body { source.cancel() }
        // Content that was dropped once does not come back.
        let dropsBody = redirect.map { !$0.keepsBody } ?? false
        redirect = dropsBody ? next.withoutBody : next
        machine.redirected()
        step = .send
        return true
    }

    /// Bytes of the answer's body that must be in memory before it can be judged; nil when it can be judged now.
    private func collects(_ inbound: InboundResponse) -> Int? {
        guard case .stream(let source) = inbound.response.body else { return nil }
        if judge.needsBody(inbound.response.status) { return judge.inspectLimit }
        if context.options.collectsAnswer || keepsAnswer(inbound.response.status) {
            return context.route.policy.limits.body
        }
        if let length = source.length, length <= Relay.collectLimit { return Int(Relay.collectLimit) }
        return nil
    }

    private func keepsAnswer(_ status: Status) -> Bool {
        context.route.policy.response.keepsLastGood != nil && context.method == .get
            && context.route.policy.success.statuses.contains(status)
    }

    private func answered(_ inbound: InboundResponse) {
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
            keep(response)
            accept(response, isQuickRecovered: false)
        case .quickRecovered(let response, let from):
            machine.quickRecovered(from: from, at: ports.time.now())
            accept(response, isQuickRecovered: true)
        case .refused(let failure): refused(failure, inbound)
        case .invalid(var failure):
            // A program sees what it got; a client of the daemon never does.
            if context.hooks != nil { failure.response = inbound.response }
            decide(named(failure))
        }
    }

    /// The answer is a failure by its status or its content.
    private func refused(_ failure: Failure, _ inbound: InboundResponse) {
        if let recovered = context.hooks?.quickRecovery(failure, inbound.response) {
            machine.quickRecovered(from: failure, at: ports.time.now())
            return accept(recovered, isQuickRecovered: true)
        }
        answer = inbound.response
        decide(named(failure))
    }

    private func named(_ failure: Failure) -> Failure {
        var named = judge.named(failure)
        if let hooks = context.hooks {
            if named.response == nil { named.response = answer }
            named = hooks.named(named)
        }
        return named
    }

    private func keep(_ response: HTTPResponse) {
        guard context.route.policy.response.keepsLastGood != nil, let request, let key = AnswerKey(request)
        else {
            return
        }
        context.memory.keep(response, for: key, now: ports.time.now())
    }

    private var stale: HTTPResponse? {
        guard context.route.answersStale, let rule = context.route.policy.response.keepsLastGood, let request,
            let key = AnswerKey(request)
        else { return nil }
        return context.memory.answer(for: key, maxAge: rule.maxAge, now: ports.time.now())
    }

    private var situation: RecoveryMachine.Situation {
        let now = ports.time.now()
        var situation = RecoveryMachine.Situation(now: now, random: ports.entropy.next())
        situation.canRepeat = preparation.body.isReplayable
        situation.canRefresh = canRefresh
        situation.hasStale = stale != nil
        situation.cooling = context.memory.cooling(context.route, now: now)
        return situation
    }

    private func decide(_ found: Failure) {
        var failure = found
        if Task.isCancelled, failure.kind != .cancelled {
            failure = Failure(.cancelled, sent: failure.sent, "the caller went away")
        }
        self.failure = failure
        if failure.saysUpstreamFailed { context.memory.failed(plan.upstream, now: ports.time.now()) }
        act(machine.attemptFailed(failure, situation))
    }

    private func act(_ decision: RecoveryMachine.Decision) {
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
            discard()
            resumeAt = at
            step = .wait
        }
    }

    /// Takes a success to the caller, by way of the program's own transform where there is one.
    private func accept(_ response: HTTPResponse, isQuickRecovered: Bool) {
        if let hooks = context.hooks {
            do throws(Failure) {
                try hooks.accept(response, isQuickRecovered: isQuickRecovered)
            } catch {
                var failure = error
                failure.status = failure.status ?? response.status
                failure.response = failure.response ?? response
                failure.exchange = machine.attempts.last?.exchange
                // After a quick recovery a failed transform is final: no rule is asked.
                return isQuickRecovered ? ended(failure) : decide(named(failure))
            }
        }
        if machine.attempts.count > 1 || machine.attempts.last?.failure != nil {
            ports.sink.record(.recovered(context, attempts: machine.attempts))
        }
        end(.answered(response, .upstream))
    }

    private func respond(_ canned: CannedResponse, rule: String) {
        var fields = HeaderFields()
        for field in canned.fields { fields.append(field.name, field.value) }
        let response = HTTPResponse(
            status: canned.status,
            fields: fields,
            body: canned.body.isEmpty ? .empty : .bytes(canned.body)
        )
        respond(response, canned.source, rule: rule)
    }

    private func respond(_ response: HTTPResponse, _ source: CannedResponse.Source, rule: String) {
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

    private func ended(_ failure: Failure) {
        if context.isBreached(by: failure) { ports.sink.record(.neverFailsBreached(context, failure)) }
        ports.sink.record(.jobFailed(context, failure, attempts: machine.attempts))
        end(.failed(failure, answer: answer))
    }

    private func end(_ ending: Outcome.Ending) {
        outcome = Outcome(ending: ending, attempts: machine.attempts)
        step = .end
    }

    private func discard() {
        if case .stream(let source)? = answer?.body { source.cancel() }
        answer = nil
    }

    private func reportBegin() {
        if let hooks = context.hooks, let attempt = machine.attempts.last { hooks.attemptBegan(attempt) }
    }
}
