extension Relay {
    /// Runs a durable job, whose context has its history, to its end or to its first wait.
    ///
    /// What a rule does without a wait happens within the run: a new credential, another upstream, a redirect.
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
        guard let history = context.history else {
            preconditionFailure("the job to deliver has no history")
        }
        if history.wasInterrupted, history.spentAttempts >= context.maxAttempts {
            return Delivery(ending: .dead(Relay.spent, .exhausted), attempts: [])
        }
        // The store has let it go on by the rules of its acceptance, and those in force may say less.
        if history.wasInterrupted, !JobRecord.mayRepeat(request.method, request.fields, on: context.route) {
            return Delivery(ending: .dead(Relay.unrepeatable, .outcomeUnknown), attempts: [])
        }
        var request = request
        if needsCollecting(request, context) {
            do throws(Failure) {
                request = try await collectedForSigning(request, context, since: nil)
            } catch {
                return refusedDelivery(error)
            }
        }
        let execution: Execution
        switch begin(request, context, vault, nil) {
        case .success(let begun): execution = begun
        case .failure(let failure): return refusedDelivery(failure)
        }
        await run(execution, vault)
        return execution.takeDelivery()
    }

    private static let spent = Failure(
        .interrupted,
        sent: .unknown,
        "the relay ended without warning during the last attempt that the job is allowed"
    )

    private static let unrepeatable = Failure(
        .interrupted,
        sent: .unknown,
        "the relay ended without warning during an attempt, and the route's rules do not repeat such a request any more"
    )

    /// The run ended before its first attempt.
    private func refusedDelivery(_ failure: Failure) -> Delivery {
        let ending: Delivery.Ending =
            switch failure.kind {
            case .deadlineExceeded: .expired(nil)
            case .storedBodyCorrupt: .dead(failure, .corrupt)
            case .storedBodyUnread, .cancelled: .back(nil, failure)
            default: .dead(failure, .rejected)
            }
        return Delivery(ending: ending, attempts: [])
    }
}
