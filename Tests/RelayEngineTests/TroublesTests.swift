import RelayBase
import RelayCore
import RelayEngineBench
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@testable import RelayEngine

@Suite("A trouble is told by its cause and its host")
struct TroublesTests {
    private static let (wall, origin) = (Int64(1_800_000_000_000), "https://api.example")

    /// A failing route with one upstream, whose failed attempts are these.
    private static func failing(
        _ failures: [FailureCount],
        named name: String = "r",
        at origin: String = TroublesTests.origin,
        last: (kind: FailureKind, status: Status?)? = nil
    ) -> RouteFacts {
        var route = RouteFacts(name, .failing)
        var upstream = RouteFacts.Upstream("one", origin)
        upstream.failures = failures
        upstream.last = last.map {
            LastFailure(Failure($0.kind, sent: .answered, "it failed", status: $0.status), wallSeconds: 1)
        }
        route.upstreams = [upstream]
        route.since = wall - 60_000
        return route
    }

    private static func troubles(
        _ routes: [RouteFacts],
        credentials: [String: TroubleKind] = [:]
    ) -> Troubles {
        Troubles(routes.flatMap { $0.troubles(credentials, wall) })
    }

    /// A route with something wrong, and the trouble that it makes.
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: TroubleKind
        let id: String
        let cause: String
        let change: @Sendable (inout RouteFacts) -> Void
        var testDescription: String { id }

        init(
            _ kind: TroubleKind,
            _ subject: String,
            _ cause: String,
            _ change: @escaping @Sendable (inout RouteFacts) -> Void
        ) {
            self.kind = kind
            id = kind.name + subject
            self.cause = cause
            self.change = change
        }

