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
