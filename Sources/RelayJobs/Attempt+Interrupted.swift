package import RelayBase

extension Attempt {
    /// The account of an attempt that a crash cut short.
    package init(interrupted begun: BegunAttempt, number: Int) {
        self.init(number: number, upstream: begun.upstream, beganAt: begun.beganAt)
        failure = Failure(
            .interrupted,
            sent: .unknown,
            "the relay ended without warning while the attempt was under way; whether it was sent is not known"
        )
        guard begun.isResent else { return }
        exchange = Exchange()
        exchange?.wasResent = true
    }
}
