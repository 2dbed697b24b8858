/// Where the attempts of a durable job's run go on record before they are sent.
package protocol AttemptLog: AnyObject, Sendable {
    /// Returns once it is on disk that `attempt` is under way, and what became of the `earlier` ones of its run.
    ///
    /// - Returns: whether it is a new one; asked again for the same attempt, which goes on after a redirect, it returns
    ///   at once.
    /// - Throws: `cancelled` when the job is to have no other attempt, `attempt_unrecorded` when that could not be
    ///   kept; nothing may be sent then.
    func begin(_ attempt: Attempt, after earlier: ArraySlice<Attempt>) async throws(Failure) -> Bool

    /// The same of an attempt that is on record already; nil of any other, which has to be waited for.
    func beginNow(_ attempt: Attempt) -> Bool?

    /// Returns once it is on disk that the attempt under way goes out once more.
    ///
    /// - Throws: as `begin`; it may not go out then.
    func resend() async throws(Failure)
}

extension AttemptLog {
    package func beginNow(_ attempt: Attempt) -> Bool? { nil }
}

extension FailureKind {
    /// An attempt of a durable job could not go on record, and was not sent: no rule is asked.
    package static let attemptUnrecorded = FailureKind(own: "attempt_unrecorded")
}
