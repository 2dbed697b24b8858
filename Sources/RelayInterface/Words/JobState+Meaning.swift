package import RelayJobs

extension JobState {
    /// The sentence of the state, and what to do about it.
    package var meaning: String {
        switch self {
        case .scheduled:
            """
            The job is not due before the date that its caller named.
            Do: Wait; or cancel it, hold it, or retry it, which makes it due now.
            """
        case .queued:
            """
            The job is due, and is sent as soon as nothing holds it back; blocker says what does.
            Do: Wait, or mend what it waits for; cancel or hold it if it should not go.
            """
        case .running:
            """
            The job is with the upstream.
            Do: Wait; to watch it: waystation jobs watch JOB; to cut the attempt off: waystation jobs cancel JOB
            """
        case .retrying:
            """
            An attempt has failed, and the next is due at a date.
            Do: Wait; or cancel it, hold it, or retry it, which makes it due now.
            """
        case .held:
            """
            The job is put aside until its route goes on or somebody releases it.
            Do: Resume its route where that is paused, else release it; or cancel it.
            """
        case .succeeded:
            """
            The job is over: the upstream did what was asked.
            Do: No action is needed; drop it, or expunge its bodies, if they should not be kept.
            """
        case .dead:
            """
            The job is over without success, and end says why.
            Do: Mend the cause, then retry it, which gives it another life; or drop it.
            """
        case .cancelled:
            """
            The job is over because somebody cancelled it or a newer one took its place.
            Do: Retry it if that was a mistake, or drop it.
            """
        case .expired:
            """
            The job is over because its time ran out before it was delivered.
            Do: Retry it, which takes the expiry away, or drop it.
            """
        }
    }
}
