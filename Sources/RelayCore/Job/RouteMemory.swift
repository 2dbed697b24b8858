package import RelayBase
package import RelayRoute
import Synchronization

/// The memory that the jobs of one route share: the last good answers, the upstreams that failed a moment ago, and the
/// tokens that were refused.
package final class RouteMemory: Sendable {
    private struct State {
        var answers = LastGoodAnswers()
        /// By the upstream's name: until when no `failover` rule enters it.
        var cooling: [String: Instant] = [:]
        /// Tokens that were refused to durable jobs which wait for a newer one, as generations.
        var refusals: [JobID: UInt64] = [:]
        /// By the upstream's name: whether it refuses the route's credential even when it is fresh.
        var refusedTokens: [String: RefusedTokenMachine] = [:]
    }

    /// Refusals remembered at once; a job whose refusal is forgotten tries the old token once more.
    private static let refusalLimit = 10_000

    private let state = Mutex(State())
    /// The traffic to the upstreams, and how they take it.
    package let traffic: RouteTraffic
    /// The figures of the route's jobs.
    package let meter: RouteMeter
    /// The figures of the attempts, by upstream.
    package let upstreams: [UpstreamMeter]

    package init(
        traffic: RouteTraffic = RouteTraffic(),
        meter: RouteMeter = RouteMeter(shards: 0),
        upstreams: [UpstreamMeter] = []
    ) {
        self.traffic = traffic
        self.meter = meter
        self.upstreams = upstreams
    }

    /// Upstreams, as indices of the route's list, that no rule may enter now.
    package func cooling(_ route: Route, now: Instant) -> [Int] {
        guard route.hasCooldowns else { return [] }
        return state.withLock { state in
            route.policy.upstreams.indices.filter { index in
                state.cooling[route.policy.upstreams[index].name].map { now < $0 } ?? false
            }
        }
    }

    /// An attempt at `upstream` failed in a way that says something about the upstream.
    package func failed(_ upstream: Upstream, now: Instant) {
        guard upstream.cooldown > .zero else { return }
        state.withLock { $0.cooling[upstream.name] = now.advanced(by: upstream.cooldown) }
    }

    /// The upstream refused the route's credential of that generation, as in `RefusedTokenMachine.refused`.
    func tokenRefused(
        _ generation: UInt64,
        isFresh: Bool,
        by upstream: Upstream,
        now: Instant
    ) -> Duration? {
        state.withLock { state in
            state.refusedTokens[upstream.name, default: RefusedTokenMachine()]
                .refused(generation, isFresh: isFresh, now: now)
        }
    }

    /// The upstream took the route's credential of that generation.
    func tokenAccepted(_ generation: UInt64, by upstream: Upstream) {
        state.withLock { $0.refusedTokens[upstream.name]?.accepted(generation) }
    }

    /// Whether an upstream refused a credential of the route, and has not taken one since.
    package var hasRefusedTokens: Bool {
        state.withLock { state in
            !state.refusedTokens.isEmpty && state.refusedTokens.values.contains { $0.generation != nil }
        }
    }

    /// Whether an upstream refused the route's credential of that generation, which had just been fetched.
    package func refusesToken(_ generation: UInt64) -> Bool {
        state.withLock { $0.refusedTokens.values.contains { $0.generation == generation } }
    }

    /// A durable job waits for a newer token than the one of that generation, which was refused to it.
    func refused(_ generation: UInt64, to job: JobID) {
        state.withLock { state in
            if state.refusals.count >= Self.refusalLimit { state.refusals.removeAll() }
            state.refusals[job] = generation
        }
    }

    /// The generation that was refused to the job in its last run; told once.
    func takeRefusal(of job: JobID) -> UInt64? {
        state.withLock { $0.refusals.isEmpty ? nil : $0.refusals.removeValue(forKey: job) }
    }

    /// The last good answer, unless it is older than `maxAge`.
    package func answer(for key: AnswerKey, maxAge: Duration, now: Instant) -> HTTPResponse? {
        state.withLock { $0.answers.answer(for: key, maxAge: maxAge, now: now) }
    }

    package func keep(_ response: HTTPResponse, for key: AnswerKey, now: Instant) {
        state.withLock { $0.answers.keep(response, for: key, now: now) }
    }

    /// Lets go of the last good answers.
    package func forgetAnswers() { state.withLock { $0.answers = LastGoodAnswers() } }
}

extension Route {
    /// Whether the same request gets the same answer from both, so that a kept one may serve the other.
    package func answersLike(_ other: Route) -> Bool {
        policy.upstreams == other.policy.upstreams && policy.response == other.policy.response
            && policy.authentication == other.policy.authentication
            && policy.request.query == other.policy.request.query
    }
}
