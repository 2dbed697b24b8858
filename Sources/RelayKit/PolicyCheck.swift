import RelayBase
import RelayRoute

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
        try checkTimes()
        try checkFields()
        try checkPins()
        if let authentication, !credentials.contains(authentication.credential) {
            throw Refusal(
                "authentication names the credential \"\(authentication.credential)\", and there is none",
                hint: "pass its definition in credentials"
            )
        }
        try checkPlainHTTP()
        for rule in recovery {
            try check(rule)
            try check(rule.on, "rule \"\(rule.name)\"")
        }
        for type in errorTypes {
            let name = "the error type \"\(type.kind.rawValue)\""
            if let matcher = type.on { try check(matcher, name) }
            if let status = type.treatAsStatus { try check(status, name) }
        }
        if neverFails, !hasTotalFallback {
            throw Refusal(
                "neverFails needs a rule that answers every failure",
                hint:
                    "end recovery with .placeholder(…) or .fallback(…) on .any, and let no .fail stand before it"
            )
        }
    }

    /// Only public addresses are dialled where none are allowed.
    private func checkPlainHTTP() throws(Refusal) {
        guard let authentication else { return }
        for upstream in upstreams where upstream.allowedAddresses.isEmpty {
            guard case .tcp(_, _, isTLS: false) = upstream.origin else { continue }
            throw Refusal(
                "the credential \"\(authentication.credential)\" would cross the public network unencrypted:"
                    + " upstream \"\(upstream.name)\" is http",
                hint: "use https, or name in allowedAddresses the addresses of a network that is your own"
            )
        }
    }

    /// The upstreams, where a credential goes over plain http to a network of one's own confined to that network: their
    /// names may come to lead elsewhere.
    var confinedUpstreams: [Upstream] {
        guard authentication != nil else { return upstreams }
        return upstreams.map { upstream in
            guard case .tcp(_, _, isTLS: false) = upstream.origin else { return upstream }
            return upstream.confined
        }
    }

    private func checkTimes() throws(Refusal) {
        guard timeouts.total > .zero, timeouts.attempt > .zero, timeouts.connect > .zero,
            timeouts.idle > .zero
        else { throw Refusal("a timeout is not above zero", hint: "every wait needs an end") }
        guard timeouts.attempt <= timeouts.total else {
            throw Refusal(
                "timeouts.attempt (\(DurationText.text(timeouts.attempt))) is longer than timeouts.total "
                    + "(\(DurationText.text(timeouts.total)))",
                hint: "set both"
            )
        }
        if let upstream = upstreams.first(where: { $0.cooldown < .zero }) {
            throw Refusal("the cooldown of upstream \"\(upstream.name)\" is below zero")
        }
        if let kept = response.keepsLastGood?.maxAge, !(.seconds(1) ... .seconds(30 * 86_400)).contains(kept)
        {
            throw Refusal("response.keepsLastGood.maxAge is out of range", hint: "choose 1 s to 30 d")
        }
    }

    private func checkFields() throws(Refusal) {
        try check(idempotency.header, "idempotency.header")
        if case .header(let name)? = authentication?.form { try check(name, "authentication's header") }
    }

    private func check(_ field: String, _ setting: String) throws(Refusal) {
        guard let name = FieldName(field), field.utf8.count <= 256 else {
            throw Refusal(
                "\(setting) is not a valid header name",
                hint: "a name is a token (RFC 9110 §5.6.2)"
            )
        }
        if name.isOfTheRelay {
            throw Refusal("\(setting) names a field the relay writes itself", hint: "choose another")
        }
    }

    /// Whether every failure meets a rule that answers it.
    package var hasTotalFallback: Bool {
        for rule in recovery {
            switch rule.action {
            case .respond: if rule.on.tokens.contains(.any) { return true }
            case .fail, .deadLetter, .pauseRoute, .hold: return false
            default: break
            }
        }
        return false
    }
}
