import RelayBase
import RelayRoute

// The reasons for which a service refuses a policy before the first request meets it.
extension RoutePolicy {
    func check(credentials: [String]) throws(Refusal) {
        try refuse(if: upstreams.isEmpty, "the policy has no upstream", "give it one")
        let names = Set(upstreams.map(\.name))
        try refuse(if: names.count < upstreams.count, "two upstreams have one name", "name them differently")
        try refuse(
            if: upstreams[0].use != .always,
            "the first upstream serves no ordinary attempts",
            "list one of use .always first"
        )
        try refuse(
            if: upstreams.count { $0.use == .whenConstrained } > 1,
            "two upstreams take the first one's place while the network is constrained"
        )
        try refuse(
            if: constrained == .light && lightRequest == nil,
            "constrained is .light, and there is no lightRequest",
            "say what is lighter"
        )
        try refuse(if: !(1...100).contains(maxAttempts), "maxAttempts is \(maxAttempts)", "choose 1 to 100")
        try checkTimes()
        try check(idempotency.header, "idempotency.header")
        if case .header(let name)? = authentication?.form { try check(name, "authentication's header") }
        for upstream in upstreams {
            if let pins = upstream.tls.pins { try check(pins, of: upstream) }
        }
        if let authentication { try check(authentication.credential, among: credentials) }
        try checkEncryption()
        if let verification {
            try check(verification.on, "verification.on")
            if let fault = verification.fault { throw fault }
            try refuse(
                if: !(1...20).contains(verification.attempts) || verification.timeout <= .zero
                    || verification.settleAfter < .zero,
                "verification asks never, or without time for it",
                "choose 1 to 20 attempts, a timeout above zero, and a wait that is not negative"
            )
        }
        if let fault = hedgingFault { throw fault }
        for rule in recovery {
            try check(rule)
            try check(rule.on, "rule \"\(rule.name)\"")
        }
        for type in errorTypes {
            let name = "the error type \"\(type.kind.rawValue)\""
            if let matcher = type.on { try check(matcher, name) }
            if let status = type.treatAsStatus { try check(status, name) }
        }
        try refuse(
            if: neverFails && !hasTotalFallback,
            "neverFails needs a rule that answers every failure",
            "end recovery with .placeholder(…) or .fallback(…) on .any, and let no .fail stand before it"
        )
    }

    /// The upstreams, where plain http goes to a network of one's own confined to that network: their names may come to
    /// lead elsewhere.
    var confinedUpstreams: [Upstream] {
        guard authentication != nil || !allowsPlainHTTP else { return upstreams }
        return upstreams.map { $0.isPlainHTTP ? $0.confined : $0 }
    }

    /// Whether every failure meets a rule that answers it.
    private var hasTotalFallback: Bool {
        for rule in recovery {
            switch rule.action {
            case .respond: if rule.on.tokens.contains(.any) { return true }
            case .fail, .deadLetter, .pauseRoute, .hold: return false
            default: break
            }
        }
        return false
    }

    private func refuse(
        if isWrong: Bool,
        _ message: @autoclosure () -> String,
        _ hint: @autoclosure () -> String? = nil
    ) throws(Refusal) {
        if isWrong { throw Refusal(message(), hint: hint()) }
    }

    /// A credential must be defined, and only an allowed network may see it unencrypted.
    private func check(_ credential: String, among credentials: [String]) throws(Refusal) {
        try refuse(
            if: !credentials.contains(credential),
            "authentication names the credential \"\(credential)\", and there is none",
            "pass its definition in credentials"
        )
        for upstream in upstreams {
            try refuse(
                if: upstream.isUnencrypted,
                "the credential \"\(credential)\" would cross the public network unencrypted:"
                    + " upstream \"\(upstream.name)\" is http",
                "use https, or name in allowedAddresses the addresses of a network that is your own"
            )
        }
    }

    /// Only an allowed network sees requests unencrypted, unless the policy says otherwise.
    private func checkEncryption() throws(Refusal) {
        if allowsPlainHTTP { return }
        for upstream in upstreams {
            try refuse(
                if: upstream.isUnencrypted,
                "requests and their answers cross public networks unencrypted:"
                    + " upstream \"\(upstream.name)\" is http",
                "use https, name in allowedAddresses the addresses of a network that is your own,"
                    + " or set allowsPlainHTTP"
            )
        }
    }

    /// The policy with an attempt's time within the job's, where only the job's was set.
    var withFittingTimes: RoutePolicy {
        var policy = self
        if timeouts.attempt == Timeouts().attempt {
            policy.timeouts.attempt = min(timeouts.attempt, timeouts.total)
        }
        return policy
    }

    private func checkTimes() throws(Refusal) {
        let all = [timeouts.total, timeouts.attempt, timeouts.connect, timeouts.idle]
        try refuse(if: all.contains { $0 <= .zero }, "a timeout is not above zero", "every wait needs an end")
        if let fault = timeouts.fault { throw Refusal(fault, hint: "set both") }
        for upstream in upstreams {
            try refuse(
                if: upstream.cooldown < .zero,
                "the cooldown of upstream \"\(upstream.name)\" is below zero"
            )
        }
        let range = Duration.seconds(1) ... .seconds(30 * 86_400)
        try refuse(
            if: response.keepsLastGood.map { !range.contains($0.maxAge) } ?? false,
            "response.keepsLastGood.maxAge is out of range",
            "choose 1 s to 30 d"
        )
    }

