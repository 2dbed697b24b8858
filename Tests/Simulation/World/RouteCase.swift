import RelayCore
import RelayRoute
import RelayTestSupport

/// A route as the core has it and as the checker believes it to be; the same unless a bug is planted.
final class RouteCase {
    let number: Int
    let route: Route
    /// The policy that the checker holds the core to.
    let policy: RoutePolicy
    /// Index of the route's credential; nil when it sends none.
    let credential: Int?
    /// The upstream processes, in the order of the policy's upstreams.
    let upstreams: [Int]
    /// Whether attempts carry their number in `X-Attempt`.
    let numbersAttempts: Bool
    /// Place of the upstream that stands in for the first while the network is constrained.
    let lighter: Int?
    /// Whether a program's own code is in the way of its jobs.
    let isProgram: Bool
    /// The memory that the core's jobs of the route share.
    let memory = RouteMemory()

    /// Until when no failover may enter an upstream, by its place.
    var coolingUntil: [Int64]
    /// Upstreams that refused a token although it was fresh, by their place: its number, until when no other is fetched,
    /// and how long that was.
    var refusedTokens: [Int: (token: Int, until: Int64, wait: Int64)] = [:]
    /// The last good answer to a target: its status and when it came.
    var kept: [Int: (status: UInt16, at: Int64)] = [:]

    init(
        _ number: Int,
        _ draw: inout SplitMix64,
        upstreams count: Int,
        credentials: [CredentialCase],
        plant: Plant?,
        world: Confined<World>
    ) {
        self.number = number
        var order = Array(0..<count)
        for index in order.indices { order.swapAt(index, draw.number(index...count - 1)) }
        upstreams = Array(order.prefix(draw.weighted([4, 4, 2]) + 1))
        let name = "route\(number)"
        coolingUntil = Array(repeating: 0, count: upstreams.count)
        lighter = upstreams.count > 1 && draw.chance(30) ? upstreams.count - 1 : nil
        var listed: [Upstream] = []
        for (place, index) in upstreams.enumerated() {
            let use: Upstream.Use = place == 0 ? .always : place == lighter ? .whenConstrained : .failoverOnly
            let cooldown = Duration.milliseconds(draw.pick([0, 500, 3_000, 10_000]))
            listed.append(RouteCase.upstream(index, name: "u\(place)", use: use, cooldown: cooldown))
        }
        var believed = RoutePolicy(upstreams: listed)
        // The effect of requests on each other is the matter of other worlds.
        believed.traffic = .off
        credential = draw.chance(65) ? draw.below(credentials.count) : nil
        believed.authentication = credential.map { credentials[$0].authentication }
        numbersAttempts = draw.chance(30)
        isProgram = draw.chance(30)
        var settings = RoutePolicyDraw(draw: draw, world: isProgram ? world : nil)
        settings.fill(&believed, numbersAttempts: numbersAttempts)
        draw = settings.draw
        policy = believed
        var actual = believed
        plant?.change(&actual, credentials: credentials)
        route = Route(name: name, policy: actual)
    }

    static func upstream(
        _ index: Int,
        name: String,
        use: Upstream.Use,
        cooldown: Duration = .zero
    ) -> Upstream {
        Upstream(name: name, origin: .upstream(index), basePath: "/api/", use: use, cooldown: cooldown)
    }
}
