/// How a job ended: exactly one of these, exactly once.
package struct Outcome: Sendable {
    package enum Ending: Sendable {
        case answered(Response, Source)
        /// `answer` is the upstream's last one, passed on as it is; nil when there was none.
        case failed(Failure, answer: Response?)
    }

    /// Who made the answer.
    package enum Source: String, Sendable {
        case upstream
        case fallback
        case placeholder
    }

    package var ending: Ending
    package var attempts: [Attempt]

    package init(ending: Ending, attempts: [Attempt]) {
        self.ending = ending
        self.attempts = attempts
    }
}