    private func check(_ field: String, _ setting: String) throws(Refusal) {
        do {
            _ = try FieldName(setting: field)
        } catch {
            let hint = error.hint == nil ? "a name is a token (RFC 9110 §5.6.2)" : "choose another"
            throw Refusal("\(setting): \(error.message)", hint: hint)
        }
    }

    /// Refuses pins that could not protect, or would make an upstream unreachable.
    private func check(_ pins: PublicKeyPins, of upstream: Upstream) throws(Refusal) {
        let owner = "the pins of upstream \"\(upstream.name)\""
        guard case .tcp(_, _, isTLS: true) = upstream.origin else {
            throw Refusal("\(owner) protect nothing: it is not https", hint: "remove them, or use https")
        }
        try refuse(
            if: !pins.keys.allSatisfy { $0.count == 32 },
            "\(owner) have a key that is no SHA-256, which has 32 bytes",
            "PublicKeyPins(base64:host:) takes what openssl prints"
        )
        try refuse(if: pins.keys.isEmpty, "\(owner) have no key")
        try refuse(
            if: pins.isEnforced && Set(pins.keys).count < 2,
            "\(owner) need a second key: with one a lost key makes the upstream unreachable",
            "add that of a backup key, or set isEnforced to false"
        )
        let hosts = upstreams.compactMap { upstream in
            if case .tcp(let host, _, isTLS: true) = upstream.origin { host } else { nil }
        }
        if let fault = pins.fault(hosts: hosts) {
            throw Refusal("\(owner): \(fault.message)", hint: fault.hint)
        }
    }

    /// Refuses a rule whose action could not work.
    private func check(_ rule: RecoveryRule) throws(Refusal) {
        let owner = "rule \"\(rule.name)\""
        switch rule.action {
        case .failover(let target, _):
            try refuse(
                if: !upstreams.indices.dropFirst().contains(target),
                "\(owner) fails over to upstream \(target)",
                "choose 1 to \(upstreams.count - 1); 0 is the ordinary one"
            )
        case .refreshCredentials(let times):
            try refuse(if: authentication == nil, "\(owner) refreshes a credential, and the policy has none")
            try refuse(
                if: !(1...10).contains(times),
                "\(owner) refreshes a credential \(times) times",
                "choose 1 to 10"
            )
        case .respondStale:
            try refuse(
                if: response.keepsLastGood == nil,
                "\(owner) answers with the last good answer, and none is kept",
                "set response.keepsLastGood"
            )
        case .retry(let retry):
            let count = retry.maxAttempts
            try refuse(if: !(1...100).contains(count), "\(owner) allows \(count) attempts", "choose 1 to 100")
            try check(retry.backoff, owner)
            try refuse(if: retry.maxRetryAfter < .zero, "maxRetryAfter of \(owner) is below zero")
        case .respond(let answer): try check(answer.status, owner)
        case .consult, .fail, .deadLetter, .pauseRoute, .hold: break
        }
    }

    private func check(_ backoff: Backoff, _ owner: String) throws(Refusal) {
        let waits: [Duration]
        switch backoff.schedule {
        case .constant(let delay): waits = [delay]
        case .list(let delays):
            waits = delays
            try refuse(if: delays.isEmpty, "the waits of \(owner) are an empty list")
        case .exponential(let base, let multiplier, let maximum):
            waits = [base]
            try refuse(
                if: !(1...100).contains(multiplier),
                "the waits of \(owner) grow by the factor \(multiplier)",
                "choose 1 to 100"
            )
            let limit = DurationText.text(maximum)
            try refuse(if: base > maximum, "the waits of \(owner) begin above their maximum (\(limit))")
        }
        try refuse(if: waits.contains { $0 < .zero }, "a wait of \(owner) is below zero")
        if case .percent(let percent) = backoff.jitter, !(0...100).contains(percent) {
            throw Refusal("the jitter of \(owner) is \(percent) percent", hint: "choose 0 to 100")
        }
    }

    /// Refuses a matcher that names what no failure can be.
    private func check(_ matcher: FailureMatcher, _ owner: String) throws(Refusal) {
        for token in matcher.tokens {
            switch token {
            case .status(let status): try check(status, owner)
            case .kind(let kind): try check(kind, owner)
            case .any, .exhausted, .statusClass, .group: break
            }
        }
    }

    private func check(_ status: Status, _ owner: String) throws(Refusal) {
        try refuse(
            if: status.class == nil,
            "\(owner) names the status \(status.rawValue)",
            "choose 200 to 599"
        )
    }

    /// A kind that nothing defines may be one of `Request.classify`, unless it looks like a slip.
    private func check(_ kind: FailureKind, _ owner: String) throws(Refusal) {
        let named = "\(owner) names the kind \"\(kind.rawValue)\""
        try refuse(
            if: FailureMatcher.token(kind.rawValue) != .kind(kind),
            "\(named), which means something else",
            "write .any, .exhausted, a group such as .timeout, a class such as .serverError, or a status"
        )
        let kinds = (FailureKind.known + errorTypes.map(\.kind) + success.fail.map(\.kind)).map(\.rawValue)
        guard !kinds.contains(kind.rawValue),
            let meant = FailureMatcher.meant(by: kind.rawValue, kinds: kinds)
        else { return }
        throw Refusal(
            "\(named), and there is none",
            hint: "\(meant) a kind of your own needs a name less like it"
        )
    }
}

extension Upstream {
    fileprivate var isPlainHTTP: Bool { if case .tcp(_, _, isTLS: false) = origin { true } else { false } }

    /// Whether public networks may see what is sent to it.
    fileprivate var isUnencrypted: Bool { isPlainHTTP && allowedAddresses.isEmpty }
}
