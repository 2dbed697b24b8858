extension Relay {
    /// Gets the credential of the attempt that has begun: at once where there is a good one.
    @inline(never)
    func obtainToken(_ execution: Execution, _ vault: CredentialVault) async {
        guard let name = execution.machine.context.route.policy.authentication?.credential else { return }
        var result = vault.readyToken(name, refused: execution.machine.refused, ports: ports)
        if result == nil { result = await fetchedToken(name, execution, vault) }
        switch result {
        case .success(let token): execution.machine.obtained(token, execution.moment)
        case .failure(let failure): execution.machine.failed(failure, execution.moment)
        case nil: execution.machine.missedToken(execution.moment)
        }
    }

    /// Waits for the credential until the attempt's deadline; nil when that came first.
    @inline(never)
    private func fetchedToken(
        _ name: String,
        _ execution: Execution,
        _ vault: CredentialVault
    ) async -> Result<Token, Failure>? {
        let refused = execution.machine.refused
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
