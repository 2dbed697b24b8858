package import RelayBase
import RelayJobs
import RelayRoute

/// Begins requests: what all of them have in common.
///
/// The same code serves the daemon and programs that use the library: what differs is behind the ports.
package final class Relay: Sendable {
    package let ports: RelayPorts
    /// Fields every attempt carries, such as `Via`.
    private let added: HeaderFields
    /// The same for who names its own agent, made once.
    private let addedBesideAgent: HeaderFields

    package init(ports: RelayPorts, added: HeaderFields = HeaderFields()) {
        self.ports = ports
        self.added = added
        var others = added
        others.remove(.userAgent)
        addedBesideAgent = others
    }

    /// Whether jobs may be driven without a task, on the thread of their transport.
    package var isPrompt: Bool { ports.promptTransport != nil }

    /// Runs one request that is not durable, and tells of its end; its time counts from `began`, by default from now.
    package func perform(
        _ request: HTTPRequest,
        context: JobContext,
        vault: CredentialVault,
        since began: Instant? = nil
    ) async -> Outcome {
        let outcome: Outcome
        switch await beginCollecting(request, context, vault, since: began) {
        case .failure(let failure):
            outcome = Outcome(context, failure, sentOnceBecause: request.body.sentOnceBecause)
        case .success(let execution):
            await execution.run()
            // The fate of content that goes to a program is between the program and the content's source.
            execution.answerEnded(.whole)
            outcome = execution.outcome
        }
        ports.sink.record(.ended(outcome.report))
        return outcome
    }

    /// Begins a job, which is driven from there; its time counts from `began`, by default from now, without that in
    /// which its content has `moved`.
    @inline(never)
    package func begin(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        since began: Instant? = nil,
        moved: Duration = .zero
    ) -> Result<Execution, Failure> {
        do throws(Failure) {
            // Without a name it is not copied.
            return .success(
                Execution(
                    try ExecutionMachine(
                        request,
                        context,
                        added: addedFields(for: request),
                        canRefresh: canRefresh(context.route, vault),
                        refused: context.history == nil ? nil : context.memory.takeRefusal(of: context.id),
                        isConstrained: ports.isConstrained(for: context),
                        since: began,
                        moved: moved,
                        ports.moment
                    ),
                    ports: ports,
                    vault: vault
                )
            )
        } catch {
            return .failure(error)
        }
    }

    func addedFields(for request: HTTPRequest) -> HeaderFields {
        request.fields.contains(.userAgent) ? addedBesideAgent : added
    }

    func canRefresh(_ route: Route, _ vault: CredentialVault) -> Bool {
        guard let authentication = route.policy.authentication else { return false }
        return vault.canRefresh(authentication.credential)
    }
}
