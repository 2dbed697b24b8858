import RelayBase
import RelayCore
import RelayJobs
import RelayTestSupport
import Testing

@Suite("The figures that a route counts")
struct RouteMeterTests {
    private let meter = RouteMeter(shards: 3)
    private let upstreams = [UpstreamMeter("u1", shards: 3), UpstreamMeter("u2", shards: 3)]

    private var memory: RouteMemory { RouteMemory(meter: meter, upstreams: upstreams) }

    private func report(
        _ state: JobState,
        by source: AnswerSource? = .upstream,
        attempts: [Attempt] = [],
        failure: Failure? = nil
    ) -> JobReport {
        let answer = source.map { _ in HTTPResponse(status: 200) }
        return JobReport(
            context,
            state,
            answer,
            by: source ?? .upstream,
            failure: failure,
            attempts: attempts
        )
    }

    private var context: JobContext {
        JobContext(
            id: JobID(milliseconds: 1_000, random: (1, 2)),
            route: makeRoute(),
            method: .get,
            target: "",
            options: JobOptions(),
            client: nil,
            memory: memory
        )
    }

    private func attempt(
        _ upstream: String = "u1",
        failed kind: FailureKind? = nil,
        rule: String? = nil,
        next: Attempt.Next? = nil
    ) -> Attempt {
        var attempt = Attempt(number: 1, upstream: upstream, beganAt: 0, duration: .milliseconds(4))
        attempt.failure = kind.map { Failure($0, sent: .unknown, "it failed") }
        attempt.rule = rule
        attempt.next = next
        return attempt
    }

    private func count(_ report: JobReport, lane: Int = 0) { memory.count(report, shard: lane, wall: 5_000) }

    @Test("Each lane counts for itself, and a reader has the sum")
    func lanes() {
        for lane in 0..<3 { count(report(.succeeded, attempts: [attempt()]), lane: lane) }
        #expect(meter.figures[.succeeded] == 3 && meter.figures.requests == 3)
        #expect(upstreams[0].succeeded == 3 && upstreams[0].attempts.count == 3)
        #expect(upstreams[0].attempts.microseconds == 12_000 && upstreams[1].succeeded == 0)
    }

    @Test("A lane that is none counts nothing")
    func none() {
        count(report(.succeeded, attempts: [attempt()]), lane: 3)
        RouteMeter(shards: 0).count(report(.dead), shard: 0, wall: 0)
        #expect(meter.figures.requests == 0)
    }

    @Test(
        "Connections that were opened count with their time and handshake, and attempts that had one already"
    )
    func connections() {
        func dialled(_ change: (inout Exchange) -> Void) -> Attempt {
            var (attempt, exchange) = (attempt(), Exchange(address: "192.0.2.1:443"))
            change(&exchange)
            attempt.exchange = exchange
            return attempt
        }
        let attempts = [
            dialled { ($0.connect, $0.handshake) = (.milliseconds(30), .full) },
            dialled { ($0.connect, $0.handshake) = (.milliseconds(10), .resumed) },
            dialled { $0.connect = .milliseconds(2) },
            // It was refused.
            dialled { _ in },
            dialled { $0.wasReused = true },
        ]
        for (lane, attempt) in attempts.enumerated() {
            count(report(.succeeded, attempts: [attempt]), lane: lane % 3)
        }
        upstreams[0].countPlain(1_000, shard: 1)
        let meter = upstreams[0]
        #expect(meter[.opened] == 3 && meter[.microseconds] == 42_000)
        #expect(meter[.fullHandshakes] == 1 && meter[.resumedHandshakes] == 1)
        #expect(meter[.reused] == 2)
    }

