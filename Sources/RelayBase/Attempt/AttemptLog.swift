/// Where the attempts of a durable job's run go on record before they are sent.
package protocol AttemptLog: AnyObject, Sendable {
    /// Returns once it is on disk that `attempt` is under way, and what became of the `earlier` ones of its run.
    ///
    /// - Returns: whether it is a new one; asked again for the same attempt, which goes on after a redirect, it returns
    ///   at once.
    /// - Throws: `cancelled` when the job is to have no other attempt, `attempt_unrecorded` when that could not be
    ///   kept; nothing may be sent then.
    func begin(_ attempt: Attempt, after earlier: ArraySlice<Attempt>) async throws(Failure) -> Bool

    /// Whether a first byte may be sent of the job; asked when everything else is ready for it.
    var maySend: Bool { get }

    /// The same of an attempt that is on record already; nil of any other, which has to be waited for.
    func beginNow(_ attempt: Attempt) -> Bool?

    /// Returns once it is on disk that the attempt under way goes out once more.
    ///
    /// - Throws: as `begin`; it may not go out then.
    func resend() async throws(Failure)
}

extension Failure {
    /// Others may take the job over, or have done so.
    package static var unsure: Failure {
        Failure(
            .attemptUnrecorded,
            sent: .neverSent,
            "the lease of this node in the database is nearly over, and could not be renewed yet"
        )
    }
}

extension AttemptLog {
    package var maySend: Bool { true }
    package func beginNow(_ attempt: Attempt) -> Bool? { nil }
}
