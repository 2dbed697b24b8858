package import RelayBase
import RelayJobs
import RelayRoute

extension Relay {
    /// Runs a durable job, whose context has its history, to its end or to its first wait.
    ///
    /// A step that a rule takes without a wait happens within the run: a new credential, another upstream, a redirect.
    ///
    /// - Parameters:
    ///   - request: the job's own request; a body that is a stream can begin again.
    ///   - context: with the job's history.
    ///   - vault: the credentials in force.
    /// - Returns: how the run ended, and what it tried; attempts that came to nothing before they were sent, through no
    ///   fault of the job, are not among them.
    package func deliver(
        _ request: HTTPRequest,
        context: JobContext,
        vault: CredentialVault
    ) async -> Delivery {
        if let end = end(before: request, context) { return end }
        switch await beginCollecting(request, context, vault) {
        case .failure(let failure): return refused(context, failure)
        case .success(let execution):
            await execution.run()
            return execution.delivery
        }
    }

    /// A run that has begun, or is over before its first attempt.
    package enum Beginning {
        case begun(Execution)
        case over(Delivery)
    }

    /// Begins such a run, which is driven from there; the request's body is in memory.
    package func beginDelivery(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault
    ) -> Beginning {
        if let end = end(before: request, context) { return .over(end) }
        switch begin(request, context, vault) {
        case .failure(let failure): return .over(refused(context, failure))
        case .success(let execution): return .begun(execution)
        }
    }

    /// The end of a job that may not be sent once more.
    private func end(before request: HTTPRequest, _ context: JobContext) -> Delivery? {
        guard let history = context.history else {
            preconditionFailure("the job to deliver has no history")
        }
        if let operation = history.operation {
            let upstreams = context.route.policy.upstreams
            var why = Relay.unfollowed
            if let rules = context.route.follow, let index = operation.index(among: upstreams) {
                if rules.settings.mayAsk(operation.target, of: upstreams[index]) { return nil }
                why = Failure(
                    .followRefused,
                    sent: .answered,
                    "the upstream has begun an operation whose address is not followed: "
                        + OperationAddress.outside(upstreams[index])
                )
            }
            // The reason stands on record as a look that was not taken.
            var look = Attempt(
                number: history.attempts + 1,
                upstream: operation.upstream,
                beganAt: ports.time.wallMilliseconds()
            )
            (look.lookUp, look.failure) = (.unanswered, why)
            return Delivery(context, .dead(.outcomeUnknown), why, attempts: [look])
        }
        let isDoubted = history.wasInterrupted || history.doubt?.isEarlier == false
        // The upstream is asked first, where it is known which one.
        if history.asksFirst(on: context.route, request.method) { return nil }
        if history.wasInterrupted, history.spentAttempts >= context.maxAttempts {
            return Delivery(context, .dead(.exhausted), Relay.spent)
        }
        // The store has let it go on by the rules of its acceptance, and those in force may say less.
        if isDoubted, !context.route.mayRepeatAfterCrash(request.method, request.fields) {
            return Delivery(context, .dead(.outcomeUnknown), Relay.unrepeatable)
        }
        return nil
    }

    private static let spent = Failure(
        .interrupted,
        sent: .unknown,
        "the relay ended without warning during the last attempt that the job is allowed"
    )

    private static let unfollowed = Failure(
        .operationLost,
        sent: .answered,
        "the upstream has begun an operation, and the route follows it no more: its follow or the upstream that answered is gone"
    )

    private static let unrepeatable = Failure(
        .interrupted,
        sent: .unknown,
        "the relay ended without warning during an attempt, and the route's rules do not repeat such a request any more"
    )

    /// The run ended before its first attempt, which says nothing of earlier ones.
    private func refused(_ context: JobContext, _ failure: Failure) -> Delivery {
        switch failure.kind {
        case .deadlineExceeded: Delivery(context, .expired, nil)
        case .storedBodyCorrupt: Delivery(context, .dead(.corrupt), failure)
        case .storedBodyUnread, .cancelled: Delivery(context, .requeued(after: .seconds(1), nil), failure)
        default:
            // The rules in force may not ask about a job that those of its acceptance have left in doubt.
            Delivery(context, .dead(context.mayHaveActed ? .outcomeUnknown : .rejected), failure)
        }
    }
}

extension JobContext {
    /// Whether an earlier attempt of the job may have been carried out, of which nobody knows.
    fileprivate var mayHaveActed: Bool {
        guard let history, !method.isSafe else { return false }
        return history.isInDoubt || history.wasInterrupted || history.doubt != nil || history.operation != nil
    }
}