    @Test(
        "The wait for a permit is counted, and how long a kept job was due before each of its runs was sent"
    )
    func waits() {
        count(report(.succeeded, attempts: [attempt()]).after(permitWait: .milliseconds(50)))
        #expect(meter.figures.permitWaits.count == 1 && meter.figures.permitWaits.microseconds == 50_000)
        var history = JobHistory()
        history.dueAt = 2_000
        let context = JobContext(
            id: JobID(milliseconds: 1_000, random: (1, 2)),
            route: makeRoute(),
            method: .get,
            target: "",
            options: JobOptions(),
            client: nil,
            memory: memory,
            history: history
        )
        // One that was not sent did not begin.
        for exchange in [nil, Exchange(address: "192.0.2.1:80")] {
            var attempt = Attempt(number: 1, upstream: "u1", beganAt: 2_350, duration: .milliseconds(4))
            attempt.exchange = exchange
            count(JobReport(context, .succeeded, HTTPResponse(status: 200), attempts: [attempt]))
        }
        #expect(meter.figures.starts.count == 1 && meter.figures.starts.microseconds == 350_000)
    }

    @Test(
        "A request that is over has one outcome",
        arguments: [
            (JobState.succeeded, AnswerSource.upstream, "succeeded"), (.succeeded, .fallback, "fallback"),
            (.succeeded, .placeholder, "placeholder"), (.succeeded, .stale, "stale"),
            (.dead, .upstream, "failed"),
            (.expired, .upstream, "failed"), (.cancelled, .upstream, "cancelled"),
        ]
    )
    func outcomes(_ state: JobState, _ source: AnswerSource, _ outcome: String) {
        count(report(state, by: source))
        let figures = meter.figures
        let counts = [
            "succeeded": figures[.succeeded], "fallback": figures[.fallback],
            "placeholder": figures[.placeholder],
            "stale": figures[.stale], "failed": figures[.failed], "cancelled": figures[.cancelled],
        ]
        #expect(counts.filter { $0.value != 0 } == [outcome: 1] && figures.requests == 1)
    }

