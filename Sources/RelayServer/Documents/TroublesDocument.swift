import RelayBase
import RelayCore
package import RelayEngine
package import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

extension StatusReport {
    /// The daemon's own part of what is wrong.
    private var daemonFacts: DaemonFacts {
        var daemon = DaemonFacts()
        (daemon.reload, daemon.digest) = (reloadError, snapshot.settings.digest)
        (daemon.isDraining, daemon.isConstrained, daemon.hidesCallers) = (
            engine.isDraining, isConstrained, hidesCallers
        )
        if shedding.level > 0, !shedding.reports {
            daemon.shedding = (shedding.cause?.rawValue ?? "", sheddingSince.map { $0 * 1_000 })
        }
        switch storage {
        case .ok: break
        case .full: daemon.store = (.storeFull, facts.refusesSince)
        case .stalled: daemon.store = (.storeStalled, stalledSince)
        case .gone: daemon.store = (.storeGone, facts.refusesSince)
        case .unavailable: daemon.store = (.storeUnavailable, facts.refusesSince)
        }
        (daemon.facts, daemon.journal) = (facts, journal)
        return daemon
    }

    /// The document of what is wrong.
    package var troubles: [UInt8] {
        TroublesDocument(report: self, troubles: Troubles(engine, durable, daemonFacts)).bytes
    }
}

/// Everything that is wrong, and what there is to do.
package struct TroublesDocument: Document {
    let report: StatusReport
    let troubles: Troubles

    package static let members: [Member<TroublesDocument>] = [
        .required("as_of", .moment) { WallTime(milliseconds: $0.report.engine.time.wallMilliseconds()) },
        .required("config", .text, "The digest of the configuration in force.") {
            $0.report.snapshot.settings.digest
        },
        .group(
            "glance",
            [
                .required("state", TroubleState.schema, "The worst of all.") { $0.troubles.state },
                .optional("since", .moment, "The earliest of those that are so.") {
                    moment($0.troubles.since)
                },
                .required("routes", .count, "Those of the configuration.") {
                    $0.report.snapshot.routeNames.count
                },
                .required("routes_wrong") { $0.troubles.routeCount },
                .required("credentials_wrong") { $0.troubles.credentialCount },
                .required("store") { $0.report.storage },
                .required("waiting", .count, "Kept jobs that are neither over nor on hold.") {
                    $0.report.jobs.unfinished() - $0.report.jobs.count(.held)
                },
                .optional("oldest_at", .moment, "Of a kept job that is not over.") {
                    moment($0.report.jobs.oldest.values.min())
                },
                .required("held") { $0.report.jobs.count(.held) },
                .required("dead") { $0.report.jobs.count(.dead) },
                .required("failures_per_minute", .count, "Requests of callers.") {
                    $0.troubles.failuresPerMinute
                },
            ]
        ),
        .required("trouble_count") { $0.troubles.count },
        .required("troubles", .list(.named("Trouble"), 0...Troubles.limit), "The most costly first.") {
            $0.troubles.worst
        },
    ]
}

extension Trouble: Document {
    /// Names of each sort, and kinds of failures, that are told beside their counts.
    private static let (nameLimit, failureLimit) = (100, 8)

