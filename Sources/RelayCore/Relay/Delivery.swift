/// How one run of a durable job came out: what the store is told.
///
/// A run ends with the first wait: however long or short that is, it is the store that keeps it.
package struct Delivery: Sendable {
    package enum Ending: Sendable {
        case succeeded(HTTPResponse, AnswerSource)
        case dead(Failure, EndReason)
        /// Its time ran out; nil when nothing was tried.
        case expired(Failure?)
        case cancelled
        /// Due again after a wait that a rule named.
        case retry(after: Duration, Failure)
        /// Not sent for a reason that is not the job's: nothing is burned.
        case back(WaitReason?, Failure)
        /// Put aside until an operator lets it go on.
        case held(Failure)
        /// The route is to be paused, and the job waits for it, unless it has come to an `end`.
        case routePaused(reason: String, Failure, end: EndReason?)
    }

    package var ending: Ending
    /// What was tried in this run.
    package var attempts: [Attempt]
    /// The upstream's last answer, where the run did not succeed and there was one.
    package var answer: HTTPResponse?
    /// Whether one of the attempts may have been carried out and may not be repeated.
    package var leavesDoubt = false
    /// The memory its answer takes, until that is on disk.
    package var room: MemoryHold?
    /// There was no room for the answer's content, which nothing had to look into.
    package var lacksContent = false

    package init(ending: Ending, attempts: [Attempt], answer: HTTPResponse? = nil) {
        self.ending = ending
        self.attempts = attempts
        self.answer = answer
    }
}
