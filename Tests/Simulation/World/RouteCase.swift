import RelayCore

/// A route as the core has it and as the checker believes it to be; the same unless a bug is planted.
final class RouteCase {
    let number: Int
    let route: Route
    /// What the checker holds the core to.
    let policy: RoutePolicy
    /// Index of the route's credential; nil when it sends none.
    let credential: Int?
    /// The upstream processes, in the order of the policy's upstreams.
    let upstreams: [Int]
    /// Whether attempts carry their number in `X-Attempt`.
    let numbersAttempts: Bool

    init(
        _ number: Int,
        _ draw: inout SplitMix64,
        upstreams count: Int,
        credentials: [CredentialCase],
        plant: Plant?
    ) {
        self.number = number
        var order = Array(0..<count)
        for index in order.indices { order.swapAt(index, draw.number(index...count - 1)) }
        upstreams = Array(order.prefix(draw.weighted([4, 4, 2]) + 1))
        let name = "route\(number)"
        var believed = RoutePolicy(
            upstreams: upstreams.enumerated().map { place, index in
                RouteCase.upstream(index, name: "u\(place)", use: place == 0 ? .always : .failoverOnly)
            }
        )
        credential = draw.chance(65) ? draw.below(credentials.count) : nil
        if let credential {
            believed.authentication = Authentication(
                form: credentials[credential].form,
                credential: credentials[credential].name
            )
        }
        numbersAttempts = draw.chance(30)
        var settings = RoutePolicyDraw(draw: draw)
        settings.fill(&believed, numbersAttempts: numbersAttempts)
        draw = settings.draw
        policy = believed
        var actual = believed
        plant?.change(&actual, credentials: credentials)
        route = Route(name: name, policy: actual)
    }

    static func upstream(_ index: Int, name: String, use: Upstream.Use) -> Upstream {
        Upstream(
            name: name,
            origin: .tcp(host: "u\(index).example", port: World.upstreamPort + UInt16(index), isTLS: true),
            basePath: "/api/",
            use: use
        )
    }
}

/// A credential and how it is asked for.
struct CredentialCase {
    enum Kind {
        case fixed
        /// The client secret, or nothing, cannot be read.
        case fetched(isMissing: Bool)
    }

    let name: String
    let kind: Kind
    let form: Authentication.Form
    let definition: CredentialDefinition
    let settings: OAuth2Settings?
    let secrets: [SecretReference: Secret]

    var isFetched: Bool { if case .fetched = kind { true } else { false } }
    var isMissing: Bool { if case .fetched(true) = kind { true } else { false } }

    init(_ index: Int, _ draw: inout SplitMix64, _ plant: Plant?) {
        name = "c\(index)"
        if index > 0, draw.chance(20) {
            kind = .fixed
            form = draw.pick([.bearer, .basic(username: "me"), .header(name: "X-Api-Key")])
            let reference = SecretReference.file("f\(index)")
            definition = CredentialDefinition(name: name, kind: .fixed(reference))
            settings = nil
            secrets = [reference: Secret("~f\(index)")]
            return
        }
        let isMissing = index > 0 && draw.chance(8)
        kind = .fetched(isMissing: isMissing)
        form = draw.pick([.bearer, .bearer, .header(name: "X-Api-Key")])
        let client = SecretReference.file("s\(index)")
        let refresh = SecretReference.file("r\(index)")
        let usesRefreshToken = draw.chance(50)
        var settings = OAuth2Settings(
            grant: usesRefreshToken ? .refreshToken(refresh) : .clientCredentials,
            endpoint: Upstream(
                name: "endpoint",
                origin: .tcp(
                    host: plant == .tellsSecret ? "~s\(index)" : "t\(index).example",
                    port: World.endpointPort + UInt16(index),
                    isTLS: true
                )
            ),
            target: "/token",
            clientID: "client\(index)"
        )
        settings.clientSecret = client
        settings.clientAuthentication = draw.pick([.basic, .post])
        settings.timeout = .milliseconds(draw.pick([300, 1_000, 2_000, 5_000]))
        settings.failureCooldown = .milliseconds(draw.pick([0, 100, 500, 2_000]))
        settings.refreshBeforeExpiry = .milliseconds(draw.pick([0, 500, 1_000, 60_000]))
        var secrets = [refresh: Secret(SimulatedEndpoint.refreshToken(index, 0))]
        if !isMissing { secrets[client] = Secret("~s\(index)") }
        self.settings = settings
        self.secrets = secrets
        definition = CredentialDefinition(name: name, kind: .oauth2(settings))
    }
}
