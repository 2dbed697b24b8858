/// The end of an answer whose head was with its caller before its content was there.
package enum AnswerEnd: Sendable {
    /// All of it has come from its upstream.
    case whole
    /// The rest will not come: the attempt has failed after all.
    case broke(Failure)
    /// Its caller has gone away, or the relay stops.
    case unwanted

    var isBroken: Bool { if case .broke = self { true } else { false } }

    /// Why it is not whole, as the route calls it; nil of one that is.
    func failure(_ route: Route, _ attempt: Attempt?) -> Failure? {
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

extension JobReport {
    /// How long its last attempt took.
    package var lastTook: Duration { attempts.isEmpty ? .zero : attempts[attempts.count - 1].duration }

    /// The account of a request whose answer has ended like that; `taken` is how long its last attempt has been under way.
    ///
    /// The answer's head was with the caller by then, and said otherwise.
    package func ended(_ end: AnswerEnd, taken: Duration) -> JobReport {
        guard let context, let failure = end.failure(context.route, attempts.last) else { return self }
        var attempts = attempts
        if let last = attempts.indices.last {
            attempts[last].failure = failure
            attempts[last].duration = taken
        }
        return JobReport(self, brokenBy: failure, attempts)
    }
}