        static func failed(
            _ kind: TroubleKind,
            _ subject: String,
            _ failure: FailureKind,
            _ cause: String,
            status: Status? = nil
        ) -> Case {
            Case(kind, subject, cause) { route in
                route = TroublesTests.failing([
                    FailureCount(failure, status, 9), FailureCount(.decoding, nil, 8),
                ])
                route.credential = "books"
            }
        }
    }

    private static let host = "/https://api.example"
    static let cases: [Case] = [
        .failed(
            .upstreamUnreachable,
            host,
            .connectionRefused,
            "https://api.example: The upstream's machine refused the connection."
        ),
        .failed(
            .upstreamUnreachable,
            host,
            .dnsError,
            "https://api.example: The upstream's name does not exist, or the name servers failed."
        ),
        .failed(
            .upstreamUnreachable,
            host,
            .tlsCertificateError,
            "https://api.example: The upstream's certificate is not trusted, or its chain has none of the pinned keys."
        ),
        .failed(
            .upstreamFailing,
            host,
            .httpStatus,
            "https://api.example: The upstream answers 503.",
            status: 503
        ),
        .failed(
            .upstreamFailing,
            host,
            .httpResponseTimeout,
            "https://api.example: The answer took longer than timeouts.attempt."
        ),
        .failed(
            .upstreamFailing,
            host,
            .connectionTerminated,
            "https://api.example: The connection ended before the answer began."
        ),
        .failed(.upstreamFailing, host, "quota_gone", "https://api.example: The answers are quota_gone."),
        .failed(.requestsRefused, "/r", .httpStatus, "r: The upstream answers 422.", status: 422),
        .failed(.throttled, host, .httpStatus, "https://api.example: The upstream answers 429.", status: 429),
        .failed(
            .credentialFailing,
            "/books",
            .credentialsFailed,
            "Credential books could not be obtained."
        ),
        .failed(
            .relayFailing,
            "/r",
            FailureKind(.storedBodyCorrupt),
            "r: The relay's own copy of the body is damaged, so it is not sent."
        ),
        Case(.upstreamFailing, host, "https://api.example: An upstream fails.") { route in
            route.upstreams[0].breaker = .open
        },
        Case(.throttled, host, "https://api.example: An upstream asks for fewer requests.") { route in
            route.upstreams[0].isSpared = true
        },
        Case(.breakerForced, host + "/open", "https://api.example: An operator keeps the breaker open.") {
            $0.upstreams[0].breaker = .forcedOpen
        },
        Case(.saturated, "/r", "r: 1 request waits for a permit.") { route in
            (route.condition, route.pending) = (.busy, 1)
        },
        Case(.saturated, "/r", "r: 9 requests wait for a permit, 8 of user 1001.") { route in
            (route.condition, route.pending, route.crowd) = (.busy, 9, (1001, 8))
        },
        Case(.saturated, "/r", "r: 2 requests wait for a permit, all of user 1001.") { route in
            (route.condition, route.pending, route.crowd) = (.busy, 2, (1001, 2))
        },
        .failed(
            .upstreamFailing,
            host,
            .cancelled,
            "https://api.example: Callers give up before it has answered."
        ),
        Case(.routePaused, "/alice (uid 7)/tests", "Paused by alice (uid 7): tests") { route in
            route.pause = RoutePause(reason: "tests", began: 5, by: Principal(7, name: "alice"))
        },
        Case(.routeUnconfigured, "/r", "r: Jobs wait for a route that the configuration does not have.") {
            route in
            (route.condition, route.upstreams, route.jobs) = (nil, [], [.queued: 1])
        },
        Case(.neverFailsBreached, "/r", "r: never_fails breached 4x.") { $0.breaches = 4 },
        Case(.jobsRetrying, "", "1 job failed and will be tried again.") { $0.jobs = [.retrying: 1] },
        Case(.jobsWaiting, "", "100 jobs could be sent and wait for a turn.") { $0.jobs = [.queued: 100] },
        Case(.jobsWaiting, "", "1 job could be sent and waits for a turn.") { route in
            (route.jobs, route.oldest) = ([.queued: 1], TroublesTests.wall - 600_001)
        },
        Case(.jobsHeld, "", "2 jobs are on hold.") { $0.jobs = [.held: 2] },
        Case(.jobsDead, "", "39 jobs are dead.") { $0.jobs = [.dead: 39] },
    ]

    private static var well: RouteFacts {
        var route = RouteFacts("r")
        route.upstreams = [RouteFacts.Upstream("one", origin)]
        (route.jobs, route.oldest) = ([.queued: 99, .succeeded: 5], wall - 600_000)
        // Those that are over.
        route.upstreams[0].failures = [FailureCount(.connectionRefused, nil, 99)]
        return route
    }

    @Test("Each thing that is wrong makes one trouble, with its cause", arguments: cases)
    func told(_ one: Case) throws {
        var route = RouteFacts("r")
        route.upstreams = [RouteFacts.Upstream("one", Self.origin)]
        one.change(&route)
        let troubles = Self.troubles([route])
        let trouble = try #require(troubles.worst.first)
        #expect(troubles.count == 1 && trouble.kind == one.kind && trouble.id == one.id)
        #expect(trouble.cause == one.cause)
        #expect(Array(trouble.routes.keys) == ["r"] && troubles.routeCount == 1)
        #expect(!trouble.kind.relay.isEmpty && !trouble.remedy.isEmpty && troubles.state == trouble.state)
        // No command is left to be filled in where there is one route.
        #expect(!trouble.remedy.contains("ROUTE"))
    }

    @Test("Nothing is told of a route that is well, whatever failed at it before")
    func well() {
        let troubles = Self.troubles([Self.well])
        #expect(troubles.count == 0 && troubles.state == .ok && troubles.since == nil)
    }

    @Test("Jobs that are not due yet may be old, and nothing is the matter with those")
    func scheduled() {
        var route = Self.well
        (route.jobs, route.oldest) = ([.scheduled: 500, .queued: 1], 1)
        #expect(Self.troubles([route]).count == 0)
    }

    @Test("Sixty routes of one dead host are one trouble, and those of another host are another")
    func host() throws {
        let refused = [FailureCount(.connectionRefused, nil, 3)]
        var routes = (0..<60).map { Self.failing(refused, named: "r\($0)") }
        routes[7].failuresPerMinute = 5
        routes[8].since = Self.wall - 90_000
        let other = Self.failing(refused, named: "z", at: "https://other.example")
        let troubles = Self.troubles(routes + [other])
        #expect(
            troubles.worst.map(\.id) == [
                "upstream_unreachable/https://api.example", "upstream_unreachable/https://other.example",
            ]
        )
        let first = try #require(troubles.worst.first)
        #expect(first.routes.count == 60 && first.failuresPerMinute == 5 && first.routes["r7"] == 5)
        #expect(first.failures.map(\.count) == [180] && first.since == Self.wall - 90_000)
        #expect(troubles.routeCount == 61 && troubles.failuresPerMinute == 5)
        // One host that fails in two ways has two troubles.
        let statuses = Self.failing([FailureCount(.httpStatus, 500, 1)], named: "s")
        #expect(Self.troubles([routes[0], statuses]).count == 2)
    }

    @Test("The cause is what failed most, and not what failed last")
    func most() throws {
        let counts = [FailureCount(.httpStatus, 410, 3), FailureCount(.httpStatus, 503, 88)]
        let route = Self.failing(counts, last: (.httpStatus, 410))
        let trouble = try #require(Self.troubles([route]).worst.first)
        #expect(trouble.kind == .upstreamFailing)
        #expect(trouble.cause == "https://api.example: The upstream answers 503.")
        #expect(trouble.lastFailure == nil)
        // Where nobody has counted the statuses, none is said to be the cause.
        let uncounted = Self.failing([FailureCount(.httpStatus, nil, 91)], last: (.httpStatus, 410))
        let told = try #require(Self.troubles([uncounted]).worst.first)
        #expect(told.cause == "r: The status of the answer does not count as a success.")
        #expect(told.lastFailure?.status == 410)
    }

    @Test("That a breaker stopped requests is no cause where there is another")
    func breaker() throws {
        var route = Self.failing([
            FailureCount(.breakerOpen, nil, 900), FailureCount(.connectionTimeout, nil, 20),
        ])
        route.upstreams[0].breaker = .open
        let trouble = try #require(Self.troubles([route]).worst.first)
        #expect(
            trouble.kind == .upstreamUnreachable && trouble.failures.map(\.name.kind) == [.connectionTimeout]
        )
    }

    @Test(
        "A route that fails for want of its credential is told with the credential",
        arguments: [401, 403, 500]
    )
    func credential(status: UInt16) throws {
        var route = Self.failing([FailureCount(.httpStatus, Status(rawValue: status), 5)])
        route.credential = "books"
        let trouble = try #require(
            Self.troubles([route], credentials: ["books": .credentialRefused]).worst.first
        )
        #expect(trouble.kind == (status < 500 ? .credentialRefused : .upstreamFailing))
        #expect(
            Self.troubles([route]).worst.first?.kind == (status < 500 ? .requestsRefused : .upstreamFailing)
        )
    }

    @Test(
        "Where an operator keeps a breaker closed the upstream is told of by its failures, too",
        arguments: [true, false]
    )
    func forced(isOpen: Bool) {
        var route = Self.failing([FailureCount(.connectionRefused, nil, 5)])
        (route.upstreams[0].breaker, route.failuresPerMinute) = (isOpen ? .forcedOpen : .forcedClosed, 3)
        let told = Self.troubles([route])
        #expect(told.worst.map(\.kind) == (isOpen ? [] : [.upstreamUnreachable]) + [.breakerForced])
        #expect(told.worst[0].failuresPerMinute == 3 && told.failuresPerMinute == 3)
        #expect(
            told.worst.last?.failures.count == 0
                && told.worst.last?.remedy.hasSuffix("breaker r auto") == true
        )
    }

    @Test("Of several upstreams those are told that fail, each by its own cause")
    func upstreams() {
        var route = RouteFacts("r", .degraded)
        var one = RouteFacts.Upstream("one", Self.origin)
        (one.isFailing, one.failures) = (true, [FailureCount(.connectionRefused, nil, 1)])
        var two = RouteFacts.Upstream("two", "https://two.example")
        two.failures = [FailureCount(.httpStatus, 500, 99)]
        route.upstreams = [one, two]
        #expect(Self.troubles([route]).worst.map(\.kind) == [.upstreamUnreachable])
        route.upstreams[1].breaker = .open
        #expect(Set(Self.troubles([route]).worst.map(\.kind)) == [.upstreamUnreachable, .upstreamFailing])
    }

    @Test(
        "The most costly stands first: the whole daemon, failures of callers, jobs that end soon, age of jobs, kind, id"
    )
    func order() {
        func route(_ name: String, _ change: (inout RouteFacts) -> Void) -> RouteFacts {
            var route = Self.failing([FailureCount(.connectionRefused, nil, 1)], named: name, at: name)
            change(&route)
            return route
        }
        let routes = [
            route("b") { _ in }, route("a") { _ in }, route("few") { $0.failuresPerMinute = 1 },
            route("old") { ($0.jobs, $0.oldest) = ([.retrying: 1], 10) },
            route("new") { ($0.jobs, $0.oldest) = ([.retrying: 9], 20) },
            route("soon") { ($0.jobs, $0.oldest, $0.expiring) = ([.retrying: 2], 30, .init(2, first: 5)) },
            route("sooner") {
                ($0.jobs, $0.oldest, $0.expiring) = ([.retrying: 9], 40, .init(1, first: 9))
                $0.dying = .init(2, first: 7)
            },
            route("many") { ($0.failuresPerMinute, $0.condition) = (94, .degraded) },
            route("held") {
                $0 = RouteFacts("held")
                $0.jobs = [.dead: 1_000]
            },
        ]
        var daemon = DaemonFacts()
        daemon.store = (.storeFull, 1)
        daemon.isConstrained = true
        let found =
            (routes + [route("gone") { $0.condition = .degraded }]).flatMap { $0.troubles([:], Self.wall) }
            + daemon.troubles(Self.wall)
        let wanted = [
            "store_full", "many", "few", "sooner", "soon", "old", "new", "a", "b", "gone", "jobs_dead",
            "network_constrained",
        ]
        for order in [found, found.reversed(), found.sorted { $0.id > $1.id }] {
            #expect(Troubles(order).worst.map { $0.subjectName ?? $0.id } == wanted)
        }
        // The store that is well again has nothing to say.
        daemon.store = nil
        #expect(!daemon.troubles(Self.wall).contains { $0.kind == .storeFull })
    }

    @Test(
        "Jobs that end soon are those of a route that is in trouble, and those of its pause while it has one"
    )
    func ending() throws {
        var route = Self.failing([FailureCount(.connectionRefused, nil, 1)])
        (route.jobs, route.expiring) = ([.retrying: 3, .held: 1], .init(2, first: 9))
        (route.dying, route.held) = (.init(1, first: 5), .init(1, first: 3))
        let told = Self.troubles([route]).worst
        #expect(told.map(\.kind) == [.upstreamUnreachable, .jobsHeld])
        #expect(told[0].expiring == .init(2, first: 9) && told[0].dying == .init(1, first: 5))
        #expect(told[1].expiring == .init(1, first: 3) && told[1].dying.count == 0)
        var other = route
        other.pause = RoutePause(reason: "x", began: 1)
        let paused = try #require(Self.troubles([other]).worst.first)
        #expect(paused.expiring == .init(3, first: 3) && paused.dying.count == 0)
        // Routes of one host are one trouble, with the jobs of both.
        var same = Self.failing([FailureCount(.connectionRefused, nil, 1)], named: "s")
        (same.jobs, same.expiring) = ([.retrying: 4], .init(4, first: 7))
        #expect(Self.troubles([route, same]).worst[0].expiring == .init(6, first: 7))
        // Of a route that is well nothing is told.
        var well = Self.well
        well.expiring = .init(7, first: 1)
        #expect(Self.troubles([well]).count == 0)
    }

    @Test("There are bounds: a hundred are told, the count has all, and texts of others are cut")
    func bounds() throws {
        let refused = [FailureCount(.connectionRefused, nil, 1)]
        let routes = (0..<10_000).map { Self.failing(refused, named: "r\($0)", at: "https://\($0).example") }
        let troubles = Self.troubles(routes)
        #expect(troubles.worst.count == 100 && troubles.count == 10_000 && troubles.routeCount == 10_000)
        let same = Self.troubles((0..<10_000).map { Self.failing(refused, named: "r\($0)") })
        #expect(same.count == 1 && same.worst[0].routes.count == 10_000)
        var paused = RouteFacts("r")
        paused.pause = RoutePause(reason: String(repeating: "\u{202E}ü", count: 1_000_000), began: 1)
        let trouble = try #require(Self.troubles([paused]).worst.first)
        #expect(trouble.cause.utf8.count < 320 && trouble.id.utf8.count < 400)
    }

    @Test(
        "The daemon and its store tell what they lack, and nothing where they lack nothing",
        arguments: [
            (0, 800, 100, nil), (0, 801, 100, "The job store is nearly full, at 801 of 1000 bytes."),
            (0, 0, 99, "The disk of the job store is nearly full, with 99 of 1000 bytes left."),
            (1, 0, 100, "Damaged records met in the job store since the start: 1."),
        ] as [(UInt64, UInt64, UInt64, String?)]
    )
    func store(damaged: UInt64, used: UInt64, left: UInt64, cause: String?) {
        var daemon = DaemonFacts()
        daemon.facts.corruptRecords = damaged
        (daemon.facts.usedBytes, daemon.facts.maxBytes) = (used, 1_000)
        daemon.facts.disk = DiskSpace(size: 1_000, available: left)
        #expect(daemon.troubles(Self.wall).map(\.cause) == (cause.map { [$0] } ?? []))
    }

    @Test(
        "A journal that takes no records, or lost some, is told",
        arguments: [
            (0, 0, nil), (2, 0, nil), (12, 34, "The journal has not taken a record for 12s."),
            (0, 34, "Records the journal did not take since the start: 34."),
        ] as [(Int64, Int, String?)]
    )
    func journal(blocked: Int64, lost: Int, cause: String?) {
        var daemon = DaemonFacts()
        daemon.journal = (blocked, lost)
        #expect(daemon.troubles(Self.wall).map(\.cause) == (cause.map { [$0] } ?? []))
    }

    @Test("A call is offered where one call helps: of one route, or of one kind of failure")
    func actions() throws {
        func action(_ routes: [RouteFacts]) -> String {
            Self.troubles(routes).worst.first?.action.map { "\($0)" } ?? "none"
        }
        var one = Self.failing([FailureCount(.connectionRefused, nil, 1)])
        #expect(action([one]) == "none")
        one.jobs = [.retrying: 1]
        #expect(action([one]).contains("route: Optional(\"r\"), failure: nil"))
        var two = Self.failing([FailureCount(.connectionRefused, nil, 1)], named: "s")
        two.jobs = one.jobs
        #expect(action([one, two]).contains("route: nil, failure: Optional("))
        #expect(action([one, two]).contains("connection_refused"))
        var paused = RouteFacts("r")
        paused.pause = RoutePause(reason: "x", began: 1)
        #expect(action([paused]).contains("resume"))
    }
}

