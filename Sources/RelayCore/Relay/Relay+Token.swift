import RelayBase
import RelayRoute

extension Relay {
    /// Gets the credential of the attempt that has begun: at once where there is a good one.
    @inline(never)
    func obtainToken(_ execution: Execution) async {
        var result = readyToken(execution)
        if result == nil { result = await fetchedToken(execution) }
        guard let result else { return execution.machine.missedToken(execution.moment) }
        execution.obtained(result)
    }

    /// The credential of the attempt that has begun, or its failure; nil when it has to be waited for.
    func readyToken(_ execution: Execution) -> Result<Token, Failure>? {
        execution.vault.readyToken(execution.credential, refused: execution.machine.refused, ports: ports)
    }

    /// Waits for the credential until the attempt's deadline; nil when that came first.
    @inline(never)
    private func fetchedToken(_ execution: Execution) async -> Result<Token, Failure>? {
        let (vault, name, refused) = (execution.vault, execution.credential, execution.machine.refused)
        let result = await cancelling(at: execution.deadline, ports.time) {
            [ports] in
            await Result { () async throws(Failure) in
                try await vault.token(name, refused: refused, ports: ports)
            }
        }
        if case .failure(let failure) = result, failure.kind == .cancelled, !Task.isCancelled { return nil }
        return result
    }
}

extension Execution {
    /// The name of the credential that the attempt carries.
    fileprivate var credential: String { machine.context.route.policy.authentication?.credential ?? "" }
}