    @Test("Failed attempts count by upstream and kind, and what the rules did about them")
    func failures() {
        let failed = attempt(failed: .connectionRefused, rule: "again", next: .failover(to: "u2"))
        count(report(.succeeded, attempts: [failed, attempt("u2")]))
        count(
            report(
                .dead,
                attempts: [attempt(failed: .httpStatus)],
                failure: Failure(.httpStatus, sent: .answered, "")
            )
        )
        let account = meter.figures.account
        #expect(
            account.failures.map { "\($0.key.upstream) \($0.key.kind.rawValue) \($0.value)" }.sorted()
                == ["u1 connection_refused 1", "u1 http_status 1"]
        )
        #expect(account.recoveries == [RouteAccount.RecoveryName(rule: "again", action: "failover"): 1])
        #expect(upstreams[1].succeeded == 1)
    }

    @Test("Each upstream has its own last failure, which what was kept from it does not hide")
    func lastFailures() {
        var long = attempt("u2", failed: .connectionRefused)
        long.duration = .seconds(9)
        count(report(.dead, by: nil, attempts: [attempt(failed: .httpStatus), long]))
        count(
            report(
                .dead,
                by: nil,
                attempts: [attempt(failed: .breakerOpen), attempt("u2", failed: .dnsError)]
            )
        )
        let last = meter.figures.account.lastFailures
        #expect(last["u1"]?.kind == .httpStatus && last["u1"]?.detail == "it failed")
        #expect(last["u2"]?.kind == .connectionRefused && last["u2"]?.wallSeconds == 9)
    }

    @Test("The life of a kept job is told from its acceptance to its end")
    func lives() {
        let done = JobReport(
            JobChange(
                id: JobID(milliseconds: 1_000, random: (1, 2)),
                route: "r",
                user: nil,
                state: .succeeded,
                attemptCount: 2
            )
        )
        meter.count(done, shard: 0, wall: 5_000)
        meter.accepted(shard: 0)
        let figures = meter.figures
        #expect(figures[.jobsSucceeded] == 1 && figures[.accepted] == 1 && figures[.recovered] == 1)
        #expect(figures.lives.count == 1 && figures.lives.microseconds == 4_000_000)
    }

    @Test("Names of ever other configurations are not kept without bound")
    func bound() {
        for number in 0..<2_000 {
            count(report(.dead, by: nil, attempts: [attempt(failed: FailureKind(rawValue: "own_\(number)"))]))
        }
        #expect(meter.figures.account.failures.count == 1_000 && meter.figures[.failed] == 2_000)
    }

    @Test("An exemplar is asked for once a second in each bucket, and the latest is told")
    func exemplars() throws {
        let trace = try #require(TraceID(parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        var asked = 0
        func answer(at milliseconds: Int64, after taken: Int64, lane: Int) {
            let now = Instant(nanoseconds: milliseconds * 1_000_000)
            let began = Instant(nanoseconds: (milliseconds - taken) * 1_000_000)
            meter.answered(since: began, now, shard: lane) {
                asked += 1
                return (trace, milliseconds)
            }
        }
        answer(at: 5_000, after: 3, lane: 0)
        answer(at: 5_999, after: 3, lane: 0)
        #expect(asked == 1)
        answer(at: 6_000, after: 4, lane: 1)
        answer(at: 6_001, after: 40, lane: 0)
        #expect(asked == 3)
        let exemplars = meter.exemplars
        #expect(exemplars[2] == TraceExemplar(trace: trace, microseconds: 4_000, wall: 6_000))
        #expect(exemplars[5]?.microseconds == 40_000 && exemplars[0] == nil)
        #expect(meter.figures.answers.count == 4)
    }

    @Test("An upstream that comes back has its figures, and those of one that is gone are still the route's")
    func names() {
        let memory = RouteMemory(meter: meter, upstreams: [meter.upstream("eu"), meter.upstream("us")])
        memory.count(report(.succeeded, attempts: [attempt("eu")]), shard: 0, wall: 5_000)
        #expect(meter.upstream("eu").succeeded == 1 && meter.upstream("us").succeeded == 0)
        #expect(meter.figures.succeededAttempts == 1 && meter.figures.attempts.count == 1)
    }

    @Test("A request that failed without an attempt is told by its kind, and no rule is told to have acted")
    func unsent() {
        count(report(.dead, by: nil, failure: Failure(.overloaded, sent: .neverSent, "no room")))
        #expect(meter.figures.account.unsent == [.overloaded: 1] && meter.figures[.failed] == 1)
        #expect(meter.figures.account.recoveries.isEmpty && meter.figures.account.failures.isEmpty)
    }

    @Test("A rule that answers and one that sends again as a kept job have both acted, each by its name")
    func kept() {
        var answered = attempt(failed: .httpStatus, rule: "now", next: .respondAndKeep(.placeholder))
        answered.resentBy = "later"
        count(report(.succeeded, by: .placeholder, attempts: [answered]))
        #expect(
            meter.figures.account.recoveries == [
                RouteAccount.RecoveryName(rule: "now", action: "respond_and_keep"): 1,
                RouteAccount.RecoveryName(rule: "later", action: "retry"): 1,
            ]
        )
    }

    @Test("How long a retry is put off is told with its attempt")
    func delays() {
        let failed = attempt(failed: .httpStatus, rule: "again", next: .retry(after: .seconds(4)))
        count(report(.succeeded, attempts: [failed, attempt()]))
        #expect(meter.figures.delays.count == 1 && meter.figures.delays.microseconds == 4_000_000)
    }

    @Test(
        "Failed attempts of a minute are told by kind and status, and those of too many causes by their number"
    )
    func causes() {
        func fail(_ kind: FailureKind, _ status: Status? = nil) {
            var failed = attempt(failed: kind)
            failed.failure?.status = status
            count(report(.dead, by: nil, attempts: [failed]))
        }
        fail(.httpStatus, 503)
        fail(.httpStatus, 410)
        fail(.httpStatus, 503)
        fail(.connectionRefused)
        let ended = meter.endMinute().account.causes.map { code, count in
            "\(count) \(code.kind.map { "\($0)" } ?? "") \(code.status.map { "\($0.rawValue)" } ?? "")"
        }
        #expect(ended.sorted() == ["1 connection_refused ", "1 http_status 410", "2 http_status 503"])
        #expect(meter.figures.account.causes.isEmpty && meter.figures.account.failures.count == 2)
        for status in 400..<500 as Range<UInt16> { fail(.httpStatus, Status(rawValue: status)) }
        let many = meter.figures.account.causes
        #expect(many.count == 33 && many[.other] == 68 && many.values.reduce(0, +) == 100)
        #expect(FailureCode.other.kind == nil && FailureCode.other.status == nil)
    }
}
