package import RelayBase
package import RelayCore
package import RelayJobs

extension JobChange {
    /// All that a store tells of a job, to be compared.
    package var text: String {
        let why = [reason?.name, end?.rawValue].compactMap { $0 }.map { " (\($0))" }.joined()
        let submitter = user.map { " of user \($0)" } ?? ""
        return "\(id) on \(route)\(submitter): \(state.name)\(why) after \(attemptCount) by \(cause)"
    }
}

extension StoreUnderTest {
    /// Keeps a job of user 7.
    package func acceptOfUser(_ change: (inout NewJob) -> Void = { _ in }) async throws -> JobID {
        try await accept {
            $0.record.submitter = JobRecord.Submitter(user: 7, unit: nil)
            change(&$0)
        }
    }

    /// The words of a store for the end of such a job.
    package func end(
        _ id: JobID,
        _ state: JobState,
        _ end: EndReason,
        after attempts: Int = 0,
        _ cause: JobChange.Cause = .store
    ) -> String {
        JobChange(
            id: id,
            route: "hooks",
            user: 7,
            state: state,
            end: end,
            attemptCount: attempts,
            cause: cause
        ).text
    }
}

extension JobReport {
    /// The same of an account that the engine tells.
    package var text: String {
        let change = JobChange(
            id: id,
            route: route,
            user: user,
            state: state,
            reason: reason,
            end: end,
            attemptCount: attemptCount,
            cause: cause
        )
        return change.text
    }
}
