package import RelayBase
package import RelayRoute

/// A program's own code in the way of one job; the daemon's jobs have none.
///
/// Called in the job's task and in the order of an attempt. An error that it throws is a failure like any other.
package protocol JobHooks: AnyObject, Sendable {
    /// Whether there is anything to do in that phase.
    func hasSteps(_ phase: PreparationPhase) -> Bool

    /// Makes the job's request, or one attempt's from the unprepared one.
    func prepare(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        number: Int
    ) async throws(Failure) -> HTTPRequest

    /// The failure that an answer is by its content, on any status; nil when it is none.
    func classify(_ response: HTTPResponse) -> Failure?

    /// The success a failure is after all; nil when it is none. There is no answer when none came.
    func quickRecovery(_ failure: Failure, _ response: HTTPResponse?) -> HTTPResponse?

    /// Validates and transforms an answer, and keeps what came of it.
    func accept(_ response: HTTPResponse, isQuickRecovered: Bool) throws(Failure)

    /// Names a failure before the rules read it.
    func named(_ failure: Failure) -> Failure

    /// Asks one of the program's strategies about a failed request, which is the unprepared one.
    func consult(
        _ strategy: any RecoveryStrategy,
        about failure: Failure,
        of request: HTTPRequest,
        _ context: RecoveryContext
    ) async -> RecoveryDisposition

    /// An attempt begins; `request` is the unprepared one.
    func attemptBegan(_ attempt: Attempt, of request: HTTPRequest)
    func responded(_ response: HTTPResponse, _ attempt: Attempt)
    func decided(_ attempt: Attempt)
}
