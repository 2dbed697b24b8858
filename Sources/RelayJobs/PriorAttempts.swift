package import RelayBase

/// The attempts for a request that became a kept job only after them: its caller has an answer in the upstream's stead.
package struct PriorAttempts: Sendable {
    /// In order; they are the job's first.
    package var attempts: [Attempt]
    /// Whether one of them may have been carried out that the route would not repeat.
    package var isUncertain: Bool
    /// The stand-in that its caller is answered with.
    package var standIn: StandIn
    /// When the next attempt is due, counted from acceptance.
    package var wait: Duration
    /// The rest of the time in which its caller has to have an answer.
    package var timeLeft: Duration

    package init(
        _ attempts: [Attempt],
        isUncertain: Bool = false,
        standIn: StandIn,
        wait: Duration,
        timeLeft: Duration = .zero
    ) {
        self.attempts = attempts
        self.isUncertain = isUncertain
        self.standIn = standIn
        self.wait = wait
        self.timeLeft = timeLeft
    }
}
