import RelayBase
import RelayRoute

extension Execution {
    /// Gets the credential of the attempt that has begun: at once where there is a good one.
    @inline(never)
    func obtainToken() async {
        var result = readyToken
        if result == nil { result = await fetchedToken() }
        guard let result else { return machine.missedToken(moment) }
        obtained(result)
    }

    /// The credential of the attempt that has begun, or its failure; nil when it has to be waited for.
    var readyToken: Result<Token, Failure>? {
        vault.readyToken(credential, refused: machine.refused, ports: ports)
    }

    /// Waits for the credential until the attempt's deadline; nil when that came first.
    @inline(never)
    private func fetchedToken() async -> Result<Token, Failure>? {
        let result = await cancelling(at: deadline, ports.time) {
            [vault, credential, ports, refused = machine.refused] in
            await Result { () async throws(Failure) in
                try await vault.token(credential, refused: refused, ports: ports)
            }
        }
        if case .failure(let failure) = result, failure.kind == .cancelled, !Task.isCancelled { return nil }
        return result
    }

    /// The name of the credential that the attempt carries.
    private var credential: String { context.route.policy.authentication?.credential ?? "" }
}
