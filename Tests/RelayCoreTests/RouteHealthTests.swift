import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The state of a route is a rate")
struct RouteHealthTests {
    private let meter = RouteMeter(shards: 2)

    private func end(_ failure: Failure?, by source: AnswerSource? = nil, at wall: Int64) {
        let context = JobContext(
            id: JobID(milliseconds: 0, random: (1, 2)),
            route: makeRoute(),
            method: .get,
            target: "",
            options: JobOptions(),
            client: nil,
            memory: RouteMemory(meter: meter, upstreams: [])
        )
        var attempt = Attempt(number: 1, upstream: "u1", beganAt: 0, duration: .zero)
        attempt.failure = failure ?? Failure(.httpStatus, sent: .answered, "no", status: 503)
        let report = JobReport(
            context,
            source == nil ? .dead : .succeeded,
            source.map { _ in HTTPResponse(status: 200) },
            by: source ?? .upstream,
            failure: failure,
            attempts: [attempt]
        )
        meter.count(report, shard: 1, wall: wall)
    }

    private func fail(_ status: Status = 503, at wall: Int64) {
        end(Failure(.httpStatus, sent: .answered, "no", status: status), at: wall)
    }

    private func succeed(_ count: Int = 1) { for _ in 0..<count { meter.countPlain(shard: 0) } }

    private func state(_ wall: Int64) -> RouteCondition { meter.health(at: wall).condition(pending: 0) }

    /// How often neighbours differ.
    private func changes<Value: Equatable>(_ values: [Value]) -> Int {
        zip(values, values.dropFirst()).count { $0 != $1 }
    }

    @Test(
        "A stand-in that a closed route, the network or a lack of room brings says nothing of the upstream",
        arguments: [.routeClosed, .networkConstrained, .overloaded] as [FailureKind]
    )
    func ownStandIn(kind: FailureKind) {
        succeed()
        for wall in stride(from: Int64(0), to: 60_000, by: 1_000) {
            end(Failure(kind, sent: .neverSent, ""), by: .fallback, at: wall)
        }
        #expect(state(60_000) == .ok)
        for wall in stride(from: Int64(60_000), to: 120_000, by: 1_000) {
            end(Failure(.httpStatus, sent: .answered, "", status: 503), by: .fallback, at: wall)
        }
        #expect(state(120_000) != .ok)
    }

    @Test(
        "At a steady share of failures it changes at most twice in ten minutes, however the failures fall",
        arguments: [5, 10, 20, 30, 40, 50, 60, 80, 95],
        [1, 2, 3] as [UInt64]
    )
    func steady(percent: Int, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var (states, events): ([RouteCondition], [Bool]) = ([], [])
        for wall in stride(from: Int64(0), to: 600_000, by: 100) {
            let hasFailed = random.chance(percent)
            if hasFailed { fail(at: wall) } else { succeed() }
            events.append(hasFailed)
            // Its first requests say little.
            if wall % 1_000 == 0, wall >= 60_000 { states.append(state(wall)) }
        }
        #expect(changes(states) <= 2, "\(percent) %")
        // Between the share that it is entered at and that it is left at either may last.
        let last = try #require(states.last)
        #expect(percent >= 50 ? last == .failing || percent == 50 : last == .degraded || percent >= 30)
        // A state that went by the last event would have followed each.
        #expect(changes(events) > 100)
    }

    @Test(
        "Half of the last minute has a route failing, less than three of ten degraded, and one of fifty well"
    )
    func thresholds() {
        succeed(100)
        for _ in 0..<99 { fail(at: 0) }
        #expect(state(0) == .degraded)
        fail(at: 10)
        #expect(state(10) == .failing)
        succeed(133)
        #expect(state(20) == .failing)
        succeed(1)
        #expect(state(30) == .degraded)
        succeed(4_666)
        #expect(state(40) == .degraded)
        succeed(1)
        #expect(state(50) == .ok)
        fail(at: 60)
        #expect(state(60) == .degraded || meter.health(at: 60).lately.failed == 101)
    }

