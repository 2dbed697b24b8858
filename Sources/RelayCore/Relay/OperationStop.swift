import RelayBase
import RelayJobs
import RelayRoute

/// One request that has an upstream stop the operation of a job that is cancelled: sent once, whatever becomes of it.
///
/// It needs no leave of the upstream's traffic, as an operation that goes on takes more of it than the request.
struct OperationStop: Sendable {
    private let context: JobContext
    private let preparation: Preparation
    private let target: String
    private let plan: RecoveryMachine.Plan

    init(_ context: JobContext, _ follow: Follow, _ plan: RecoveryMachine.Plan) {
        self.context = context
        preparation = follow.preparation
        target = follow.operation.target
        self.plan = plan
    }

    /// Sends it, within the time of an attempt.
    ///
    /// - Returns: its record, by `told` or `untold`.
    func send(_ ports: RelayPorts, _ vault: CredentialVault) async -> Attempt {
        let began = ports.time.now()
        var attempt = Attempt(
            number: plan.number,
            upstream: plan.upstream.name,
            beganAt: ports.time.wallMilliseconds()
        )
        attempt.lookUp = .untold
        do throws(Failure) {
            let inbound = try await ports.transport.send(try await request(ports, vault))
            (attempt.status, attempt.exchange) = (inbound.response.status, inbound.exchange)
            if case .stream(let content) = inbound.response.body { content.cancel() }
            if inbound.response.status.class == .success {
                attempt.lookUp = .told
            } else {
                let status = inbound.response.status
                attempt.failure = Failure(
                    .httpStatus,
                    sent: .answered,
                    "the upstream answered \(status.rawValue) when it was told to stop the operation",
                    status: status,
                    exchange: inbound.exchange
                )
            }
        } catch {
            (attempt.failure, attempt.exchange) = (error, error.exchange)
        }
        attempt.duration = began.duration(to: ports.time.now())
        return attempt
    }

    private func request(
        _ ports: RelayPorts,
        _ vault: CredentialVault
    ) async throws(Failure) -> OutboundRequest {
        if context.route.closing(ports.time.now(), wall: ports.time.wallMilliseconds()) != nil {
            throw Failure(
                .routeClosed,
                sent: .neverSent,
                "the route is closed, and nothing is sent to the upstream"
            )
        }
        if context.constrainedUse > .light, ports.isConstrained(), ports.presentUse(context) > .light {
            throw Failure.networkConstrained(context, ports.presentUse(context))
        }
        var token: Token?
        if let name = context.route.policy.authentication?.credential {
            token = try await cancelling(at: plan.deadline, ports.time) {
                await Result { () async throws(Failure) in
                    try await vault.token(name, refused: nil, ports: ports)
                }
            }.get()
        }
        return try preparation.attempt(
            plan,
            token: token,
            wallSeconds: ports.moment.wallSeconds,
            redirect: Redirect(stoppingAt: target),
            signer: ports.signer
        )
    }
}

extension ExecutionMachine {
    /// Whether the caller of an operation that goes on has gone away, and the upstream is told so.
    ///
    /// Mutating, so that the machine is not copied for it.
    var owesStop: Bool {
        mutating get {
            guard questions != nil, case .end(.failed(let failure)) = step, failure.kind == .cancelled else {
                return false
            }
            // One that is done would lose its result by that.
            return !isOperationDone && questions?.follow?.rules.settings.cancel != nil
        }
    }

    /// The request that stops the operation, which is owed once.
    mutating func takeStop(_ moment: Moment) -> OperationStop? {
        guard owesStop, let follow = questions?.follow else { return nil }
        questions?.follow = nil
        // The time of the request is its caller's, who has none left for this.
        let stop = OperationStop(
            context,
            follow,
            recovery.stopPlan(upstreamIndex: follow.upstreamIndex, at: moment.now)
        )
        return stop
    }

    /// The upstream was told, or not.
    mutating func stopped(_ attempt: Attempt) { recovery.stopEnded(attempt) }
}

extension RecoveryMachine {
    /// Where a request goes that stops an operation, and when it must be over: no attempt of the job.
    func stopPlan(upstreamIndex: Int, at now: Instant) -> Plan {
        let limit = RecoveryMachine.attemptLimit(route, options)
        return Plan(
            number: (history?.attempts ?? 0) + attempts.count + 1,
            upstream: route.policy.upstreams[upstreamIndex],
            upstreamIndex: upstreamIndex,
            deadline: now.advanced(by: limit.duration ?? .zero),
            limit: limit,
            end: nil
        )
    }

    mutating func stopEnded(_ attempt: Attempt) { attempts.append(attempt) }
}
