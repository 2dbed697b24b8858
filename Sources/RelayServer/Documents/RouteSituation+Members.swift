import RelayBase
import RelayCore
import RelayEngine
package import RelayInterface
package import RelayJobs
import RelayRoute

extension RouteSituation: Document {
    static let members: [Member<RouteSituation>] =
        condition(conditions + [RouteState.unconfigured]) + [
            .required(
                "revision",
                .text,
                "Changes with the configuration, its pause and the breakers that operators keep; If-Match takes it."
            ) { $0.revision },
            .optional("pause") { $0.pause },
            .optional("delivery") { $0.entry?.route.policy.delivery.mode },
            .optional("max_requests") { $0.entry?.route.policy.concurrency.maxRequests },
            .optional("max_pending_requests") { $0.entry?.route.policy.concurrency.maxPendingRequests },
            .optional("upstreams", .list(.named("RouteUpstream"))) { route in
                route.standing?.upstreams.map { RouteUpstream(route: route, standing: $0) }
            },
            .optional("credential", .text, "The name of the one it uses.") {
                $0.entry?.route.policy.authentication?.credential
            },
            .optional(
                "ordinary_path",
                .object([
                    Property("reason", .word(OrdinaryReason.ofRoutes.map(\.rawValue))),
                    Property("detail", .text),
                ]),
                "Why none of its requests is passed through; absent where they may be."
            ) { $0.entry?.ordinaryReason.map { Job.OrdinaryPath(.ordinary($0)) } },
            .optional("retries_under_way") { $0.standing?.retries },
            .optional("retries_left", .count, "Those that may begin by retry_budget.") {
                $0.standing?.retriesLeft
            },
            .optional("turns_left", .count, "Attempts that may begin now by rate_limit.") {
                $0.standing?.slotsLeft
            },
            .optional("next_turn_at") { $0.moment($0.standing?.nextSlot) },
            .list(
                "rules",
                of: rule,
                "What is done about failures, in the order in which it is asked.",
                maybe: true
            ) { route in
                route.entry?.route.deliveryRules.map { rule in
                    (rule, route.figures?.account.recoveries ?? [:])
                }
            },
            .list(
                "reporting",
                of: reporting,
                "Parts of its traffic and rules whose mode is report, with how often each would have acted since the start.",
                maybe: true
            ) { route in
                route.entry.flatMap { route.figures?.account.wouldHave($0.route).unlessEmpty }
            },
            .optional("own_kinds", .list(.text), "Failure kinds that only its configuration names.") {
                $0.ownKinds.unlessEmpty
            },
            .group(
                "jobs",
                JobState.allCases.map { state in
                    .required(state.name) { $0.jobs.count(state, of: $0.name) }
                },
                "The number of kept ones in each state."
            ),
            .optional("oldest_job_at") { route in
                route.jobs.oldest[route.name].map { WallTime(milliseconds: $0) }
            },
            .optional(
                "next_attempt_at",
                .moment,
                "Of a route with jobs that are tried again, when the first is due."
            ) { route in route.jobs.next[route.name].map { WallTime(milliseconds: $0) } },
        ]

    /// The rules about failures, in the order in which they are asked, and how often each rule has acted.
    private static let rule: [Member<(rule: RecoveryRule, acted: [RouteAccount.RecoveryName: UInt64])>] = [
        .required("name") { $0.rule.name },
        .required("on") { $0.rule.on.tokens.map(\.word) },
        Member.optional("action") { $0.rule.words.last?.rawValue }.required,
        .optional("max_attempts", .count, "Attempts that a retry may bring a request or a job to.") {
            if case .retry(let policy) = $0.rule.action { policy.maxAttempts } else { nil }
        },
        .optional("reports", .yes, "It only tells what it would do.") { $0.rule.reports ? true : nil },
        .required("acted", .count, "Since the daemon started.") { part in
            part.acted.reduce(0) { $1.key.rule == part.rule.name ? $0 + $1.value : $0 }
        },
    ]

