/// Runs one request through preparation, attempts and recovery to its one outcome.
///
/// The same code serves the daemon and programs that use the library: what differs is behind the ports.
package final class Relay: Sendable {
    package let ports: RelayPorts
    /// Fields every attempt carries, such as `Via`.
    private let added: HeaderFields

    package init(ports: RelayPorts, added: HeaderFields = HeaderFields()) {
        self.ports = ports
        self.added = added
    }

    /// Bodies of a known length up to this are collected before they are passed on, so that a truncated answer can
    /// still be retried; anything else streams through.
    package static let collectLimit: UInt64 = 262_144

    package func perform(
        _ request: Request, route: Route, vault: CredentialVault, options: JobOptions, context: JobContext
    ) async -> Outcome {
        let began = ports.time.now()
        let preparation: Preparation
        do throws(Failure) {
            preparation = try await Preparation(
                request, route: route, job: context.id, added: added, wallSeconds: ports.time.wallSeconds())
        } catch {
            ports.sink.record(.jobFailed(context, error, attempts: []))
            return Outcome(ending: .failed(error, answer: nil), attempts: [])
        }
        var options = options
        options.hasIdempotencyKey = options.hasIdempotencyKey || preparation.isKeyed
        var machine = RecoveryMachine(route: route, method: request.method, options: options, now: began)
        let judge = ResponseJudge(route: route, method: request.method)
        var context = context
        context.maxAttempts = machine.maxAttempts
        var refused: UInt64?
        var generation: UInt64 = 0

        while true {
            let plan = machine.attemptBegan(at: ports.time.now())
            var failure: Failure
            var answer: Response?
            do throws(Failure) {
                let token = try await token(route, vault, refused, plan.deadline)
                generation = token?.generation ?? 0
                let outbound = preparation.attempt(plan, token: token, wallSeconds: ports.time.wallSeconds())
                let inbound = try await exchange(outbound, judge)
                switch judge.judge(inbound, wallSeconds: ports.time.wallSeconds()) {
                case .success(let response):
                    machine.attemptSucceeded(
                        at: ports.time.now(), status: response.status, exchange: inbound.exchange)
                    return finish(.answered(response, .upstream), machine, context)
                case .quickRecovered(let response, let from):
                    machine.quickRecovered(from: from, at: ports.time.now())
                    return finish(.answered(response, .upstream), machine, context)
                case .failure(let found, let given):
                    failure = found
                    answer = given
                }
            } catch {
                if let recovered = judge.quickRecovery(error, nil) {
                    machine.quickRecovered(from: error, at: ports.time.now())
                    return finish(.answered(recovered, .upstream), machine, context)
                }
                failure = judge.named(error)
            }
            if Task.isCancelled, failure.kind != .cancelled {
                failure = Failure(.cancelled, sent: failure.sent, "the caller went away")
            }
            let decision = machine.attemptFailed(
                failure, at: ports.time.now(), canRepeat: preparation.body.isReplayable,
                canRefresh: route.policy.authentication.map { vault.canRefresh($0.credential) } ?? false,
                random: ports.entropy.next())
            if let attempt = machine.attempts.last { ports.sink.record(.attemptFailed(context, attempt)) }

            switch decision {
            case .fail:
                return finish(.failed(failure, answer: answer), machine, context)
            case .respond(let canned, let rule):
                discard(answer)
                return respond(canned, rule: rule, machine, context)
            case .failover:
                discard(answer)
            case .refreshCredentials:
                discard(answer)
                refused = generation
            case .retry(let at):
                discard(answer)
                do throws(CancellationError) {
                    try await ports.time.sleep(until: at)
                } catch {
                    let cancelled = Failure(.cancelled, sent: failure.sent, "the caller went away")
                    return finish(.failed(cancelled, answer: nil), machine, context)
                }
            }
        }
    }
}

extension Relay {
    private func token(
        _ route: Route, _ vault: CredentialVault, _ refused: UInt64?, _ deadline: Instant
    ) async throws(Failure) -> Token? {
        guard let authentication = route.policy.authentication else { return nil }
        let name = authentication.credential
        if let ready = vault.readyToken(name, refused: refused, ports: ports) { return try ready.get() }
        let result = await cancelling(at: deadline, ports.time) { [ports] () -> Result<Token, Failure> in
            do throws(Failure) {
                return .success(try await vault.token(name, refused: refused, ports: ports))
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let failure)? = result, failure.kind == .cancelled, !Task.isCancelled {
            throw Failure(
                .credentialsFailed, sent: .neverSent,
                "the credential \"\(name)\" was not there before the attempt's deadline")
        }
        return try result?.get()
    }

    /// Sends one attempt and holds as much of the answer as its judgement needs.
    private func exchange(
        _ outbound: OutboundRequest, _ judge: ResponseJudge
    ) async throws(Failure) -> InboundResponse {
        var inbound = try await ports.transport.send(outbound)
        guard case .stream(let source) = inbound.response.body else { return inbound }
        let limit: Int
        if judge.needsBody(inbound.response.status) {
            limit = judge.inspectLimit
        } else if let length = source.length, length <= Relay.collectLimit {
            limit = Int(Relay.collectLimit)
        } else {
            return inbound
        }
        source.bound(by: outbound.deadline)
        do throws(Failure) {
            inbound.response.body = .bytes(try await inbound.response.body.collect(limit: limit))
        } catch {
            var failure = error
            failure.status = inbound.response.status
            failure.exchange = failure.exchange ?? inbound.exchange
            throw failure
        }
        return inbound
    }

    private func respond(
        _ canned: CannedResponse, rule: String, _ machine: RecoveryMachine, _ context: JobContext
    ) -> Outcome {
        var fields = HeaderFields()
        for field in canned.fields { fields.append(field.name, field.value) }
        let body: Body = canned.body.isEmpty ? .empty : .bytes(canned.body)
        let response = Response(status: canned.status, fields: fields, body: body)
        ports.sink.record(
            .fallbackServed(context, source: canned.source, rule: rule, attempts: machine.attempts))
        let source: Outcome.Source = canned.source == .fallback ? .fallback : .placeholder
        return Outcome(ending: .answered(response, source), attempts: machine.attempts)
    }

    private func finish(
        _ ending: Outcome.Ending, _ machine: RecoveryMachine, _ context: JobContext
    ) -> Outcome {
        switch ending {
        case .answered:
            if machine.attempts.contains(where: { $0.failure != nil }) {
                ports.sink.record(.recovered(context, attempts: machine.attempts))
            }
        case .failed(let failure, _):
            ports.sink.record(.jobFailed(context, failure, attempts: machine.attempts))
        }
        return Outcome(ending: ending, attempts: machine.attempts)
    }

    private func discard(_ answer: Response?) {
        if case .stream(let source)? = answer?.body { source.cancel() }
    }
}
