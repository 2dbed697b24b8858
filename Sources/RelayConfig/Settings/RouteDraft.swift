import RelayBase
import RelayJSON
import RelayRoute

/// A route as the file has it: names not yet looked up, actions not yet built.
struct RouteDraft {
    var policy = RouteDraft.unstated
    var upstreams: [UpstreamDraft] = []
    var auth: AuthDraft?
    var tls = TLSSettings()
    var allowAddresses: [AddressRange] = []
    var recovery: [RuleDraft]?
    /// One at most: of a struct in place each copy of a draft would have the parts.
    private var verifications: [VerifyDraft] = []
    private var checks: [CheckRequest] = []

    var verify: VerifyDraft? {
        get { verifications.first }
        set { verifications = newValue.map { [$0] } ?? [] }
    }

    var check: CheckRequest? {
        get { checks.first }
        set { checks = newValue.map { [$0] } ?? [] }
    }

    /// The policy of a route that states nothing; the prefix of its response is known with its name.
    static var unstated: RoutePolicy {
        var policy = RoutePolicy(upstreams: [])
        policy.request.propagation = .none
        policy.response.rewritesLocation = true
        return policy
    }
}

extension RouteDraft {
    /// The rule in front of the others on a route whose credential can be fetched again, unless they have one for that
    /// or `auth` says otherwise.
    var staleToken: RuleDraft? {
        let rules = recovery ?? []
        guard auth?.refreshesOn401 == true, !rules.contains(where: { $0.refreshes != nil && !$0.reports })
        else {
            return nil
        }
        var rule = RuleDraft()
        rule.name = "stale-token"
        // A rule's name stands for what it has done: it is nobody else's.
        while rules.contains(where: { $0.name == rule.name }) { rule.name += "-401" }
        rule.on = FailureMatcher([.status(401)])
        rule.refreshes = 1
        return rule
    }
}

struct UpstreamDraft {
    var name = ""
    var url: UpstreamURL?
    var unix: String?
    var use = Upstream.Use.always
    var cooldown: Duration = .zero
}

enum AuthDraft {
    case fixed(Authentication.Form, SecretReference)
    /// A credential of the top-level section, by name.
    case shared(String, refreshesOn401: Bool)
    case oauth2(OAuth2Draft)

    /// Whether there is something to fetch anew.
    var isRefreshable: Bool {
        if case .fixed = self { return false }
        return true
    }

    /// Whether a 401 alone is reason enough to do so.
    var refreshesOn401: Bool {
        switch self {
        case .fixed: false
        case .shared(_, let refreshes): refreshes
        case .oauth2(let draft): draft.refreshesOn401
        }
    }
}

struct OAuth2Draft {
    /// The table fills in all but the endpoint and a refresh token.
    var settings = OAuth2Settings(
        grant: .clientCredentials,
        endpoint: Upstream(name: "token", origin: .unix(path: "")),
        target: "/",
        clientID: ""
    )
    var tokenURL: UpstreamURL?
    var refreshToken: SecretReference?
    var allowAddresses: [AddressRange] = []
    var authorityFile: String?
    var refreshesOn401 = true
}

struct RuleDraft {
    var name = ""
    var on = FailureMatcher([])
    var retry: RetryDraft?
    /// How often it fetches a new credential.
    var refreshes: Int?
    var failover: FailoverDraft?
    var respond: RespondDraft?
    /// An action that stops a job.
    var ending: RecoveryRule.Action?
    /// Whether it only tells what it would do.
    var reports = false
}

struct RetryDraft {
    var policy = RetryPolicy()
    var maxAttempts: Int?
    var backoff: BackoffDraft?
    var schedule: [Duration]?
    var jitterPercent: Int?

    /// Attempts the rule may bring a job to: all of the schedule, or else three.
    var attempts: Int { maxAttempts ?? schedule.map { $0.count + 1 } ?? policy.maxAttempts }
}

struct BackoffDraft {
    enum Growth: String, CaseIterable {
        case exponential
        case constant
    }

    enum JitterWord: String, CaseIterable {
        case full
        case equal
        case none
    }

    var type = Growth.exponential
    var baseInterval: Duration = .milliseconds(100)
    var multiplier = 2.0
    var maxInterval: Duration = .seconds(10)
    var jitter: JitterWord?
}

struct FailoverDraft {
    var upstream = ""
    var methods = RepeatableMethods.idempotentOrKeyed
}

struct RespondDraft {
    /// The action besides the answer.
    enum Addition: String, CaseIterable {
        case keep
    }

    var source = StandIn.fallback
    var and: Addition?
    var status: Status = 200
    var fields: [(name: String, value: String)] = []
    var json: JSONValue?
    var text: String?
}
