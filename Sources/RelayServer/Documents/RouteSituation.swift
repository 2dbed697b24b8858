package import RelayBase
package import RelayCore
import RelayEngine
package import RelayInterface
import RelayJobs
import RelayRoute

/// A route as it is at a moment: how it is doing, what holds it back and what waits for it.
struct RouteSituation: Sendable {
    let name: String
    /// Nil of a route of which only its jobs are left.
    let entry: Snapshot.Entry?
    let pause: RoutePause?
    /// The end of the planned window that it is in; nil while it is open.
    let closedUntil: WallTime?
    let jobs: JobCounters
    let figures: RouteFigures?
    private let health: RouteHealth?
    private let underWay: (sent: Int, pending: Int)?
    /// The state of its traffic; nil too where it was not asked for and says nothing of the route's condition.
    let standing: RouteStanding?
    private let now: Instant
    private let wall: Int64
    private let digest: String

    init(
        _ name: String,
        _ snapshot: Snapshot,
        _ durable: DurableJobs,
        _ jobs: JobCounters,
        _ clock: any ClockSource,
        withTraffic: Bool = true
    ) {
        self.name = name
        self.jobs = jobs
        pause = durable.pauses.pause(of: name)
        digest = snapshot.settings.digest
        let now = clock.now()
        (self.now, wall) = (now, clock.wallMilliseconds())
        entry = snapshot.routes[name]
        closedUntil = entry?.route.policy.closed?.end(at: wall / 1_000)
            .map { WallTime(milliseconds: $0 &* 1_000) }
        figures = entry?.state.figures
        health = entry?.state.health(at: wall)
        underWay = entry?.state.underWay
        standing = entry.flatMap {
            // Of one upstream the condition goes by the requests alone.
            guard withTraffic || $0.route.policy.upstreams.count > 1 else { return nil }
            return $0.memory.traffic.standing(of: $0.route, now)
        }
    }

    func moment(_ instant: Instant?) -> WallTime? {
        instant.map {
            WallTime(milliseconds: wall + now.duration(to: $0).saturatedNanoseconds / 1_000_000)
        }
    }

    /// A pause that is in force is the state, whatever else is to be said.
    private var state: String {
        guard let health, let underWay else { return RouteState.unconfigured }
        if pause != nil { return RouteState.paused }
        if closedUntil != nil { return RouteState.closed }
        let isPartlyOpen =
            standing.map {
                $0.upstreams.count > 1
                    && $0.upstreams.contains { [.open, .probing, .forcedOpen].contains($0.breaker) }
            } ?? false
        return health.condition(pending: underWay.pending, isPartlyOpen: isPartlyOpen).rawValue
    }

    static let conditions = RouteCondition.allCases.map(\.rawValue) + [RouteState.paused, RouteState.closed]

    /// The text that `If-Match` takes at the actions on it.
    var revision: String { RouteRevision(digest, pause, standing).text }

    /// The members that tell how a route is doing, wherever the API does; its state is one of these words.
    static func condition(_ words: [String]) -> [Member<RouteSituation>] {
        [
            .required("name") { $0.name },
            .required("state", .word(words)) { $0.state },
            .optional("in_flight") { $0.underWay?.sent },
            .optional("pending") { $0.underWay?.pending },
            .optional("closed_until", .moment, "The end of the planned window that the route is in.") {
                $0.closedUntil
            },
            .optional("requests") { $0.figures?.requests },
            .optional("succeeded") { $0.figures?[.succeeded] },
            .optional("failed") { $0.figures?[.failed] },
            .optional("cancelled") { $0.figures?[.cancelled] },
            .optional("recovered") { $0.figures?[.recovered] },
            .optional("fallbacks") { $0.figures?.fallbacks },
            .optional("never_fails_breaches") { $0.figures?[.breaches] },
            .optional("consecutive_failures") { $0.health?.consecutiveFailures },
            .optional(
                "lately",
                OutcomeHistory.Counts.schema,
                "Of the last minute, or of the latest twenty within the hour where those are few: what the state goes by."
            ) { $0.health?.lately },
            .optional("last_failure", .orNull(.named("LastFailure"))) { $0.health.map(\.lastFailure) },
        ]
    }
}

extension RouteState {
    static let paused = "paused"
    static let closed = "route_closed"
    static let unconfigured = "unconfigured"
}

extension OutcomeHistory.Counts: Document {
    package static let members: [Member<OutcomeHistory.Counts>] = [
        .required("requests") { $0.all }, .required("failed") { $0.failed },
        .required("stand_ins") { $0.standIns },
    ]
}

extension LastFailure: Document {
    package static let members: [Member<LastFailure>] = [
        .required("kind") { $0.kind }, .optional("status") { $0.status }, .required("detail") { $0.detail },
        .required("at", .moment) { UTCTime.format(seconds: $0.wallSeconds) },
    ]
}

extension Principal: Document {
    package static let members: [Member<Principal>] = [
        .required("uid") { $0.user },
        .optional("user", .text, "The user's name, where the system knew it in time.") { $0.name },
        .optional("node", .text, "The daemon of a fleet on whose machine that is the user.") { $0.node.text },
    ]
}