@Suite("The troubles of an engine are those of its routes", .runQueue, .timeLimit(.minutes(1)))
struct EngineTroublesTests {
    private func troubles(_ bench: DurableBench) -> Troubles {
        Troubles(bench.engine, bench.jobs, DaemonFacts())
    }

    @Test(
        "A kept job that fails is a trouble of its upstream until it is delivered, a pause one of its route"
    )
    func life() async throws {
        let isDown = Atomic<Bool>(true)
        let bench = DurableBench { _ in isDown.load(ordering: .relaxed) ? .answer(503) : .answer(200) }
        try await bench.start()
        #expect(troubles(bench).count == 0)
        let id = try await bench.submit()
        try await bench.job(id, is: .retrying)
        let began = bench.time.wallMilliseconds()
        // The next sweep counts the jobs.
        bench.time.advance(by: .seconds(1))
        await bench.until { troubles(bench).worst.first?.retrying == 1 }
        let told = troubles(bench)
        let first = try #require(told.worst.first)
        #expect(told.count == 1 && first.id == "upstream_failing/unix:/one" && first.state == .failing)
        #expect(first.since == began && first.lastFailure?.status == 503)
        #expect(first.waiting == 1 && first.oldest != nil && first.next != nil && first.upstreams == ["one"])
        isDown.store(false, ordering: .relaxed)
        bench.time.advance(by: .seconds(5))
        try await bench.job(id, is: .succeeded)
        bench.time.advance(by: .seconds(61))
        await bench.until { troubles(bench).count == 0 }
        try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
        #expect(troubles(bench).worst.map(\.cause) == ["Paused: a test"])
        #expect(troubles(bench).state == .paused)
        #expect(await bench.stop())
    }
}
