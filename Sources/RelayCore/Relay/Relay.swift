/// Runs one request through preparation, attempts and recovery to its one outcome.
///
/// The same code serves the daemon and programs that use the library: what differs is behind the ports. What is
/// decided is decided in `Execution`; here is only the waiting.
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

    package func perform(_ request: Request, context: JobContext, vault: CredentialVault) async -> Outcome {
        var request = request
        if context.route.policy.request.wrap != nil, case .stream = request.body {
            guard let body = await collected(request.body) else { return unreadable(context) }
            request.body = body
        }
        let execution: Execution
        switch begin(request, context, vault) {
        case .success(let begun): execution = begun
        case .failure(let failure):
            ports.sink.record(.jobFailed(context, failure, attempts: []))
            return Outcome(ending: .failed(failure, answer: nil), attempts: [])
        }
        while true {
            switch await attempt(execution, vault) {
            case .send: continue
            case .end(let outcome): return outcome
            case .wait(let until):
                guard (try? await ports.time.sleep(until: until)) != nil else {
                    if case .end(let outcome) = execution.cancelled() { return outcome }
                    continue
                }
                execution.waited()
            }
        }
    }
}

extension Relay {
    private func begin(
        _ request: Request, _ context: JobContext, _ vault: CredentialVault
    ) -> Result<Execution, Failure> {
        do throws(Failure) {
            let preparation = try Preparation(
                request, route: context.route, job: context.id, added: added,
                wallSeconds: ports.time.wallSeconds())
            let canRefresh = context.route.policy.authentication.map { vault.canRefresh($0.credential) } ?? false
            return .success(Execution(context, preparation, canRefresh: canRefresh, ports: ports))
        } catch {
            return .failure(error)
        }
    }

    private func attempt(_ execution: Execution, _ vault: CredentialVault) async -> Execution.Next {
        do throws(Failure) {
            var token: Token?
            if let authentication = execution.context.route.policy.authentication {
                token = try await self.token(authentication.credential, execution, vault)
            }
            let inbound = try await ports.transport.send(execution.attempt(token))
            guard let limit = execution.collects(inbound) else { return execution.answered(inbound) }
            return execution.answered(try await collect(inbound, limit))
        } catch {
            return execution.failed(error)
        }
    }

    private func collect(_ inbound: InboundResponse, _ limit: Int) async throws(Failure) -> InboundResponse {
        var inbound = inbound
        do throws(Failure) {
            inbound.response.body = .bytes(try await inbound.response.body.collect(limit: limit))
            return inbound
        } catch {
            var failure = error
            failure.status = inbound.response.status
            failure.exchange = failure.exchange ?? inbound.exchange
            throw failure
        }
    }

    private func token(
        _ name: String, _ execution: Execution, _ vault: CredentialVault
    ) async throws(Failure) -> Token {
        let refused = execution.refused
        if let ready = vault.readyToken(name, refused: refused, ports: ports) { return try ready.get() }
        let result = await cancelling(
            at: execution.plan.deadline, ports.time
        ) { [ports] () -> Result<Token, Failure> in
            do throws(Failure) {
                return .success(try await vault.token(name, refused: refused, ports: ports))
            } catch {
                return .failure(error)
            }
        }
        let isLate =
            switch result {
            case nil: true
            case .failure(let failure): failure.kind == .cancelled && !Task.isCancelled
            case .success: false
            }
        guard let result, !isLate else {
            throw Failure(
                .credentialsFailed, sent: .neverSent,
                "the credential \"\(name)\" was not there before the attempt's deadline")
        }
        return try result.get()
    }

    private func collected(_ body: Body) async -> Body? {
        (try? await body.collect(limit: Preparation.wrapLimit)).map { $0.isEmpty ? .empty : .bytes($0) }
    }

    private func unreadable(_ context: JobContext) -> Outcome {
        let failure = Failure(
            .preparation, sent: .neverSent, "the request body could not be read to be wrapped")
        ports.sink.record(.jobFailed(context, failure, attempts: []))
        return Outcome(ending: .failed(failure, answer: nil), attempts: [])
    }
}
