package import RelayBase
package import RelayRoute

extension Route {
    /// How long after the next attempt of a kept job its last one is, where each fails at once as the last one did; nil
    /// where that does not end in its death.
    ///
    /// `made` are its attempts, and `spent` those of them that count against its allowance. All of them are taken for
    /// failures of the same rule, whose waits are without jitter and `Retry-After`.
    package func lastAttempt(
        afterNextOf kind: FailureKind,
        _ status: Status?,
        made: Int,
        spent: Int
    ) -> Duration? {
        let failure = Failure(kind, sent: .answered, "", status: status)
        guard
            let index = deliveryRules.firstIndex(where: {
                !$0.reports && $0.on.matches(failure, isExhausted: false)
            }),
            case .retry(let policy) = deliveryRules[index].action, diesBelow(index, failure)
        else { return nil }
        // A spared attempt costs neither rule nor job; one that was never sent costs the job nothing.
        let uses = kind == .httpStatus ? spent : made
        var attempts = policy.maxAttempts
        if spent > 0 { attempts = min(attempts, uses + maxAttempts(JobOptions(), isDurable: true) - spent) }
        return (uses + 1..<max(uses + 1, attempts)).reduce(.zero) {
            $0 + policy.backoff.delay(beforeRetry: $1)
        }
    }

    /// Whether the rules below that one let a kept job die that they find exhausted.
    private func diesBelow(_ index: Int, _ failure: Failure) -> Bool {
        for rule in deliveryRules[(index + 1)...]
        where !rule.reports && rule.on.matches(failure, isExhausted: true) {
            switch rule.action {
            case .respond, .respondStale: continue
            case .fail, .deadLetter: return true
            case .retry, .refreshCredentials, .failover, .consult, .pauseRoute, .hold: return false
            }
        }
        return true
    }
}
