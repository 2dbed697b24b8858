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
        if context.route.policy.request.wrap != nil, case .stream = request.body {
            return await performCollected(request, context, vault)
        }
        let execution: Execution
        switch begin(request, context, vault) {
        case .success(let begun): execution = begun
        case .failure(let failure):
            ports.sink.record(.jobFailed(context, failure, attempts: []))
            return Outcome(ending: .failed(failure, answer: nil), attempts: [])
        }
        while true {
            if let outcome = execution.outcome { return outcome }
            if case .wait = await attempt(execution, vault) { await wait(execution) }
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
                time: ports.time)
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
            return execution.answered(try await collect(inbound, limit, by: execution.plan.deadline))
        } catch {
            return execution.failed(error)
        }
    }

    private func collect(
        _ inbound: InboundResponse, _ limit: Int, by deadline: Instant
    ) async throws(Failure) -> InboundResponse {
        var inbound = inbound
        if case .stream(let source) = inbound.response.body { source.bound(by: deadline) }
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

    private func wait(_ execution: Execution) async {
        do throws(CancellationError) {
            try await ports.time.sleep(until: execution.resumeAt)
            execution.waited()
        } catch {
            execution.cancelled()
        }
    }

    /// A body that is to be wrapped has to be in memory first.
    private func performCollected(
        _ request: Request, _ context: JobContext, _ vault: CredentialVault
    ) async -> Outcome {
        if let bytes = try? await request.body.collect(limit: Preparation.wrapLimit) {
            var request = request
            request.body = bytes.isEmpty ? .empty : .bytes(bytes)
            return await perform(request, context: context, vault: vault)
        }
        let failure = Failure(
            .preparation, sent: .neverSent, "the request body could not be read to be wrapped")
        ports.sink.record(.jobFailed(context, failure, attempts: []))
        return Outcome(ending: .failed(failure, answer: nil), attempts: [])
    }
}
