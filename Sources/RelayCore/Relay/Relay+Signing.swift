package import RelayBase
import RelayRoute

// The one wait that signing costs, and a question that looks into the content: a body that comes in pieces is awaited before the first attempt.
extension Relay {
    /// Begins a job as `begin` does, with the body in memory where it is signed; fails when that is too large, or does
    /// not come.
    package func beginCollecting(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        since began: Instant? = nil,
        moved: Duration = .zero
    ) async -> Result<Execution, Failure> {
        guard context.looksIntoBody, case .stream(let source) = request.body else {
            return begin(request, context, vault, since: began, moved: moved)
        }
        let start = ports.time.now()
        let machine = RecoveryMachine(
            route: context.route,
            method: request.method,
            options: context.options,
            now: began ?? start,
            history: context.history
        )
        if let end = machine.end { source.bound(by: end.moment) }
        let limit = WebhookSigning.bodyLimit
        do throws(Failure) {
            let (bytes, isWhole) = try await source.beginning(limit: limit)
            guard isWhole else {
                source.cancel()
                throw .preparation(
                    "a request that is signed, or that verify looks into, is collected first, and may have \(limit) bytes:"
                        + " send a smaller one, or use another route"
                )
            }
            var collected = request
            collected.body = bytes.isEmpty ? .empty : .bytes(bytes)
            let all = moved + start.duration(to: ports.time.now())
            return begin(collected, context, vault, since: began, moved: all)
        } catch {
            return .failure(error)
        }
    }
}

extension JobContext {
    /// Whether all of its content has to be there before its first attempt.
    fileprivate var looksIntoBody: Bool {
        if route.policy.signing != nil { return true }
        guard let rules = route.lookUp, !method.isSafe else { return false }
        return !rules.pointers.isEmpty
    }
}
