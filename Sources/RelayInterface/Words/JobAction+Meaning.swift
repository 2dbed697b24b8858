package import RelayJobs

extension JobAction {
    /// The effect of the action in a sentence, and the line `Do:` of the glossary.
    package var meaning: String {
        switch self {
        case .retry:
            """
            Makes a waiting job due now, and starts one that is dead, cancelled or expired again.
            Do: See waystation help jobs.
            """
        case .cancel:
            """
            Cancels a waiting job, and asks a running one to stop.
            Do: See waystation help jobs.
            """
        case .hold:
            """
            Puts a waiting job aside until it is released.
            Do: See waystation help jobs.
            """
        case .release:
            """
            Lets a held job wait for its next attempt again.
            Do: See waystation help jobs.
            """
        case .drop:
            """
            Deletes a job that is not running, except for its idempotency key.
            Do: See waystation help jobs.
            """
        case .expunge:
            """
            Erases the content of a job that is over: bodies, fields, query and the upstream's words. Its record stays.
            Do: Cancel a job that is not over first. See waystation help jobs.
            """
        }
    }
}
