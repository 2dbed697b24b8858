package import RelayCore

extension JobReport {
    /// All that a store tells of a job, to be compared.
    package var text: String {
        let why = [reason?.name, end?.rawValue].compactMap { $0 }.map { " (\($0))" }.joined()
        let submitter = user.map { " of user \($0)" } ?? ""
        return "\(id) on \(route)\(submitter): \(state.name)\(why) after \(attemptCount) by \(cause)"
    }
}
