import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import RelayTesting
import Synchronization
import Testing

@testable import waystationd

@Suite("A forecast", .timeLimit(.minutes(1)))
struct ForecastTests {
    /// A route, and what becomes of the attempts of one request.
    private struct Case {
        let route: Route
        let series: [Imagined]
        let method: Method

        init(seed: UInt64, isKept: Bool) {
            var draw = SplitMix64(seed: seed)
            route = makeRoute { policy in
                policy.maxAttempts = draw.number(1...8)
                policy.timeouts.attempt = .milliseconds(draw.pick([150, 1_000, 3_000]))
                policy.timeouts.idle = .seconds(10)
                policy.timeouts.total = .milliseconds(draw.pick([500, 2_000, 10_000]))
                // Between two runs of a kept job the real daemon asks its dispatcher, which is not here.
                if isKept || draw.chance(50) { policy.traffic = .off }
                policy.recovery = (0..<draw.number(1...5)).map { index in
                    rule("r\(index)", draw.pick(Self.words), Self.action(&draw, isKept))
                }
            }
            series = (0..<draw.number(1...6)).map { _ in draw.pick(Self.failures) }
            method = draw.pick([.get, .post])
        }

        private static let words = [
            ["5xx"], ["503"], ["429", "503"], ["connection"], ["timeout"], ["connection", "timeout"], ["any"],
            ["exhausted"], ["4xx"],
        ]

        private static let failures = [
            imagined("503"), imagined("500"), imagined("404"), imagined("429,retry-after=1s"),
            imagined("refused"),
            imagined("reset"), imagined("timeout"), imagined("ok"),
        ]

        private static func action(_ draw: inout SplitMix64, _ isKept: Bool) -> RecoveryRule.Action {
            switch draw.number(0...(isKept ? 8 : 7)) {
            case 0: return .failover(upstream: 1, methods: draw.pick([.any, .idempotent]))
            case 1: return placeholder()
            case 2: return .fail
            case 8: return .deadLetter
            default:
                var policy = RetryPolicy()
                policy.maxAttempts = draw.number(1...5)
                policy.methods = draw.pick([.idempotent, .idempotentOrKeyed, .any])
                policy.backoff = Backoff(
                    schedule: draw.pick([
                        .exponential(base: .milliseconds(100), multiplier: 2, maximum: .seconds(2)),
                        .constant(.milliseconds(300)), .list([.milliseconds(10), .seconds(1)]),
                    ]),
                    jitter: draw.pick([.none, .full, .equal, .percent(20)])
                )
                return .retry(policy)
            }
        }

        /// The same failures from a transport that knows nothing of forecasts.
        func bench() -> Bench {
            let script = Script(series)
            let bench = Bench([], answer: { script.step(for: $0) })
            script.time.withLock { $0 = bench.time }
            return bench
        }

        func plan(isKept: Bool) -> ForecastPlan {
            var plan = ForecastPlan(route, ImaginedSeries(series), wall: 1_800_000_000_000)
            (plan.method, plan.isKept) = (method, isKept)
            return plan
        }
    }

    /// The failures as steps of the tests' transport.
    private final class Script: Sendable {
        let time = Mutex<VirtualTime?>(nil)
        private let series: [Imagined]
        private let state = Mutex((index: 0, isLate: false))

        init(_ series: [Imagined]) { self.series = series }

        func step(for request: OutboundRequest) -> ScriptedTransport.Step {
            let now = time.withLock { $0?.now() } ?? Instant(nanoseconds: 0)
            return state.withLock { state in
                if state.isLate {
                    state.isLate = false
                    return .fail(.httpResponseTimeout, .unknown)
                }
                let imagined = series[min(state.index, series.count - 1)]
                state.index += 1
                switch imagined.end {
                case .good, .word: return .answer(200, ["Content-Type": "application/json"], "{}")
                case .answer(let status, let fields, _):
                    return .answer(status, ScriptedFields(fields.map { ($0.name, $0.value) }))
                case .failure(.httpResponseTimeout):
                    state.isLate = true
                    return .take(now.duration(to: request.deadline))
                case .failure(let kind):
                    return .fail(kind, kind == .connectionRefused ? .neverSent : .unknown)
                case .recorded(let kind, let sent, _): return .fail(kind, sent)
                }
            }
        }
    }

    private static func imagined(_ word: String) -> Imagined {
        guard let series = try? ImaginedSeries([word], read: { _ in [] }) else { preconditionFailure(word) }
        return series.attempts[0]
    }

    @Test("has the attempts, waits and outcome that the relay has under another driver", arguments: 0..<20)
    func requests(block: Int) async throws {
        var waits = 0
        for seed in 0..<100 {
            let drawn = Case(seed: UInt64(block * 1_000 + seed), isKept: false)
            let forecast = try #require(Forecast(drawn.plan(isKept: false)))
            let bench = drawn.bench()
            let body: Body = drawn.method == .post ? .bytes(Array("{}".utf8)) : .empty
            let outcome = await bench.perform(drawn.method, "", on: drawn.route, body: body)
            waits += compare(forecast, outcome.attempts, "seed \(block), \(seed)")
            guard forecast.isOneCourse else { continue }
            let told = try #require(forecast.shortest.caller)
            #expect(outcome.status == nil || told.status.rawValue == outcome.status)
            #expect((told.detail == nil) == (outcome.failure == nil))
            #expect(told.outcome == OutcomeWord(outcome.report.source, isFailure: outcome.failure != nil))
        }
        #expect(waits > 10)
    }

