extension Route {
    /// Attempts one job may make, the caller's bound included.
    func maxAttempts(_ options: JobOptions, isDurable: Bool) -> Int {
        let own = isDurable ? policy.delivery.maxAttempts ?? policy.maxAttempts : policy.maxAttempts
        return options.maxAttempts.map { min($0, own) } ?? own
    }

    /// Whether a request of the route may be sent again although nobody knows what became of it (RFC 9110 §9.2.2).
    func mayRepeat(_ method: Method, isKeyed: Bool) -> Bool {
        method.isIdempotent || isKeyed
            || policy.recovery.contains { rule in
                switch rule.action {
                case .retry(let policy): policy.methods == .any
                case .consult(_, let methods): methods == .any
                case .refreshCredentials, .failover, .respond, .respondStale, .fail, .deadLetter, .pauseRoute,
                    .hold:
                    false
                }
            }
    }
}
