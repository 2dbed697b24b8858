import RelayBase

extension FailureCause {
    /// The one whose fault a failed attempt is, and the limits for which it counts.
    package var meaning: String {
        switch self {
        case .upstream:
            """
            The attempt failed for the upstream, which is not there or not well: it counts for breaker, window and budget.
            Do: Mend the upstream.
            """
        case .tooMany:
            """
            The upstream says that it is asked too much: it is sent less, and its breaker stays as it is.
            Do: Wait, or send less; waystation limits ROUTE
            """
        case .request:
            """
            The upstream is there, and does not like the request: it counts for no limit.
            Do: Mend the request; the upstream's answer says why.
            """
        case .caller:
            """
            The caller did not do its part, or gave up early: it counts for nothing.
            Do: See the program that sent the request.
            """
        case .relay:
            """
            The relay lacked something, or held the request back: it counts for nothing against the upstream.
            Do: See the detail of the attempt, and waystation status.
            """
        }
    }
}
