import RelayBase
import RelayJSON
import RelayRoute

/// A route as the file has it: names not yet looked up, actions not yet built.
struct RouteDraft {
    var summary = ""
    var upstreams: [UpstreamDraft] = []
    var auth: AuthDraft?
    var tls = TLSSettings()
    var allowAddresses: [AddressRange] = []
    var timeouts = Timeouts()
    var concurrency = ConcurrencyLimit()
    var traffic = TrafficSettings()
    var callers = AllowedCallers()
    var maxAttempts = 10
    var request = ConfigurationTable.unchangedRequest
    var idempotency = IdempotencySettings()
    var prepare: [PreparationStep] = []
    var apiError: APIErrorRule?
    var quickRecovery: [QuickRecoveryRule] = []
    var success = SuccessRule()
    var response = ResponseDraft()
    var errorTypes: [ErrorTypeRule] = []
    var recovery: [RuleDraft]?
    var delivery = DeliverySettings()
    var signing: SigningDraft?
    var neverFails = false
}

extension RouteDraft {
    /// The rule in front of the others on a route whose credential can be fetched again, unless they have one for that
    /// or `auth` says otherwise.
    var staleToken: RuleDraft? {
        let rules = recovery ?? []
        guard auth?.refreshesOn401 == true, !rules.contains(where: { $0.refresh != nil }) else { return nil }
        var rule = RuleDraft()
        rule.name = "stale-token"
        // A rule's name stands for what it has done: it is nobody else's.
        while rules.contains(where: { $0.name == rule.name }) { rule.name += "-401" }
        rule.on = ["401"]
        rule.refresh = RefreshDraft()
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
    var isRefreshToken = false
    var tokenURL: UpstreamURL?
    var clientID = ""
    var clientSecret: SecretReference?
    var refreshToken: SecretReference?
    var clientAuthentication = OAuth2Settings.ClientAuthentication.basic
    var scopes: [String] = []
    var refreshBeforeExpiry: Duration = .seconds(60)
    var failureCooldown: Duration = .seconds(2)
    var timeout: Duration = .seconds(10)
    var request = TokenRequestTerms()
    var answer = TokenAnswerTerms()
    var allowAddresses: [AddressRange] = []
    var authorityFile: String?
    var refreshesOn401 = true
}

struct ResponseDraft {
    enum Expectation: String, CaseIterable {
        case json
    }

    var expect: Expectation?
    var rewritesLocation = true
    var rules = ResponseRules()
}

struct RuleDraft {
    var name = ""
    var on: [String] = []
    var retry: RetryDraft?
    var refresh: RefreshDraft?
    var failover: FailoverDraft?
    var respond: RespondDraft?
    var fail: EmptyDraft?
    var deadLetter: EmptyDraft?
    var pause: PauseDraft?
    var hold: EmptyDraft?
}

struct RetryDraft {
    var maxAttempts: Int?
    var backoff: BackoffDraft?
    var schedule: [Duration]?
    var jitterPercent: Int?
    var honorsRetryAfter = true
    var maxRetryAfter: Duration = .seconds(60)
    var methods = RepeatableMethods.idempotentOrKeyed

    /// Attempts the rule may bring a job to: all of the schedule, or else three.
    var attempts: Int { maxAttempts ?? schedule.map { $0.count + 1 } ?? RetryPolicy().maxAttempts }
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

struct RefreshDraft {
    var maxTimes = 1
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

struct PauseDraft {
    var reason = ""
}

/// An action that says nothing more.
struct EmptyDraft {}

struct SigningDraft {
    var secrets: [SecretReference] = []
}
