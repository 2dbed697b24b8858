import RelayBase
package import RelayRoute

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
        return broken(by: failure, attempts)
    }
}

extension EventSink {
    /// Tells of a request whose answer's content has ended like that.
    package func tell(_ answered: JobReport, _ end: AnswerEnd, taken: Duration) {
        if case .whole = end { return record(.ended(answered)) }
        let report = answered.ended(end, taken: taken)
        if report.failure != nil, let context = report.context, let attempt = report.attempts.last {
            record(.attemptFailed(context, attempt))
        }
        record(.ended(report))
    }
}
