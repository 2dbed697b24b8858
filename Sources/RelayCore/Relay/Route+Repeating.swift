package import RelayBase
package import RelayRoute

extension Route {
    /// Attempts one job may make, the caller's bound included.
    func maxAttempts(_ options: JobOptions, isDurable: Bool) -> Int {
        let own = isDurable ? policy.delivery.maxAttempts ?? policy.maxAttempts : policy.maxAttempts
        return options.maxAttempts.map { min($0, own) } ?? own
    }

    /// Whether a request of the route may be sent again after a failure that leaves it open whether it was carried out
    /// (RFC 9110 §9.2.2): its repetition is safe, or a rule for such failures repeats every request.
    func mayRepeat(_ method: Method, isKeyed: Bool, after failure: Failure, isExhausted: Bool) -> Bool {
        method.isIdempotent || isKeyed || repeatsAny(after: failure, isExhausted: isExhausted)
    }

    /// Whether the rules, read from the top, repeat every request after such a failure: one that ends the job or puts it
    /// aside decides before those below it.
    private func repeatsAny(after failure: Failure, isExhausted: Bool) -> Bool {
        for rule in deliveryRules
        where !rule.reports && rule.on.matches(failure, isExhausted: isExhausted) {
            if failure.isOfOperation, rule.mayLeadToRepeating, !rule.on.names(failure.kind) { continue }
            switch rule.action {
            case .retry(let policy) where policy.maxAttempts > 1: if policy.methods == .any { return true }
            case .failover(_, let methods), .consult(_, let methods): if methods == .any { return true }
            case .retry, .refreshCredentials, .respond, .respondStale: continue
            case .fail, .deadLetter, .pauseRoute, .hold: return false
            }
        }
        return false
    }

    /// The same after a crash or a stop, of a request as its caller sent it: its method is idempotent, it carries a key by
    /// which the upstream recognises it, which may be one that the route adds, or a rule repeats every request that was
    /// cut off.
    ///
    /// Asked at acceptance, for the job's record, and again of the rules in force before it is sent after a crash.
    package func mayRepeatAfterCrash(_ method: Method, _ fields: HeaderFields) -> Bool {
        if method.isIdempotent { return true }
        if !mayBeKeyed(fields) { return mayRepeatAfterCrash(method, isKeyed: false) }
        // Without content nothing in the preparation can fail, and only its fields are asked for here.
        let prepared = try? Preparation(
            HTTPRequest(method: method, target: "", fields: fields),
            route: self,
            job: JobID(high: 0, low: 0),
            added: HeaderFields(),
            wallSeconds: 0
        )
        return mayRepeatAfterCrash(method, isKeyed: prepared?.isKeyed ?? false)
    }

    /// Whether anything could give a request with these fields a key: nearly none has to be prepared to see that it has none.
    private func mayBeKeyed(_ fields: HeaderFields) -> Bool {
        policy.signing != nil || policy.idempotency.generates || !policy.request.setFields.isEmpty
            || !policy.prepare.isEmpty || fields.contains(.idempotencyKey)
            || keyFields.contains { fields.contains($0) }
    }

    /// The same of a prepared one: no rule was asked about it, so that a rule has to repeat every request that was cut off
    /// or had no answer in time.
    func mayRepeatAfterCrash(_ method: Method, isKeyed: Bool) -> Bool {
        if method.isIdempotent || isKeyed { return true }
        guard repeatsAny else { return false }
        return [FailureKind.connectionTerminated, .httpResponseTimeout].contains { kind in
            let cut = Failure(kind, sent: .unknown, "the relay was interrupted")
            let named = ResponseJudge(route: self, method: method).named(cut)
            return mayRepeat(method, isKeyed: isKeyed, after: named, isExhausted: false)
        }
    }
}