    @Test("has the runs of a kept job to its end", arguments: 0..<20)
    func keptJobs(block: Int) async throws {
        var waits = 0
        for seed in 0..<80 {
            let drawn = Case(seed: UInt64(block * 1_000 + seed), isKept: true)
            let forecast = try #require(Forecast(drawn.plan(isKept: true)))
            let bench = drawn.bench()
            let body: Body = drawn.method == .post ? .bytes(Array("{}".utf8)) : .empty
            let runs = await bench.deliverToTheEnd(drawn.method, on: drawn.route, body: body)
            let seen = "seed \(block), \(seed)"
            waits += compare(forecast, runs.flatMap(\.attempts), seen)
            guard forecast.isOneCourse, let last = runs.last else { continue }
            let told = try #require(forecast.shortest.job).machine
            switch last.ending {
            case .succeeded: #expect(told.state == .succeeded, "\(seen)")
            case .dead(let end): #expect(told.state == .dead && told.end == end, "\(seen): \(end)")
            default: Issue.record("\(seen): ended as \(last.words)")
            }
        }
        #expect(waits > 5)
    }

    @Test("has in the request what a route asks by, or the content that is named", .timeLimit(.minutes(1)))
    func bodies() throws {
        var absent = SuccessRule()
        absent.statuses = StatusSet(codes: [404])
        let verification = try Verification(
            path: "charges?reference={json:/reference}",
            found: SuccessRule(),
            absent: absent
        )
        let route = makeRoute { policy in
            policy.verification = verification
            policy.recovery = [rule("r", ["any"], .retry(RetryPolicy()))]
        }
        func told(_ body: String?) throws -> [Attempt] {
            var plan = ForecastPlan(
                route,
                ImaginedSeries([Self.imagined("reset"), Self.imagined("ok")]),
                wall: 1_800_000_000_000
            )
            plan.method = .post
            plan.body = body.map { Array($0.utf8) }
            return try #require(Forecast(plan)).shortest.attempts
        }
        for body in [nil, #"{"reference":"a"}"#] {
            let attempts = try told(body)
            #expect(attempts.count == 2 && attempts[1].lookUp != nil, "\(attempts)")
        }
        let without = try told(#"{"other":"a"}"#)
        #expect(without.count < 2 || without[1].failure?.kind == .preparation, "\(without)")
    }

    @Test(
        "stops at the ten thousandth attempt of a job that costs none, and says so",
        .timeLimit(.minutes(1))
    )
    func spared() throws {
        let route = makeRoute { policy in
            policy.traffic = .off
            policy.deliversLater = true
            policy.delivery.expiresAfter = .seconds(100 * 86_400)
        }
        var plan = ForecastPlan(route, ImaginedSeries([Self.imagined("429")]), wall: 1_800_000_000_000)
        (plan.isKept, plan.method) = (true, .post)
        let forecast = try #require(Forecast(plan))
        let job = try #require(forecast.shortest.job)
        #expect(job.goesOn && job.attempts.count == 10_000 && !job.machine.state.isTerminal)
        #expect(
            String(decoding: forecast.document, as: UTF8.self).contains("It stops here, at attempt 10000")
        )
    }

    @Test("A 202 begins an operation, and its looks meet the words after it", arguments: [false, true])
    func follows(isKept: Bool) throws {
        func answer(_ status: Status) -> Imagined {
            Imagined(word: "\(status.rawValue)", end: .answer(status, fields: [], body: []))
        }
        for place in [nil, Following.Locator.pointer(pointer("/links/self"))] {
            let route = makeRoute {
                $0.following = Following()
                $0.following?.location = place
            }
            let series = ImaginedSeries([answer(202), answer(202), answer(503), .good])
            var plan = ForecastPlan(route, series, wall: 1_800_000_000_000)
            (plan.method, plan.isKept) = (.post, isKept)
            let told = try #require(Forecast(plan)).shortest
            #expect(told.attempts.map(\.lookUp) == [nil, .unanswered, .done])
            #expect(told.length == .seconds(6))
            #expect(isKept ? told.job?.machine.state == .succeeded : told.caller?.source == .followed)
        }
    }

    /// Holds the attempts against those of the forecast.
    ///
    /// - Returns: how many waits were compared.
    private func compare(_ forecast: Forecast, _ attempts: [Attempt], _ seen: String) -> Int {
        let (short, long) = (forecast.shortest.attempts, forecast.longest.attempts)
        let counts = [short.count, long.count]
        #expect(attempts.count >= counts.min() ?? 0 && attempts.count <= counts.max() ?? 0, "\(seen)")
        guard forecast.isOneCourse else { return 0 }
        var waits = 0
        for (index, attempt) in attempts.enumerated() where index < short.count {
            let told = short[index]
            #expect(attempt.status == told.status && attempt.failure?.kind == told.failure?.kind, "\(seen)")
            #expect(attempt.rule == told.rule && attempt.next?.name == told.next?.name, "\(seen)")
            #expect(
                attempt.upstream == told.upstream
                    && attempt.heldBack.map(\.rule) == told.heldBack.map(\.rule),
                "\(seen)"
            )
            guard case .retry(let wait)? = attempt.next, case .retry(let least)? = told.next,
                case .retry(let most)? = long[index].next
            else { continue }
            #expect(wait >= least - .nanoseconds(1) && wait <= most + .nanoseconds(1), "\(seen)")
            waits += 1
        }
        return waits
    }
}
