extension RoutePolicy {
    /// Refuses what could not work, before the first request meets it.
    func check(credentials: [String]) throws(Refusal) {
        guard !upstreams.isEmpty else { throw Refusal("the policy has no upstream", hint: "give it one") }
        guard Set(upstreams.map(\.name)).count == upstreams.count else {
            throw Refusal("two upstreams have one name", hint: "name them differently")
        }
        guard upstreams[0].use == .always else {
            throw Refusal(
                "the first upstream serves no ordinary attempts",
                hint: "list one of use .always first"
            )
        }
        guard upstreams.count(where: { $0.use == .whenConstrained }) <= 1 else {
            throw Refusal("two upstreams take the first one's place while the network is constrained")
        }
        guard (1...100).contains(maxAttempts) else {
            throw Refusal("maxAttempts is \(maxAttempts)", hint: "choose 1 to 100")
        }
        guard timeouts.total > .zero, timeouts.attempt > .zero, timeouts.connect > .zero,
            timeouts.idle > .zero
        else { throw Refusal("a timeout is not above zero", hint: "every wait needs an end") }
        if let authentication, !credentials.contains(authentication.credential) {
            throw Refusal(
                "authentication names the credential \"\(authentication.credential)\", and there is none",
                hint: "pass its definition in credentials"
            )
        }
        for rule in recovery { try check(rule) }
        if neverFails, !hasTotalFallback {
            throw Refusal(
                "neverFails needs a rule that answers every failure",
                hint: "end recovery with .placeholder(on: .any, …), and let no .fail stand before it"
            )
        }
    }

    private func check(_ rule: RecoveryRule) throws(Refusal) {
        switch rule.action {
        case .failover(let target):
            guard upstreams.indices.contains(target), target != 0 else {
                throw Refusal(
                    "rule \"\(rule.name)\" fails over to upstream \(target)",
                    hint: "choose 1 to \(upstreams.count - 1); 0 is the ordinary one"
                )
            }
        case .refreshCredentials:
            guard authentication != nil else {
                throw Refusal("rule \"\(rule.name)\" refreshes a credential, and the policy has none")
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
        case .respond, .consult, .fail: break
        }
    }

    /// Whether every failure meets a rule that answers it.
    package var hasTotalFallback: Bool {
        for rule in recovery {
            switch rule.action {
            case .respond: if rule.on.tokens.contains(.any) { return true }
            case .fail: return false
            default: break
            }
        }
        return false
    }
}
