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
            let endpoint = (ranges: draft.allowAddresses, authorityFile: draft.authorityFile)
            return draft.definition(
                named: name,
                ranges: endpoint.ranges,
                authorityFile: endpoint.authorityFile
            )
        }
        routes = []
        for (name, route) in draft.routes {
            if let credential = route.credential(ofRoute: name) { credentials.append(credential) }
            routes.append(Route(name: name, policy: route.policy(named: name, limits: draft.limits)))
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
        let grant: OAuth2Settings.Grant
        if isRefreshToken {
            guard let refreshToken else { return nil }
            grant = .refreshToken(refreshToken)
        } else {
            grant = .clientCredentials
        }
        var tls = TLSSettings()
        tls.authorityFile = authorityFile
        let endpoint = Upstream(name: "token", origin: url.origin, tls: tls, allowedAddresses: ranges)
        let target = url.path + (url.query.map { "?\($0)" } ?? "")
        var settings = OAuth2Settings(grant: grant, endpoint: endpoint, target: target, clientID: clientID)
        settings.clientSecret = clientSecret
        settings.clientAuthentication = clientAuthentication
        settings.scopes = scopes
        settings.refreshBeforeExpiry = refreshBeforeExpiry
        settings.failureCooldown = failureCooldown
        settings.timeout = timeout
        settings.request = request
        settings.answer = answer
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
        var policy = RoutePolicy(
            upstreams: upstreams.map { upstream in
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
        )
        policy.summary = summary
        switch auth {
        case .fixed(let form, _):
            policy.authentication = Authentication(form: form, credential: "route:\(name)")
        case .oauth2: policy.authentication = Authentication(form: .bearer, credential: "route:\(name)")
        case .shared(let credential, _):
            policy.authentication = Authentication(form: .bearer, credential: credential)
        case nil: break
        }
        policy.timeouts = timeouts
        policy.concurrency = concurrency
        policy.traffic = traffic
        policy.callers = callers
        policy.maxAttempts = maxAttempts
        policy.request = request
        policy.idempotency = idempotency
        policy.prepare = prepare
        policy.apiError = apiError
        policy.quickRecovery = quickRecovery
        policy.success = success
        policy.response = response.rules
        policy.response.expectsJSON = response.expect == .json
        policy.response.locationPrefix = response.rewritesLocation ? "/r/\(name)/" : nil
        policy.errorTypes = errorTypes
        let rules = (staleToken.map { [$0] } ?? []) + (recovery ?? [])
        policy.recovery = rules.compactMap { $0.rule(upstreams: upstreams.map(\.name)) }
        policy.deliversLater = recovery == nil || keepsWithoutDelivery
        policy.limits.body = limits.maxResponseBody
        policy.delivery = delivery
        policy.signing = signing.map { SigningSettings(secrets: $0.secrets) }
        policy.neverFails = neverFails
        return policy
    }
}

extension RouteDraft {
    /// Whether a rule keeps requests, and none below it says how they are delivered.
    fileprivate var keepsWithoutDelivery: Bool {
        guard let recovery, let first = recovery.firstIndex(where: { $0.respond?.and == .keep }) else {
            return false
        }
        return !recovery[first...].contains { $0.retry != nil }
    }
}

extension RuleDraft {
    /// Nil only for a draft that has not passed the checks.
    fileprivate func rule(upstreams: [String]) -> RecoveryRule? {
        let matcher = FailureMatcher(on.compactMap(FailureMatcher.token))
        let action: RecoveryRule.Action
        if let retry {
            action = .retry(retry.policy)
        } else if let refresh {
            action = .refreshCredentials(maxTimes: refresh.maxTimes)
        } else if let failover {
            guard let index = upstreams.firstIndex(of: failover.upstream) else { return nil }
            action = .failover(upstream: index, methods: failover.methods)
        } else if let respond {
            action = respond.source == .stale ? .respondStale : .respond(respond.response)
        } else if deadLetter != nil {
            action = .deadLetter
        } else if let pause {
            action = .pauseRoute(reason: pause.reason)
        } else if hold != nil {
            action = .hold
        } else {
            action = .fail
        }
        var rule = RecoveryRule(name: name, on: matcher, action: action)
        rule.keepsRequest = respond?.and == .keep
        return rule
    }
}

extension RetryDraft {
    fileprivate var policy: RetryPolicy {
        var policy = RetryPolicy()
        policy.maxAttempts = attempts
        policy.honorsRetryAfter = honorsRetryAfter
        policy.maxRetryAfter = maxRetryAfter
        policy.methods = methods
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