    private static let reporting: [Member<(name: String, count: UInt64)>] = [
        .required("name") { $0.name }, .required("would_have") { $0.count },
    ]

    /// Kinds of failures that only the route's own rules name.
    private var ownKinds: [FailureKind] {
        guard let policy = entry?.route.policy else { return [] }
        var kinds: [FailureKind] = []
        for kind in policy.errorTypes.map(\.kind) + policy.success.fail.map(\.kind)
        where !FailureKind.known.contains(kind) && !kinds.contains(kind) {
            kinds.append(kind)
        }
        return kinds
    }
}

extension RoutePause: Document {
    package static let members: [Member<RoutePause>] = [
        .required("reason") { $0.reason },
        .required("began_at") { WallTime(milliseconds: $0.began) },
        .optional("until") { $0.until.map { WallTime(milliseconds: $0) } },
        .optional("rule") { $0.rule },
        .optional("by", .named("Principal"), "Who paused it.") { $0.by },
    ]
}

/// How an upstream of a route takes what it is sent.
struct RouteUpstream: Document {
    let route: RouteSituation
    let standing: RouteStanding.Upstream

    static let members: [Member<RouteUpstream>] = [
        .required("name") { $0.standing.name },
        .required("breaker") { $0.standing.breaker },
        .part("counts", of: counts, "What the breaker remembers.", maybe: true) { upstream in
            upstream.standing.counts.map { ($0, upstream.route.entry?.route.policy.traffic.breaker.counted) }
        },
        .optional("since", .moment, "When the breaker opened.") { $0.route.moment($0.standing.since) },
        .optional("until", .moment, "When it is probed, or the operator's word ends.") {
            $0.route.moment($0.standing.until)
        },
        .list(
            "failing",
            of: failing,
            "Requests that the breaker stops while it is open: method, path (two segments after a version, `*` for an "
                + "identifier), and user; at most eight, most failures first.",
            maybe: true
        ) { $0.standing.failing.unlessEmpty },
        .optional("held_until", .moment, "As the upstream has asked for all requests.") {
            $0.route.moment($0.standing.heldUntil)
        },
        .list(
            "holds",
            of: hold,
            "As the upstream has asked for some requests, or for those of a limit of its own.",
            maybe: true
        ) { upstream in
            upstream.standing.holds.unlessEmpty?.map { ($0.requests, upstream.route.moment($0.until)) }
        },
        .optional("rate", .count, "Attempts a second that it is sent at most.") {
            $0.standing.rate.map { Int($0.rounded(.up)) }
        },
        .optional("rate_of", .text, "The requests that are sent no faster; without it all are.") {
            $0.standing.ratedRequests
        },
        .required("under_way") { $0.standing.underWay },
        .optional("window", .count, "How many attempts may be under way.") { $0.standing.window },
        .optional(
            "last_failure",
            .named("LastFailure"),
            "Of an attempt that went to it, since the daemon started."
        ) { $0.route.figures?.account.lastFailures[$0.standing.name] },
    ]

    private static let failing: [Member<RouteStanding.FailingRequests>] = [
        .required("requests") { $0.requests }, .optional("uid") { $0.user },
        .required("attempts") { $0.attempts }, .required("failed") { $0.failed },
    ]

    private static let hold: [Member<(requests: String, until: WallTime?)>] = [
        .required("requests") { $0.requests }, .required("until", .moment) { $0.until },
    ]

    private static let counts: [Member<(memory: BreakerMachine.Memory, span: Duration?)>] = [
        .required("attempts") { $0.memory.attempts }, .required("failed") { $0.memory.failed },
        .required("failed_in_a_row") { $0.memory.failedInARow },
        .required("span_ms", .count) { ($0.span ?? .zero).saturatedNanoseconds / 1_000_000 },
    ]
}

extension RouteStanding.Breaker: WordValue {}
