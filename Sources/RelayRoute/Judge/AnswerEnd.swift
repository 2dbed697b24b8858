package import RelayBase

/// The end of an answer whose head was with its caller before its content was there.
package enum AnswerEnd: Sendable {
    /// All of it has come from its upstream.
    case whole
    /// The rest will not come: the attempt has failed after all.
    case broke(Failure)
    /// Its caller has gone away, or the relay stops.
    case unwanted

    package var isBroken: Bool { if case .broke = self { true } else { false } }

    /// Why it is not whole, as the route calls it; nil of one that is.
    package func failure(_ route: Route, _ attempt: Attempt?) -> Failure? {
        switch self {
        case .whole: return nil
        case .unwanted:
            return Failure(
                .cancelled,
                sent: .answered,
                "the caller went away in the middle of the answer",
                status: attempt?.status,
                exchange: attempt?.exchange
            )
        case .broke(var failure):
            failure.status = attempt?.status
            failure.exchange = attempt?.exchange
            return failure.isCallers ? failure : ResponseJudge(route: route, method: .get).named(failure)
        }
    }
}
