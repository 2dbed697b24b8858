package import RelayJobs

extension JobAction {
    /// The effect of the action, and what to know before.
    package var meaning: String {
        switch self {
        case .retry:
            """
            Makes a waiting job due now, and gives one that is dead, cancelled or expired another life.
            Do: See waystation help jobs.
            """
        case .cancel:
            """
            Ends a job that waits, and asks for the end of one that runs.
            Do: See waystation help jobs.
            """
        case .hold:
            """
            Puts a waiting job aside until it is released.
            Do: See waystation help jobs.
            """
        case .release:
            """
            Lets a held job go on.
            Do: See waystation help jobs.
            """
        case .drop:
            """
            Removes a job that is not running, with everything about it but its idempotency key.
            Do: See waystation help jobs.
            """
        case .expunge:
            """
            Removes what a job that is over was sent and answered: bodies, fields, query and the upstream's words. Its \
            record stays.
            Do: Cancel a job that is not over first. See waystation help jobs.
            """
        }
    }
}
