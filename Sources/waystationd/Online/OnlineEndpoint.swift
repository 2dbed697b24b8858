import RelayBase
import RelayConfig
import RelayRoute

/// A place that a configuration leads to, once for all who go there under the same rules.
struct OnlineEndpoint: Sendable {
    /// A route's harmless request to an upstream of its.
    struct Question: Sendable {
        let route: Route
        let request: CheckRequest
        /// Whether it would need a token that is not asked for.
        let lacksToken: Bool
    }

    let upstream: Upstream
    /// The shortest that one of its users waits for a connection.
    private(set) var connect: Duration
    /// The user of that limit; nil where all of them have the same.
    private(set) var hastiest: String?
    /// Whether that is a credential's.
    private(set) var isLimitOfCredential: Bool
    /// The upstreams and credentials that lead there, in words.
    fileprivate(set) var users: [String]
    /// Credentials that are fetched there.
    fileprivate(set) var credentials: [CredentialDefinition] = []
    fileprivate(set) var questions: [Question] = []

    var origin: Origin { upstream.origin }
    /// For messages.
    var name: String { origin.text }
    /// Whether it may ask who the relay is.
    var showsCertificate: Bool { upstream.tls.clientCertificate != nil }

    private init(_ upstream: Upstream, _ user: String, _ connect: Duration, isCredential: Bool) {
        (self.upstream, self.connect, users) = (upstream, connect, [user])
        isLimitOfCredential = isCredential
    }

    private mutating func add(_ user: String, _ connect: Duration, isCredential: Bool) {
        if connect < self.connect {
            (self.connect, hastiest, isLimitOfCredential) = (connect, user, isCredential)
        } else if connect > self.connect, hastiest == nil {
            hastiest = users[0]
        }
        users.append(user)
    }

    private struct Rules: Hashable {
        let origin: Origin
        let tls: TLSSettings
        let allowed: [AddressRange]
        let isConfined: Bool

        init(_ upstream: Upstream) {
            origin = upstream.origin
            // Settings of TLS change nothing where there is none.
            if case .tcp(_, _, isTLS: true) = origin { tls = upstream.tls } else { tls = TLSSettings() }
            (allowed, isConfined) = (upstream.allowedAddresses, upstream.isConfined)
        }
    }

    /// The token endpoints and upstreams of a configuration; the former come first, since requests need the tokens.
    ///
    /// Where `asksAll` is false, tokens are not asked for that would use something up.
    static func all(_ loaded: LoadedConfiguration, asksAll: Bool) -> [OnlineEndpoint] {
        var (endpoints, indices): ([OnlineEndpoint], [Rules: Int]) = ([], [:])
        @inline(never)
        func index(
            of upstream: Upstream,
            _ user: String,
            _ connect: Duration,
            isCredential: Bool = false
        ) -> Int {
            let rules = Rules(upstream)
            guard let index = indices[rules] else {
                indices[rules] = endpoints.count
                endpoints.append(OnlineEndpoint(upstream, user, connect, isCredential: isCredential))
                return endpoints.count - 1
            }
            endpoints[index].add(user, connect, isCredential: isCredential)
            return index
        }
        for credential in loaded.configuration.credentials {
            guard case .oauth2(let settings) = credential.kind,
                credential.isRoutesOwn
                    || loaded.configuration.routes.contains(where: {
                        $0.policy.authentication?.credential == credential.name
                    })
            else { continue }
            let user = "tokens of \(credential.owner)"
            let found = index(of: settings.endpoint, user, settings.timeout, isCredential: true)
            endpoints[found].credentials.append(credential)
        }
        let unasked = Set(
            asksAll ? [] : loaded.configuration.credentials.filter(\.isUsedUp).map(\.name)
        )
        for route in loaded.configuration.routes {
            let credential = route.policy.authentication?.credential
            let lacksToken = credential.map(unasked.contains) ?? false
            let question = loaded.configuration.checks[route.name]
            for upstream in route.policy.upstreams {
                let user = "upstream \(upstream.name) of route \(route.name)"
                let found = index(of: upstream, user, route.policy.timeouts.connect)
                guard let question else { continue }
                let route = route.resolved(loaded.secrets).asking(question, at: upstream)
                endpoints[found].questions.append(
                    Question(route: route, request: question, lacksToken: lacksToken)
                )
            }
        }
        return endpoints
    }
}

extension CredentialDefinition {
    /// A route's own credential has the route's name.
    var isRoutesOwn: Bool { name.hasPrefix("route:") }

    var owner: String {
        isRoutesOwn ? "route \(name.dropFirst(6))" : "credential \(name)"
    }

    /// Where tokens of it are fetched.
    var endpoint: Origin? {
        if case .oauth2(let settings) = kind { settings.endpoint.origin } else { nil }
    }

    /// Whether asking for a token may use up what it is asked with: an endpoint may give a refresh token once.
    var isUsedUp: Bool {
        guard case .oauth2(let settings) = kind, case .refreshToken = settings.grant else { return false }
        return true
    }
}

extension Route {
    /// The same where nothing but its question to one upstream is sent, and nothing is done about the answer.
    fileprivate func asking(_ request: CheckRequest, at upstream: Upstream) -> Route {
        var success = SuccessRule()
        success.statuses = request.statuses
        var policy = policy.asking(success)
        policy.response.redirects = self.policy.response.redirects
        policy.upstreams = [upstream]
        policy.closed = nil
        policy.neverFails = false
        policy.constrained = .send
        policy.lightRequest = nil
        return Route(name: name, policy: policy)
    }
}
