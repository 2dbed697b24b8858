package import RelayBase

extension Attempt.Next.Word {
    /// The effect of the action, and what to do then.
    package var meaning: String {
        switch self {
        case .retry:
            """
            The request is sent again, at once or after a wait.
            Do: No action is needed; the rule's max_attempts bounds it.
            """
        case .refreshCredentials:
            """
            The credential is fetched anew, and the request sent again with it.
            Do: No action is needed; the rule's max_times bounds it.
            """
        case .failover:
            """
            The request goes to another upstream.
            Do: See why the first one failed; a request that may have been carried out moves only where methods says \
            so.
            """
        case .respond:
            """
            An answer is given in the upstream's stead.
            Do: See why the upstream did not answer.
            """
        case .respondAndKeep:
            """
            An answer was given in the upstream's stead, and the request goes on as a kept job, which has the id of \
            the request unless its idempotency key was known.
            Do: See why the upstream did not answer; waystation explain JOB tells when it is tried again.
            """
        case .quickRecovery:
            """
            The failure counts as a success, because quick_recovery of the route says so.
            Do: No action is needed.
            """
        case .verify:
            """
            The upstream is asked what became of the attempt, because verify of the route says so: what it finds is the \
            success, what it does not have may be sent again.
            Do: No action is needed; where it cannot say, the request stays in doubt.
            """
        case .follow:
            """
            The answer has begun an operation of the upstream, which is looked at until it is over, because follow of the \
            route says so.
            Do: No action is needed; the request is not sent again meanwhile.
            """
        case .hedge:
            """
            Of two sendings of the same request the other one goes on, because hedge of the route says so: this one was \
            answered later, which is nobody's fault, or failed first.
            Do: No action is needed.
            """
        case .fail:
            """
            The request fails at once, without the rules below.
            Do: See the failure; mend its cause.
            """
        case .deadLetter:
            """
            The job is given up for an operator to look at; a request that waits fails.
            Do: Mend the cause, then retry the job, or drop it.
            """
        case .pauseRoute:
            """
            The route is paused, and the job waits for it; a request that waits fails.
            Do: When the cause is gone: waystation resume ROUTE
            """
        case .hold:
            """
            The job is put aside for an operator; a request that waits fails.
            Do: When it may go on: waystation jobs release JOB
            """
        }
    }
}

extension Word {
    /// Rules that a route has unasked.
    static let rules: KeyValuePairs<String, String> = [
        "stale-token": """
        Stands in front of the rules of a route whose credential can be fetched again and that has no rule with \
        refresh_credentials: a 401 fetches it anew, once a job, and the request is sent again.
        Do: No action is needed; a rule with refresh_credentials takes its place, and refresh_on_401 of the route's \
        auth switches it off.
        """,
        "deliver-later": """
        The only rule of kept jobs on a route without a recovery list: what may pass by itself is tried again, ever \
        more rarely, for two days.
        Do: No action is needed; a recovery list takes its place, also an empty one.
        """,
    ]
}
