import RelayBase
import RelayRoute

extension RoutePolicy {
    /// Refuses a rule whose action could not work.
    func check(_ rule: RecoveryRule) throws(Refusal) {
        switch rule.action {
        case .failover(let target, _):
            guard upstreams.indices.contains(target), target != 0 else {
                throw Refusal(
                    "rule \"\(rule.name)\" fails over to upstream \(target)",
                    hint: "choose 1 to \(upstreams.count - 1); 0 is the ordinary one"
                )
            }
        case .refreshCredentials(let maxTimes):
            guard authentication != nil else {
                throw Refusal("rule \"\(rule.name)\" refreshes a credential, and the policy has none")
            }
            guard (1...10).contains(maxTimes) else {
                throw Refusal(
                    "rule \"\(rule.name)\" refreshes a credential \(maxTimes) times",
                    hint: "choose 1 to 10"
                )
            }
        case .respondStale:
            guard response.keepsLastGood != nil else {
                throw Refusal(
                    "rule \"\(rule.name)\" answers with the last good answer, and none is kept",
                    hint: "set response.keepsLastGood"
                )
            }
        case .retry(let policy):
            guard (1...100).contains(policy.maxAttempts) else {
                throw Refusal(
                    "rule \"\(rule.name)\" allows \(policy.maxAttempts) attempts",
                    hint: "choose 1 to 100"
                )
            }
            try check(policy.backoff, rule.name)
            guard policy.maxRetryAfter >= .zero else {
                throw Refusal("maxRetryAfter of rule \"\(rule.name)\" is below zero")
            }
        case .respond(let answer): try check(answer.status, "rule \"\(rule.name)\"")
        case .consult, .fail, .deadLetter, .pauseRoute, .hold: break
        }
    }

    private func check(_ backoff: Backoff, _ rule: String) throws(Refusal) {
        switch backoff.schedule {
        case .constant(let delay): try check(delay, rule)
        case .list(let delays):
            if delays.isEmpty { throw Refusal("the waits of rule \"\(rule)\" are an empty list") }
            for delay in delays { try check(delay, rule) }
        case .exponential(let base, let multiplier, let maximum):
            try check(base, rule)
            guard (1...100).contains(multiplier) else {
                throw Refusal(
                    "the waits of rule \"\(rule)\" grow by the factor \(multiplier)",
                    hint: "choose 1 to 100"
                )
            }
            guard base <= maximum else {
                throw Refusal(
                    "the waits of rule \"\(rule)\" begin above their maximum (\(DurationText.text(maximum)))"
                )
            }
        }
        if case .percent(let percent) = backoff.jitter, !(0...100).contains(percent) {
            throw Refusal("the jitter of rule \"\(rule)\" is \(percent) percent", hint: "choose 0 to 100")
        }
    }

    private func check(_ delay: Duration, _ rule: String) throws(Refusal) {
        if delay < .zero { throw Refusal("a wait of rule \"\(rule)\" is below zero") }
    }

    /// Refuses a matcher that names what no failure can be.
    func check(_ matcher: FailureMatcher, _ owner: String) throws(Refusal) {
        for token in matcher.tokens {
            switch token {
            case .status(let status): try check(status, owner)
            case .kind(let kind): try check(kind, owner)
            case .any, .exhausted, .statusClass, .group: break
            }
        }
    }

    func check(_ status: Status, _ owner: String) throws(Refusal) {
        guard status.class != nil else {
            throw Refusal("\(owner) names the status \(status.rawValue)", hint: "choose 200 to 599")
        }
    }

    /// A kind that nothing defines may be one of `Request.classify`, unless it looks like a slip.
    private func check(_ kind: FailureKind, _ owner: String) throws(Refusal) {
        guard FailureMatcher.token(kind.rawValue) == .kind(kind) else {
            throw Refusal(
                "\(owner) names the kind \"\(kind.rawValue)\", which means something else",
                hint:
                    "write .any, .exhausted, a group such as .timeout, a class such as .serverError, or a status"
            )
        }
        let known = FailureKind.known + errorTypes.map(\.kind) + success.fail.map(\.kind)
        if known.contains(kind) { return }
        let words = known.map(\.rawValue) + FailureGroup.allCases.map(\.rawValue) + ["any", "exhausted"]
        guard let meant = nearestWord(to: kind.rawValue, among: words) else { return }
        throw Refusal(
            "\(owner) names the kind \"\(kind.rawValue)\", and there is none",
            hint: "did you mean \"\(meant)\"? a kind of your own needs a name less like it"
        )
    }
}
