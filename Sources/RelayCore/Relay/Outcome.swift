/// How a job ended: exactly one of these, exactly once.
package struct Outcome: Sendable {
    package enum Ending: Sendable {
        case answered(HTTPResponse, Source)
        /// `answer` is the upstream's last one, passed on as it is; nil when there was none.
        case failed(Failure, answer: HTTPResponse?)
    }

    /// Who made the answer.
    package enum Source: String, Sendable {
        case upstream
        case fallback
        case placeholder
        case stale
    }

    package var ending: Ending
    package var attempts: [Attempt]
    /// Whether the job still holds a place of its route's concurrency.
    package var hasPlace: Bool

    package init(ending: Ending, attempts: [Attempt], hasPlace: Bool = true) {
        self.ending = ending
        self.attempts = attempts
        self.hasPlace = hasPlace
    }
}
