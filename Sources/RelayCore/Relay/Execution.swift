/// One job on its way, between its waits: everything a decision needs and nothing that waits.
///
/// A class, so that the frames of the waiting code hold one reference. Confined to the job's task.
final class Execution {
    let context: JobContext
    let preparation: Preparation
    let judge: ResponseJudge
    private(set) var machine: RecoveryMachine
    private(set) var plan: RecoveryMachine.Plan
    /// The upstream's answer to the last attempt, where it failed with one.
    private var answer: Response?
    private(set) var failure: Failure?
    /// Generation of the credential the current attempt carries, and of the last one that was refused.
    var generation: UInt64 = 0
    private(set) var refused: UInt64?
    private let ports: RelayPorts
    private let canRefresh: Bool

    init(_ context: JobContext, _ preparation: consuming Preparation, canRefresh: Bool, ports: RelayPorts) {
        self.context = context
        self.ports = ports
        self.canRefresh = canRefresh
        var options = context.options
        options.hasIdempotencyKey = options.hasIdempotencyKey || preparation.isKeyed
        self.preparation = preparation
        let now = ports.time.now()
        judge = ResponseJudge(route: context.route, method: context.method)
        machine = RecoveryMachine(route: context.route, method: context.method, options: options, now: now)
        plan = machine.attemptBegan(at: now)
    }

    /// What is to be done next; what goes with it stands in the properties below.
    enum Next {
        case send
        /// Until `resumeAt`.
        case wait
        /// With `outcome`.
        case end
    }

    private(set) var resumeAt = Instant(nanoseconds: 0)
    private(set) var outcome: Outcome?

    func attempt(_ token: Token?) -> OutboundRequest {
        generation = token?.generation ?? 0
        return preparation.attempt(plan, token: token, time: ports.time)
    }

    func waited() { plan = machine.attemptBegan(at: ports.time.now()) }

    /// Bytes of the answer's body that must be in memory before it can be judged; nil when it can be judged now.
    func collects(_ inbound: InboundResponse) -> Int? {
        guard case .stream(let source) = inbound.response.body else { return nil }
        if judge.needsBody(inbound.response.status) { return judge.inspectLimit }
        if let length = source.length, length <= Relay.collectLimit { return Int(Relay.collectLimit) }
        return nil
    }

    func answered(_ inbound: InboundResponse) -> Next {
        switch judge.judge(inbound, time: ports.time) {
        case .success(let response):
            machine.attemptSucceeded(at: ports.time.now(), status: response.status, exchange: inbound.exchange)
            return succeeded(response)
        case .quickRecovered(let response, let from):
            machine.quickRecovered(from: from, at: ports.time.now())
            return succeeded(response)
        case .failure(let failure, let answer):
            self.answer = answer
            return decide(failure)
        }
    }

    func failed(_ failure: Failure) -> Next {
        answer = nil
        if let recovered = judge.quickRecovery(failure, nil) {
            machine.quickRecovered(from: failure, at: ports.time.now())
            return succeeded(recovered)
        }
        return decide(judge.named(failure))
    }

    /// The caller went away while the job waited.
    func cancelled() {
        let failure = Failure(.cancelled, sent: failure?.sent ?? .neverSent, "the caller went away")
        _ = ended(.failed(failure, answer: nil))
    }
}

extension Execution {
    private func decide(_ found: Failure) -> Next {
        var failure = found
        if Task.isCancelled, failure.kind != .cancelled {
            failure = Failure(.cancelled, sent: failure.sent, "the caller went away")
        }
        self.failure = failure
        let decision = machine.attemptFailed(
            failure, at: ports.time.now(), canRepeat: preparation.body.isReplayable, canRefresh: canRefresh,
            random: ports.entropy.next())
        if let attempt = machine.attempts.last { ports.sink.record(.attemptFailed(context, attempt)) }
        switch decision {
        case .fail: return ended(.failed(failure, answer: answer))
        case .respond(let canned, let rule):
            discard()
            return respond(canned, rule: rule)
        case .failover:
            discard()
            plan = machine.attemptBegan(at: ports.time.now())
            return .send
        case .refreshCredentials:
            discard()
            refused = generation
            plan = machine.attemptBegan(at: ports.time.now())
            return .send
        case .retry(let at):
            discard()
            resumeAt = at
            return .wait
        }
    }

    private func succeeded(_ response: Response) -> Next {
        if machine.attempts.count > 1 || machine.attempts.last?.failure != nil {
            ports.sink.record(.recovered(context, attempts: machine.attempts))
        }
        outcome = Outcome(ending: .answered(response, .upstream), attempts: machine.attempts)
        return .end
    }

    private func respond(_ canned: CannedResponse, rule: String) -> Next {
        var fields = HeaderFields()
        for field in canned.fields { fields.append(field.name, field.value) }
        let response = Response(
            status: canned.status, fields: fields, body: canned.body.isEmpty ? .empty : .bytes(canned.body))
        ports.sink.record(
            .fallbackServed(context, source: canned.source, rule: rule, attempts: machine.attempts))
        let source: Outcome.Source = canned.source == .fallback ? .fallback : .placeholder
        outcome = Outcome(ending: .answered(response, source), attempts: machine.attempts)
        return .end
    }

    private func ended(_ ending: Outcome.Ending) -> Next {
        if case .failed(let failure, _) = ending {
            ports.sink.record(.jobFailed(context, failure, attempts: machine.attempts))
        }
        outcome = Outcome(ending: ending, attempts: machine.attempts)
        return .end
    }

    private func discard() {
        if case .stream(let source)? = answer?.body { source.cancel() }
        answer = nil
    }
}
