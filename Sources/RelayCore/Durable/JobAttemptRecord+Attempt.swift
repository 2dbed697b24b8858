extension JobAttemptRecord {
    /// What the store keeps of an attempt.
    ///
    /// - Parameters:
    ///   - attempt: an attempt of a run that is over.
    ///   - wallNow: milliseconds since 1970 UTC, read together with `now`.
    ///   - now: the present on the clock of the attempt.
    package init(_ attempt: Attempt, wallNow: Int64, now: Instant) {
        let age = attempt.began.duration(to: now).saturatedNanoseconds / 1_000_000
        self.init(
            upstream: attempt.upstream,
            beganAt: wallNow.subtractingSaturating(age),
            duration: attempt.duration,
            sent: attempt.failure?.sent ?? .answered
        )
        number = attempt.number
        address = attempt.exchange?.address
        nameLookup = attempt.exchange?.nameLookup ?? .zero
        connect = attempt.exchange?.connect ?? .zero
        firstByte = attempt.exchange?.firstByte
        wasResent = attempt.exchange?.wasResent ?? false
        status = attempt.status
        failureKind = attempt.failure?.kind
        detail = attempt.failure?.detail
        rule = attempt.rule
        decision = attempt.next?.name
        if case .retry(let after) = attempt.next { wait = after }
        heldBack = attempt.heldBack.map { HeldRule(rule: $0.rule, reason: $0.reason.text) }
        // A stop burns no attempt, not even one that it met on the wire.
        isSpent = sent != .neverSent && failureKind != .cancelled
    }
}