    @Test(
        "It is told since when it is not well, whatever its state becomes meanwhile, and no longer than it is so"
    )
    func since() {
        succeed(10)
        #expect(meter.health(at: 1_000).since == nil)
        fail(at: 2_000)
        #expect(state(2_000) == .degraded && meter.health(at: 2_000).since == 2_000)
        for wall in 3...20 { fail(at: Int64(wall) * 1_000) }
        #expect(state(20_000) == .failing && meter.health(at: 21_000).since == 2_000)
        succeed(1)
        #expect(state(80_000) == .ok && meter.health(at: 80_000).since == nil)
        fail(at: 90_000)
        #expect(meter.health(at: 95_000).since == 90_000)
    }

    @Test("An outage that is over is told of no longer than for a minute")
    func outage() {
        var seen: [RouteCondition] = []
        for wall in stride(from: Int64(0), to: 180_000, by: 50) {
            if (60_000..<80_000).contains(wall) { fail(at: wall) } else { succeed() }
            if wall % 1_000 == 0 { seen.append(state(wall)) }
        }
        #expect(seen[59] == .ok && seen[63] != .ok && seen[141] == .ok)
        #expect(seen.prefix(60).allSatisfy { $0 == .ok } && changes(seen) <= 4)
    }

    @Test(
        "Where requests are few the latest twenty count, and a minute without a failure ends it after a success"
    )
    func few() {
        fail(at: 0)
        #expect(state(0) == .failing)
        succeed()
        #expect(state(1_000) == .failing && state(59_999) == .failing)
        #expect(state(60_000) == .ok)
        fail(at: 3_700_000)
        // When the success of the hour before was, nobody knows.
        #expect(state(3_700_000) == .failing)
        // Nobody has asked for anything: nothing is known to be well.
        #expect(state(4_000_000) == .failing)
    }

    @Test("Nothing but failures is failing until something succeeds")
    func lasting() {
        for wall in 0..<30 { fail(at: Int64(wall) * 120_000) }
        #expect(state(30 * 120_000) == .failing && meter.health(at: 30 * 120_000).consecutiveFailures == 30)
        meter.isAnswered(shard: 0)
        #expect(state(30 * 120_000) == .ok && meter.health(at: 30 * 120_000).consecutiveFailures == 0)
    }

    @Test("Stand-ins degrade a route, and do not have it fail")
    func standIns() {
        for wall in 0..<40 { end(nil, by: .placeholder, at: Int64(wall)) }
        #expect(state(40) == .degraded)
        let lately = meter.health(at: 40).lately
        #expect(lately.standIns == 40 && lately.failed == 0 && lately.good == 0)
    }

    @Test(
        "An answer that only says there is no such thing, or that it is elsewhere, is no failure",
        arguments: [
            (404, .ok), (302, .ok), (400, .failing), (500, .failing),
        ] as [(Status, RouteCondition)]
    )
    func plainAnswers(status: Status, condition: RouteCondition) {
        for wall in 0..<40 { fail(status, at: Int64(wall)) }
        #expect(state(40) == condition)
    }

    @Test("The circuit breaker of one of several upstreams degrades a route that serves all")
    func open() {
        succeed()
        let health = meter.health(at: 0)
        #expect(health.condition(pending: 3, isPartlyOpen: true) == .degraded)
        #expect(health.condition(pending: 3) == .busy)
    }

    @Test("A clock that steps back has the history begin anew, and one that steps ahead ends the minute")
    func clock() {
        for wall in 0..<40 { fail(at: 10_000_000 + Int64(wall)) }
        succeed()
        #expect(state(5_000_000) == .ok)
        fail(at: 5_000_001)
        #expect(state(5_000_001) == .failing)
        succeed()
        #expect(state(9_000_000) == .ok)
    }
}