    package static let members: [Member<Trouble>] = [
        .required("id", .text, "The same as long as it is the same trouble.") { $0.id },
        .required("kind") { $0.kind }, .required("state") { $0.state },
        .optional("since", .moment) { moment($0.since) },
        .group(
            "subject",
            [
                .required("type", .word(types)) { $0.type },
                .optional("name", .text, "An upstream's origin, or a name of the configuration or a user.") {
                    $0.subjectName
                },
            ]
        ),
        .required("cause") { $0.cause },
        .required("relay", .text, "The measures that the relay takes.") { $0.relay },
        .required("remedy") { $0.remedy },
        .required("failures_per_minute", .count, "Requests of callers.") { $0.failuresPerMinute },
        .required("waiting", .count, "Kept jobs that are neither over nor on hold.") { $0.waiting },
        .optional("oldest_at", .moment, "Of those jobs.") { moment($0.oldest) },
        .required(
            "expiring",
            .count,
            "Kept jobs that expire within the hour, of the 10,000 that do so first."
        ) {
            $0.expiring.count
        },
        .required(
            "dying",
            .count,
            "Others that have their last attempt then, where each fails as the one before."
        ) {
            $0.dying.count
        },
        .optional("ends_at", .moment, "When the first of those does.") {
            moment(($0.expiring + $0.dying).first)
        },
        .optional("next_at", .moment, "When something is tried, or ends by itself.") { moment($0.next) },
        .optional("count", .count, "Jobs, requests or breaches, as the kind has it.") { $0.count },
        .required("routes", .list(.route, 0...nameLimit), "Those with most failures first.") { trouble in
            Array(
                trouble.routes.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
                    .prefix(nameLimit).map(\.key)
            )
        },
        .required("route_count") { $0.routes.count },
        .required("upstreams", .list(.text, 0...nameLimit)) {
            Array($0.upstreams.sorted().prefix(nameLimit))
        },
        .required("upstream_count") { $0.upstreams.count },
        .list("failures", of: failure, "Failed attempts, most first; the first eight kinds.") {
            Array($0.failures.prefix(failureLimit))
        },
        .optional("last_failure", .named("LastFailure"), "The newest of the first kind.") { $0.lastFailure },
        .part("action", of: TroubleCall.members, "The one call that helps.", maybe: true) { trouble in
            trouble.action.map { TroubleCall($0, trouble.revision) }
        },
    ]

    private static let failure: [Member<FailureCount>] = [
        .required("kind") { $0.name.kind }, .optional("status") { $0.name.status },
        .required("count") { $0.count },
    ]

    private static let types = ["daemon", "store", "credential", "upstream", "route", "user"]

    private var type: String {
        switch subject {
        case .daemon: "daemon"
        case .store: "store"
        case .credential: "credential"
        case .upstream: "upstream"
        case .route, .routes: "route"
        case .principal: "user"
        }
    }
}

private func moment(_ milliseconds: Int64?) -> WallTime? { milliseconds.map { WallTime(milliseconds: $0) } }

/// A call of the interface, and the command that makes it.
private struct TroubleCall {
    var word: String
    var role = Role.operate
    var method = Method.post
    var path: String
    var document: [JSONValue.Member] = []
    var command: String
    var seen: String?

    init(_ action: Trouble.Action, _ revision: String?) {
        switch action {
        case .reload: (word, role, path, command) = ("Reload", .admin, "/v1/reload", "reload")
        case .resume(let route):
            (word, path, command) = ("Resume", "/v1/routes/\(route)/resume", "resume \(route)")
        case .breakerAuto(let route, let upstream):
            (word, method, path) = ("Leave it to itself", .put, "/v1/routes/\(route)/breaker")
            document = [.init("state", .string("auto")), .init("upstream", .string(upstream))]
            command = "breaker \(route)/\(upstream) auto"
        case .jobs(let act, let state, let route, let failure):
            (word, path) = (act == .retry ? "Try again now" : "Release", "/v1/jobs/actions")
            let filter: [JSONValue.Member?] = [
                route.map { .init("route", .string($0)) }, .init("state", .array([.string(state.name)])),
                failure.map { .init("failure_kind", .string($0.kind.rawValue)) },
                failure?.status.map { .init("status", .number(JSONNumber(Int($0.rawValue)))) },
            ]
            document = [
                .init("action", .string(act.rawValue)), .init("filter", .object(filter.compactMap { $0 })),
                .init("dry_run", .bool(false)),
            ]
            let clauses = [
                route.map { "route=\($0)" }, "state=\(state.name)", failure.map { "kind=\($0.kind)" },
                failure?.status.map { "status=\($0.rawValue)" },
            ].compactMap { $0 }.joined(separator: ",")
            command = "jobs \(act.rawValue) --where \(clauses)"
            return
        }
        seen = revision
    }

    static let members: [Member<TroubleCall>] = [
        .required("word", .text, "A label of it.") { $0.word },
        .required("role") { $0.role }, .required("method") { $0.method.rawValue },
        .required("path") { $0.path },
        .written("document", .map(.anything)) { call, json in
            if !call.document.isEmpty { json.member("document", .object(call.document)) }
        },
        .required("command") { "waystation \($0.command)" },
        .optional("seen", .text, "The revision or digest that the call takes as If-Match.") { $0.seen },
    ]
}
