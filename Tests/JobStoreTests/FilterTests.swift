import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Every criterion of a filter is meant for lists, counts and actions alike", .timeLimit(.minutes(5)))
struct FilterTests {
    /// The jobs of a store by name: each criterion takes some of them.
    private struct Crowd {
        var ids: [String: JobID] = [:]
        /// When the first of them were accepted, and when the others.
        var (early, late): (Int64, Int64)

        func names(_ found: [JobID]) -> Set<String> { Set(ids.filter { found.contains($0.value) }.keys) }
    }

    private func crowd(_ bench: any StoreUnderTest) async throws -> Crowd {
        var crowd = Crowd(early: bench.now.wall, late: bench.now.wall + 600_000)
        func accept(_ name: String, _ route: String, _ change: (inout NewJob) -> Void = { _ in }) async throws
        {
            crowd.ids[name] = try await bench.accept(route, change)
        }
        func end(
            _ name: String,
            _ ending: Settlement.Ending,
            _ kind: FailureKind,
            _ status: Status?,
            at upstream: String = "eu",
            isUncertain: Bool = false
        ) async throws {
            let route = try await bench.job(try #require(crowd.ids[name])).record.route
            let batch = try await bench.store.claim(route, limit: 9, upstream: upstream, at: bench.now)
            let claim = try #require(batch.claims.first)
            #expect(batch.claims.count == 1 && claim.token.id == crowd.ids[name])
            var attempt = Attempt(number: 1, upstream: upstream, beganAt: bench.now.wall)
            attempt.status = status
            attempt.failure = Failure(kind, sent: .answered, "no", status: status)
            var settlement = Settlement(claim.token, ending, attempts: [attempt], failureKind: kind)
            settlement.failureStatus = status
            settlement.isUncertain = isUncertain
            #expect(try await bench.store.settle([settlement], at: bench.now) != [.stale])
        }
        try await accept("dead", "a") { $0.record.labels = ["x=1"] }
        try await end("dead", .dead(.exhausted), "http_status", 503)
        try await accept("refused", "a") { $0.record.labels = ["x=10", "y=2"] }
        try await end("refused", .dead(.rejected), "dns_error", nil, at: "us")
        try await accept("doubtful", "b") {
            $0.record.mayRepeat = false
            $0.record.submitter = JobRecord.Submitter(user: 1_001, unit: nil)
        }
        try await end("doubtful", .dead(.outcomeUnknown), "http_response_timeout", nil, isUncertain: true)
        try await bench.advance(by: 600_000)
        try await accept("older", "b") { $0.record.supersedeKey = "s" }
        try await accept("newer", "b") { $0.record.supersedeKey = "s" }
        try await end("newer", .retry(after: .seconds(3_600), .backoff), "http_status", 429)
        try await accept("held", "b") { $0.record.labels = ["x=1"] }
        try await bench.apply(.hold, try #require(crowd.ids["held"]))
        try await accept("running", "c") {
            $0.record.submitter = JobRecord.Submitter(user: 1_001, unit: "shop.service")
        }
        #expect(try await bench.claim("c").count == 1)
        try await accept("queued", "d")
        try await accept("delayed", "d") { $0.due = .after(.seconds(3_600)) }
        return crowd
    }

    enum Criterion: CaseIterable, Sendable {
        case none, ids, route, unknownRoute, state, states, reason, paused, end, kind, status, upstream,
            label, labelPart
        case user, from, before, between, version, several
    }

    /// The filter and the jobs that it takes.
    private func wanted(
        _ criterion: Criterion,
        _ crowd: Crowd,
        _ bench: any StoreUnderTest
    ) -> (JobFilter, Set<String>) {
        var filter = JobFilter()
        switch criterion {
        case .none: return (filter, Set(crowd.ids.keys))
        case .ids:
            filter.ids = [crowd.ids["held"], crowd.ids["dead"], bench.id()].compactMap(\.self)
            return (filter, ["held", "dead"])
        case .route:
            filter.route = "b"
            return (filter, ["doubtful", "older", "newer", "held"])
        case .unknownRoute:
            filter.route = "nowhere"
            return (filter, [])
        case .state:
            filter.states = [.dead]
            return (filter, ["dead", "refused", "doubtful"])
        case .states:
            filter.states = [.running, .scheduled, .retrying]
            return (filter, ["running", "delayed", "newer"])
        case .reason:
            filter.reason = .operatorHold
            return (filter, ["held"])
        case .paused:
            (filter.reason, filter.pausedRoutes) = (.routePaused, ["a", "d"])
            return (filter, ["queued"])
        case .end:
            filter.end = .superseded
            return (filter, ["older"])
        case .kind:
            filter.failureKind = "http_status"
            return (filter, ["dead", "newer"])
        case .status:
            filter.failureStatus = 429
            return (filter, ["newer"])
        case .upstream:
            filter.upstream = "us"
            return (filter, ["refused"])
        case .label:
            filter.label = "x=1"
            return (filter, ["dead", "held"])
        case .labelPart:
            filter.label = "x"
            return (filter, [])
        case .user:
            filter.user = 1_001
            return (filter, ["doubtful", "running"])
        case .from:
            filter.createdFrom = crowd.late
            return (filter, ["older", "newer", "held", "running", "queued", "delayed"])
        case .before:
            filter.createdBefore = crowd.late
            return (filter, ["dead", "refused", "doubtful"])
        case .between:
            (filter.createdFrom, filter.createdBefore) = (crowd.early - 1_000, crowd.early)
            return (filter, [])
        case .version:
            (filter.version, filter.states) = (2, [.held, .running, .queued])
            return (filter, ["held", "running"])
        case .several:
            (filter.route, filter.states, filter.label) = ("b", [.held, .dead], "x=1")
            filter.createdFrom = crowd.late
            return (filter, ["held"])
        }
    }

    @Test(
        "A list has those that match in either order, a dry run counts them, and an action takes no other",
        arguments: StoreKind.all,
        Criterion.allCases
    )
    func criteria(kind: StoreKind, criterion: Criterion) async throws {
        let bench = try await kind.open()
        let crowd = try await crowd(bench)
        let (filter, names) = wanted(criterion, crowd, bench)
        let found = try await bench.list(filter).map(\.record.id)
        #expect(crowd.names(found) == names && found.count == names.count)
        #expect(try await bench.list(filter, .newestFirst).map(\.record.id) == found.reversed())
        let before = try await bench.list().map(\.version)
        var dry = ActionReport()
        repeat {
            let page = try await bench.store.apply(
                .drop,
                to: filter,
                limit: 100,
                after: dry.next,
                dryRun: true,
                at: bench.now
            )
            dry.matched += page.matched
            dry.wouldChange += page.wouldChange
            #expect(page.changes.isEmpty)
            dry.next = page.next
        } while dry.next != nil
        #expect(try await bench.list().map(\.version) == before)
        let report = try await bench.apply(.drop, filter)
        let droppable = names.subtracting(["running"])
        #expect(dry.matched == names.count && dry.wouldChange == droppable.count)
        #expect(report.matched == names.count && crowd.names(report.changes.map(\.id)) == droppable)
        let left = try await bench.list().map(\.record.id)
        #expect(crowd.names(left) == Set(crowd.ids.keys).subtracting(droppable))
    }

    @Test(
        "A retry spares those that may have been carried out and those whose place a newer one took",
        arguments: StoreKind.all
    )
    func spared(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let crowd = try await crowd(bench)
        var filter = JobFilter()
        filter.states = [.dead, .cancelled]
        (filter.sparesUncertain, filter.sparesSuperseded) = (true, true)
        let dry = try await bench.store.apply(.retry, to: filter, limit: 100, dryRun: true, at: bench.now)
        #expect(dry.matched == 4 && dry.wouldChange == 2 && dry.spared == 1 && dry.superseded == 1)
        let report = try await bench.apply(.retry, filter)
        #expect(report.matched == 4 && report.spared == 1 && report.superseded == 1)
        #expect(crowd.names(report.changes.map(\.id)) == ["dead", "refused"])
        (filter.sparesUncertain, filter.sparesSuperseded) = (false, false)
        let rest = try await bench.apply(.retry, filter)
        #expect(crowd.names(rest.changes.map(\.id)) == ["doubtful", "older"])
    }

    @Test(
        "Unfinished jobs that have failed are counted by how and by age, of a route or of all",
        arguments: StoreKind.all(.survives)
    )
    func failures(kind: StoreKind) async throws {
        let bench = try await kind.open()
        #expect(
            try await bench.store.failures(of: nil, at: bench.now).values.allSatisfy {
                $0.allSatisfy { $0 == 0 }
            }
        )
        func fail(_ route: String, _ kind: FailureKind, _ ending: Settlement.Ending) async throws {
            try await bench.accept(route)
            try await bench.settle(try await bench.claim(route)[0], ending, kind: kind)
        }
        func retry(_ route: String, _ kind: FailureKind) async throws {
            try await fail(route, kind, .retry(after: .seconds(7_200), .backoff))
        }
        try await retry("a", "dns_error")
        try await bench.advance(by: 30 * 60_000)
        try await retry("a", "dns_error")
        try await retry("a", "http_status")
        try await retry("b", "dns_error")
        try await fail("b", "http_status", .held(.credentials))
        try await fail("b", "http_status", .dead(.exhausted))
        try await bench.accept("b")
        try await bench.advance(by: 10 * 60_000)
        func counts(_ route: String?) async throws -> [FailureKind: [Int: Int]] {
            try await bench.store.failures(of: route, at: bench.now).mapValues { ages in
                #expect(ages.count == JobCounters.bucketCount)
                return Dictionary(uniqueKeysWithValues: ages.enumerated().filter { $1 > 0 }.map { ($0, $1) })
            }
            .filter { !$0.value.isEmpty }
        }
        // Ten minutes old, and forty.
        let (young, old) = (JobCounters.bucket(ageMinutes: 10), JobCounters.bucket(ageMinutes: 40))
        for _ in 0..<2 {
            #expect(try await counts(nil) == ["dns_error": [young: 2, old: 1], "http_status": [young: 2]])
            #expect(try await counts("a") == ["dns_error": [young: 1, old: 1], "http_status": [young: 1]])
            #expect(try await counts("b") == ["dns_error": [young: 1], "http_status": [young: 1]])
            #expect(try await counts("c") == [:])
            try await bench.reopen()
        }
    }
}
