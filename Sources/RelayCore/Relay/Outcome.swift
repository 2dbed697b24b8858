/// How a job ended: exactly one of these, exactly once.
package struct Outcome: Sendable {
    package enum Ending: Sendable {
        case answered(HTTPResponse, Source)
        /// `answer` is the upstream's last one, passed on as it is; nil when there was none.
        case failed(Failure, answer: HTTPResponse?)
    }

    package typealias Source = AnswerSource

    package var ending: Ending
    package var attempts: [Attempt]
    /// Whether the job still holds a place of its route's concurrency.
    package var hasPlace: Bool
    /// Why a rule wants the route paused.
    package var pauseReason: String?
    /// The memory its answer takes, until that is passed on.
    package var room: MemoryHold?

    package init(ending: Ending, attempts: [Attempt], hasPlace: Bool = true) {
        self.ending = ending
        self.attempts = attempts
        self.hasPlace = hasPlace
    }
}

/// Who made an answer.
public enum AnswerSource: String, Sendable {
    /// The upstream.
    case upstream
    /// A rule of the route, as its fallback.
    case fallback
    /// A rule of the route or the request itself, as a placeholder.
    case placeholder
    /// The upstream, some time ago: its last good answer to the same request.
    case stale
}
