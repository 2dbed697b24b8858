import RelayBase
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@testable import waystationd

@Suite("Words of an upstream that is asked, and planned windows, in a forecast")
struct ForecastWordsTests {
    /// 2027-01-15 08:00 UTC, a Friday.
    private static let wall: Int64 = 1_800_000_000_000

    private static func forecast(
        _ route: Route,
        _ words: [String],
        isKept: Bool = false,
        method: Method? = nil,
        keepsWindows: Bool = true
    ) throws -> Forecast {
        let series = try ImaginedSeries(words) { _ in [] }
        var plan = ForecastPlan(route, series, wall: wall, keepsWindows: keepsWindows)
        if isKept { (plan.isKept, plan.method) = (true, .post) }
        if let method { plan.method = method }
        return try #require(Forecast(plan))
    }

    private static func asking() throws -> Route {
        var (found, absent) = (SuccessRule(), SuccessRule())
        found.require = [BodyCheck(pointer: pointer("/data/0"), condition: .exists(true))]
        absent.require = [
            BodyCheck(pointer: pointer("/data"), condition: .exists(true)),
            BodyCheck(pointer: pointer("/data/0"), condition: .exists(false)),
        ]
        let verification = try Verification(path: "charges/{json:/id}", found: found, absent: absent)
        return makeRoute { policy in
            policy.verification = verification
            policy.recovery = [rule("r", ["any"], retry(4))]
        }
    }

    @Test("found and absent answer a question, and the method is one that is asked about")
    func questions() throws {
        let found = try Self.forecast(Self.asking(), ["reset", "found"])
        #expect(found.plan.method == .post && found.misplaced == nil)
        #expect(found.shortest.attempts.map(\.lookUp) == [nil, .found])
        #expect(found.shortest.caller?.source == .verified)
        let absent = try Self.forecast(Self.asking(), ["reset", "absent", "ok"])
        #expect(absent.shortest.attempts.map(\.lookUp) == [nil, .absent, nil])
        #expect(absent.shortest.caller?.outcome == .success && absent.shortest.caller?.source == .upstream)
        let plain = try Self.forecast(Self.asking(), ["reset", "ok"], method: .get)
        #expect(plain.shortest.attempts.allSatisfy { $0.lookUp == nil })
        #expect(String(decoding: plain.document, as: UTF8.self).contains("methods that are not safe only"))
    }

    @Test("a word that nothing asks for is found by its place", arguments: [false, true])
    func misplaced(isKept: Bool) throws {
        let first = try Self.forecast(Self.asking(), ["found"], isKept: isKept)
        #expect(first.misplaced?.position == 1)
        let later = try Self.forecast(Self.asking(), ["refused", "absent"], isKept: isKept)
        #expect(later.misplaced?.position == 2 && later.misplaced?.word == "absent")
        let other = try Self.forecast(Self.asking(), ["reset", "running"], isKept: isKept)
        #expect(other.misplaced?.position == 2)
    }

    @Test(
        "running, done and failed answer looks, and looks that went on are counted",
        arguments: [false, true]
    )
    func looks(isKept: Bool) throws {
        let route = makeRoute {
            $0.following = Following()
            $0.timeouts.total = .seconds(600)
        }
        let done = try Self.forecast(route, ["202", "runningx3", "done"], isKept: isKept, method: .post)
        #expect(done.shortest.attempts.map(\.lookUp) == [nil, .done])
        #expect(done.misplaced == nil && done.shortest.looksLeftOut == 3)
        #expect(
            String(decoding: done.document, as: UTF8.self)
                .contains("3 looks at an operation that went on are left out.")
        )
        let failed = try Self.forecast(route, ["202", "failed"], isKept: isKept, method: .post)
        #expect(failed.shortest.attempts.last?.lookUp == .failed && failed.shortest.looksLeftOut == 0)
        #expect(failed.shortest.attempts.last?.failure?.kind == .operationFailed)
    }

    private static func closed(
        _ from: Int,
        _ to: Int,
        _ more: (inout RoutePolicy) -> Void = { _ in }
    ) -> Route {
        makeRoute { policy in
            policy.closed = ClosedTimes([
                ClosedTimes.Window(days: .weekdays(0x7F), from: from * 3_600, to: to * 3_600, zone: .utc)
            ])
            more(&policy)
        }
    }

    @Test("a request in a planned window hears when it opens, and a kept job waits until then")
    func windows() throws {
        let route = Self.closed(7, 10)
        let request = try Self.forecast(route, ["ok"])
        let caller = try #require(request.shortest.caller)
        #expect(caller.status == 503 && caller.code == .routeClosed && caller.after == .zero)
        #expect(
            caller.retryAfter == .seconds(7_200)
                && request.shortest.attempts.map(\.failure?.kind) == [.routeClosed]
        )
        let kept = try Self.forecast(route, ["ok"], isKept: true)
        #expect(kept.shortest.job?.machine.state == .succeeded && kept.shortest.attempts.count == 1)
        #expect(kept.shortest.length >= .seconds(7_200) && kept.shortest.length < .seconds(7_201))
        let json = try JSONValue(parsing: kept.document)
        #expect(json["closed_until"] == .string("2027-01-15T10:00:00.000Z"))
        let open = try Self.forecast(Self.closed(9, 10), ["ok"])
        #expect(open.shortest.caller?.status == 200)
        #expect(
            String(decoding: open.document, as: UTF8.self)
                .contains("outside of planned windows (closed); the next begins at 2027-01-15T09:00:00.000Z")
        )
        let always = try Self.forecast(route, ["ok"], keepsWindows: false)
        #expect(always.shortest.caller?.status == 200)
    }

    @Test("the worst case tells the longest closure beside it")
    func closures() {
        let route = Self.closed(22, 6)
        let plan = ForecastPlan(route, ImaginedSeries([.good]), wall: Self.wall)
        let worst = WorstCase(plan, route.policy.closed)
        #expect(worst.closure == .seconds(8 * 3_600) && worst.job.length < .seconds(86_400 * 4))
        #expect(WorstCase(plan).closure == nil)
    }
}
