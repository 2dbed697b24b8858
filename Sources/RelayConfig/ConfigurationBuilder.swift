import RelayBase
import RelayJSON
import RelayRoute

extension Configuration {
    /// Builds what the daemon runs with; the draft has passed every check.
    init(_ draft: ConfigurationDraft, secrets: [SecretUse]) {
        listeners = draft.listeners.map { listener in
            let address: Listener.Address =
                if let endpoint = listener.tcp {
                    .tcp(endpoint)
                } else {
                    .unix(path: listener.unix ?? "", mode: listener.mode, group: listener.group)
                }
            return Listener(
                name: listener.name,
                address: address,
                role: listener.role,
                allowedUsers: listener.allowedUsers
            )
        }
        storage = draft.storage
        limits = draft.limits
        log = draft.log
        constrained = ConstrainedSources(
            files: draft.constrained?.when.compactMap(\.file) ?? [],
            control: draft.constrained?.when.contains { $0.control == true } ?? false
        )
        credentials = draft.credentials.compactMap { name, draft in
            draft.definition(named: name, ranges: draft.allowAddresses, authorityFile: draft.authorityFile)
        }
        routes = []
        checks = [:]
        for (name, route) in draft.routes {
            if let credential = route.credential(ofRoute: name) { credentials.append(credential) }
            routes.append(Route(name: name, policy: route.policy(named: name, limits: draft.limits)))
            if let check = route.check { checks[name] = check }
        }
        self.secrets = secrets
    }
}

extension OAuth2Draft {
    /// Nil only for a draft that has not passed the checks.
    fileprivate func definition(
        named name: String,
        ranges: [AddressRange],
        authorityFile: String?
    ) -> CredentialDefinition? {
        guard let url = tokenURL else { return nil }
        var tls = TLSSettings()
        tls.authorityFile = authorityFile
        var settings = settings
        settings.endpoint = Upstream(name: "token", origin: url.origin, tls: tls, allowedAddresses: ranges)
        settings.target = url.path + (url.query.map { "?\($0)" } ?? "")
        if let refreshToken { settings.grant = .refreshToken(refreshToken) }
        return CredentialDefinition(name: name, kind: .oauth2(settings))
    }
}

extension RouteDraft {
    /// The credential that the route does not share; nil when it has none of its own.
    fileprivate func credential(ofRoute name: String) -> CredentialDefinition? {
        switch auth {
        case .fixed(_, let reference): CredentialDefinition(name: "route:\(name)", kind: .fixed(reference))
        case .oauth2(let draft):
            draft.definition(named: "route:\(name)", ranges: allowAddresses, authorityFile: tls.authorityFile)
        case .shared, nil: nil
        }
    }

    fileprivate func policy(named name: String, limits: Limits) -> RoutePolicy {
        var tls = tls
        if tls.pins?.host == nil {
            tls.pins?.host = upstreams.lazy.compactMap(\.url).first(where: \.isTLS)?.host
        }
        var policy = policy
        policy.upstreams = upstreams.map { upstream in
            Upstream(
                name: upstream.name,
                origin: upstream.url?.origin ?? .unix(path: upstream.unix ?? ""),
                basePath: upstream.url?.path ?? "/",
                use: upstream.use,
                tls: tls,
                allowedAddresses: allowAddresses,
                cooldown: upstream.cooldown
            )
        }
        policy.authentication =
            switch auth {
            case .fixed(let form, _): Authentication(form: form, credential: "route:\(name)")
            case .oauth2: Authentication(form: .bearer, credential: "route:\(name)")
            case .shared(let credential, _): Authentication(form: .bearer, credential: credential)
            case nil: nil
            }
        policy.response.locationPrefix = policy.response.locationPrefix.map { _ in "/r/\(name)/" }
        let rules = (staleToken.map { [$0] } ?? []) + (recovery ?? [])
        policy.verification = verify?.made(upstreams.map(\.name))
        policy.recovery = rules.compactMap { $0.rule(upstreams: upstreams.map(\.name)) }
        let onlyTells = recovery.map { !$0.isEmpty && $0.allSatisfy(\.reports) } ?? true
        policy.deliversLater = onlyTells || keepsWithoutDelivery
        policy.limits.body = limits.maxResponseBody
        return policy
    }

    /// Whether a rule keeps requests, and none below it says how they are delivered.
    private var keepsWithoutDelivery: Bool {
        guard let recovery,
            let first = recovery.firstIndex(where: { $0.respond?.and == .keep && !$0.reports })
        else {
            return false
        }
        return !recovery[first...].contains { $0.retry != nil && !$0.reports }
    }
}

extension RuleDraft {
    /// Nil only for a draft that has not passed the checks.
    fileprivate func rule(upstreams: [String]) -> RecoveryRule? {
        let action: RecoveryRule.Action
        if let retry {
            action = .retry(retry.made)
        } else if let refreshes {
            action = .refreshCredentials(maxTimes: refreshes)
        } else if let failover {
            guard let index = upstreams.firstIndex(of: failover.upstream) else { return nil }
            action = .failover(upstream: index, methods: failover.methods)
        } else if let respond {
            action = respond.source == .stale ? .respondStale : .respond(respond.response)
        } else {
            action = ending ?? .fail
        }
        var rule = RecoveryRule(name: name, on: on, action: action)
        rule.keepsRequest = respond?.and == .keep
        rule.reports = reports
        return rule
    }
}

extension RetryDraft {
    fileprivate var made: RetryPolicy {
        var policy = policy
        policy.maxAttempts = attempts
        if let schedule {
            policy.backoff = Backoff(
                schedule: .list(schedule),
                jitter: jitterPercent.map { .percent($0) } ?? .none
            )
        } else if let backoff {
            policy.backoff = backoff.backoff
        }
        return policy
    }
}

extension BackoffDraft {
    fileprivate var backoff: Backoff {
        let schedule: Backoff.Schedule =
            switch type {
            case .exponential: .exponential(base: baseInterval, multiplier: multiplier, maximum: maxInterval)
            case .constant: .constant(baseInterval)
            }
        let jitter: Backoff.Jitter =
            switch jitter ?? (type == .constant ? JitterWord.none : .full) {
            case .full: .full
            case .equal: .equal
            case .none: .none
            }
        return Backoff(schedule: schedule, jitter: jitter)
    }
}

extension RespondDraft {
    fileprivate var response: CannedResponse {
        var fields = fields
        let hasType = fields.contains { FieldName($0.name) == .contentType }
        if !hasType, json != nil { fields.append(("Content-Type", "application/json")) }
        if !hasType, text != nil { fields.append(("Content-Type", "text/plain; charset=utf-8")) }
        let body = json?.encoded() ?? text.map { Array($0.utf8) } ?? []
        return CannedResponse(source: source, status: status, fields: fields, body: body)
    }
}
