import RelayBase
import RelayCore
import RelayJSON
import RelayRoute

/// The load that a route's requests bring an upstream that refuses every connection: so many requests a second ran.
final class LoadTrial: Sendable {
    static let requestsPerSecond = 100
    static let seconds = 20

    /// In the first second.
    let first: Int
    /// A second, over the last ten.
    let later: Double
    private let route: Route

    init(_ plan: ForecastPlan) {
        route = plan.route
        var plan = plan
        plan.series = ImaginedSeries([Imagined(word: "refused", end: .failure(.connectionRefused))])
        (plan.method, plan.isKeyed) = (.put, true)
        let moments = Self.attempts(plan)
        let second: Int64 = 1_000_000_000
        first = moments.count { $0.nanoseconds < second }
        let last = Int64(Self.seconds - 10) * second
        later = Double(moments.count { $0.nanoseconds >= last && $0.nanoseconds < last + 10 * second }) / 10
    }

    /// When there was an attempt.
    private static func attempts(_ plan: ForecastPlan) -> [Instant] {
        let world = ImaginedWorld(plan, chance: nil)
        world.time.run {
            let relay = Relay(ports: world.ports)
            let memory = RouteMemory()
            let gap = Duration.seconds(1) / requestsPerSecond
            await withTaskGroup { group in
                for number in 0..<requestsPerSecond * seconds {
                    let due = Instant(nanoseconds: 0).advanced(by: gap * number)
                    try? await world.time.sleep(until: due)
                    group.addTask {
                        let context = JobContext(
                            id: JobID(milliseconds: plan.wall, random: (1, UInt64(number))),
                            route: world.route,
                            method: plan.method,
                            target: "",
                            options: JobOptions(),
                            client: nil,
                            memory: memory
                        )
                        _ = await relay.perform(plan.request, context: context, vault: world.vault)
                    }
                }
            }
        }
        return world.moments
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("requests_per_second", Self.requestsPerSecond)
        json.member("first_second", first)
        json.member("per_second", later)
        let policy = route.policy
        json.member("at_once", policy.concurrency.maxRequests)
        let traffic = policy.traffic
        if let limit = traffic.rateLimit {
            json.object("rate_limit") { json in
                json.member("max_requests", limit.maxRequests)
                json.member("per_ms", limit.per.milliseconds)
                json.member("burst", limit.burst)
            }
        }
        if traffic.window.isEnabled { json.member("at_once_after_outage", traffic.window.afterOutage) }
        if traffic.budget.isEnabled {
            json.object("retry_budget") { json in
                json.member("percent", traffic.budget.percent)
                json.member("floor", traffic.budget.floor)
            }
        }
        if traffic.breaker.isEnabled {
            json.object("breaker") { json in
                json.member("probe_after_ms", traffic.breaker.breakDuration.milliseconds)
                json.member("probe_at_most_ms", traffic.breaker.maxBreakDuration.milliseconds)
            }
        }
    }
}
