import RelayBase
import RelayRoute

// The one wait that signing costs: a body that comes in pieces is awaited before the first attempt.
extension Relay {
    func needsCollecting(_ request: HTTPRequest, _ context: JobContext) -> Bool {
        guard context.route.policy.signing != nil, case .stream = request.body else { return false }
        return true
    }

    /// Begins the job with its request's body in memory; fails when that is too large, or does not come.
    @inline(never)
    func beginCollected(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        since began: Instant? = nil,
        moved: Duration = .zero
    ) async -> Result<Execution, Failure> {
        let start = ports.time.now()
        let collected = await Result { () async throws(Failure) in
            try await collectedForSigning(request, context, since: began)
        }
        let all = moved + start.duration(to: ports.time.now())
        return collected.flatMap { begin($0, context, vault, since: began, moved: all) }
    }

    private func collectedForSigning(
        _ request: HTTPRequest,
        _ context: JobContext,
        since began: Instant?
    ) async throws(Failure) -> HTTPRequest {
        guard case .stream(let source) = request.body else { return request }
        let limit = WebhookSigning.bodyLimit
        let machine = RecoveryMachine(
            route: context.route,
            method: request.method,
            options: context.options,
            now: began ?? ports.time.now(),
            history: context.history
        )
        if let end = machine.end { source.bound(by: end.moment) }
        let (bytes, isWhole) = try await source.beginning(limit: limit)
        guard isWhole else {
            source.cancel()
            throw .preparation(
                "a request is signed with its whole body, which may have \(limit) bytes and has more: send a"
                    + " smaller one, or use a route that does not sign"
            )
        }
        var collected = request
        collected.body = bytes.isEmpty ? .empty : .bytes(bytes)
        return collected
    }
}
