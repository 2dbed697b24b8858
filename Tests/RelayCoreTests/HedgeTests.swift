import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite("A request that is late is sent a second time", .closedRunQueue, .timeLimit(.minutes(1)))
struct HedgeTests {
    @Test("The first that answers is taken, and the second is given up and nobody's fault")
    func firstWins() async {
        let yard = await Yard()
        async let outcome = yard.perform()
        await yard.late()
        await yard.both()
        #expect(yard.underWay == [2, 0])
        yard.transport.answer(0, 200)
        let ended = await outcome
        #expect(ended.status == 200 && ended.failure == nil)
        #expect(yard.transport.cancelled == [1])
        #expect(ended.attempts.map(\.number) == [2, 1], "the one that was taken stands last")
        #expect(ended.attempts.asBegun.map(\.number) == [1, 2])
        #expect(ended.attempts[0].failure?.kind == .cancelled && ended.attempts[0].wasOutrun)
        #expect(ended.attempts[0].next == .hedge && ended.attempts[1].next == nil)
        #expect(!ended.report.isRecovered)
        #expect((yard.count(.won), yard.count(.lost), yard.count(.withheld)) == (0, 1, 0))
        #expect(yard.underWay == [0, 0])
        #expect(yard.memory.meter.figures.account.failures.isEmpty)
    }

    @Test(
        "The second that answers first is taken, and what comes after it is counted on",
        .clauses("N-21")
    )
    func secondWins() async {
        let yard = await Yard()
        async let outcome = yard.perform()
        await yard.late()
        await yard.both()
        yard.time.advance(by: .milliseconds(7))
        yard.transport.answer(1, 200)
        let ended = await outcome
        #expect(ended.status == 200)
        #expect(yard.transport.cancelled == [0])
        #expect(ended.attempts.map(\.number) == [1, 2])
        #expect(ended.attempts[1].duration == .milliseconds(7))
        #expect(ended.attempts[0].duration == .milliseconds(57) && ended.attempts[0].wasOutrun)
        #expect(yard.count(.won) == 1 && yard.underWay == [0, 0])
    }

    @Test("If both fail the last failure is the attempt's, and recovery goes on from it")
    func bothFail() async {
        let yard = await Yard { $0.recovery = [rule("again", ["connection", "5xx"], retry())] }
        async let outcome = yard.perform()
        await yard.late()
        await yard.both()
        yard.transport.answer(1, 503)
        await settled { yard.transport.waiting == 1 }
        yard.transport.fail(0, .connectionTerminated)
        // The wait before the retry, and then a request that is not late.
        await settled { yard.time.sleeperCount == 1 }
        yard.time.advance(by: .milliseconds(100))
        await settled { yard.transport.waiting == 1 }
        yard.transport.answer(2, 200)
        let ended = await outcome
        #expect(ended.status == 200)
        #expect(ended.attempts.map(\.number) == [2, 1, 3])
        #expect(ended.attempts.map { $0.failure?.kind } == [.httpStatus, .connectionTerminated, nil])
        #expect(ended.attempts[0].next == .hedge && !ended.attempts[0].wasOutrun)
        #expect(ended.attempts[1].rule == "again")
        #expect(ended.report.isRecovered)
        #expect(yard.count(.lost) == 1 && yard.underWay == [0, 0])
        let told = yard.bench.sink.events.filter { if case .attemptFailed = $0 { true } else { false } }
        #expect(told.count == 2)
    }

    @Test("A failure that comes while the other goes on is not the end, and a success after it is no outrun")
    func goesOnAlone() async {
        let yard = await Yard()
        async let outcome = yard.perform()
        await yard.late()
        await yard.both()
        yard.transport.answer(0, 503)
        await settled { yard.transport.waiting == 1 }
        yard.transport.answer(1, 200)
        let ended = await outcome
        #expect(ended.status == 200 && ended.attempts.map(\.number) == [1, 2])
        #expect(ended.attempts[0].status == 503 && yard.transport.cancelled.isEmpty)
        #expect(ended.report.isRecovered && yard.count(.won) == 1)
    }

    @Test("A request that is answered or fails in time is sent once")
    func inTime() async {
        let yard = await Yard()
        for status in [UInt16(200), 503] {
            async let outcome = yard.perform()
            await settled { yard.transport.waiting == 1 && yard.time.sleeperCount == 1 }
            yard.transport.answer(yard.transport.sent.count - 1, status)
            #expect(await outcome.attempts.count == 1)
        }
        #expect(yard.transport.sent.count == 2 && yard.time.sleeperCount == 0)
    }

    @Test("A caller that goes away ends both, and how long it has waited counts", arguments: [false, true])
    func callerGone(isPatient: Bool) async {
        let yard = await Yard()
        let task = Task { await yard.perform() }
        await yard.late()
        await yard.both()
        if isPatient { yard.time.advance(by: .milliseconds(210)) }
        task.cancel()
        let ended = await task.value
        #expect(ended.failure?.kind == .cancelled && ended.report.state == .cancelled)
        #expect(Set(yard.transport.cancelled) == [0, 1] && yard.underWay == [0, 0])
        #expect(ended.attempts.map(\.number) == [2, 1], "the first has waited as long as its caller")
        #expect(ended.attempts.last?.failure?.blamed == (isPatient ? .upstream : .caller))
        #expect(yard.memory.traffic.tell(yard.route, yard.time.now()) { $0.hedging } == 0)
    }

    @Test(
        "A request that may not be repeated or streams is sent once, however late it is",
        arguments: [
            (Method.post, false, false, true), (.post, true, false, false), (.get, true, true, true),
            (.get, true, false, false),
        ]
    )
    func whichRequests(_ method: Method, isKeyed: Bool, streams: Bool, isSentOnce: Bool) async {
        let yard = await Yard()
        let body = streams ? Body.stream(PieceBody([[1]], length: 1)) : .empty
        async let outcome = yard.perform(method, keyed: isKeyed, body: body)
        await settled { yard.transport.waiting == 1 }
        if isSentOnce {
            #expect(yard.time.sleeperCount == 0)
        } else {
            await yard.late()
            await yard.both()
        }
        yard.transport.answer(0, 200)
        _ = await outcome
        #expect(yard.transport.sent.count == (isSentOnce ? 1 : 2))
    }

    @Test("A kept job's run is never sent a second time")
    func keptJob() async {
        let yard = await Yard()
        async let delivery = yard.bench.deliver(on: yard.route, memory: yard.memory)
        await settled { yard.transport.waiting == 1 }
        #expect(yard.time.sleeperCount == 0)
        yard.transport.answer(0, 200)
        #expect(await delivery.report.attempts.count == 1)
    }

    @Test("Before 20 answers are known nothing is late")
    func tooFew() async {
        let yard = await Yard()
        yard.memory.traffic.tellTimes { $0 = HedgeTable() }
        async let outcome = yard.perform()
        await settled { yard.transport.waiting == 1 }
        #expect(yard.time.sleeperCount == 0)
        yard.transport.answer(0, 200)
        #expect(await outcome.attempts.count == 1)
    }

    @Test(
        "Nothing is sent without leave, nor waited for, and the record says why",
        arguments: HedgeRefusal.allCases.filter { $0 != .preparation && $0 != .constrained }
    )
    func withheld(_ refusal: HedgeRefusal) async {
        let yard = await Yard {
            switch refusal {
            case .attempts: $0.maxAttempts = 1
            case .budget: $0.traffic.budget.percent = 0
            case .permit: ($0.concurrency.maxRequests, $0.traffic.window.isEnabled) = (1, false)
            case .window: $0.traffic.window.afterOutage = 1
            case .rate: $0.traffic.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(3), burst: 41)
            case .closed:
                // From a second on.
                $0.closed = ClosedTimes([
                    .init(days: .dates([1_800_000_000 / 86_400]), from: 28_801, to: 86_400, zone: .utc)
                ])
            default: break
            }
        }
        async let outcome = yard.perform()
        await settled { yard.transport.waiting == 1 && yard.time.sleeperCount == 1 }
        let now = yard.time.now()
        switch refusal {
        case .breaker:
            let later = now.advanced(by: .seconds(60))
            yard.memory.traffic.order(.open, of: "one", yard.route, until: later, now)
        case .hold:
            yard.memory.traffic.tell(yard.route, now) {
                $0.upstreams[0].holds.told(
                    HoldTable.RequestedWait(wait: .seconds(5)),
                    to: nil,
                    longest: .seconds(60),
                    now
                )
            }
        case .window:
            yard.memory.traffic.tell(yard.route, now) {
                $0.upstreams[0].window.restart(yard.route.policy.traffic.window)
            }
        case .closed: yard.time.stepWall(by: 1_000)
        default: break
        }
        yard.time.advance(by: .milliseconds(50))
        await settled { yard.count(.withheld) == 1 }
        #expect(yard.transport.sent.count == 1)
        yard.transport.answer(0, 200)
        let ended = await outcome
        #expect(ended.status == 200 && ended.attempts.count == 1)
        let held = ended.attempts[0].heldBack.first { $0.rule == "hedge" }
        #expect(held?.reason.text == "not sent a second time: \(refusal.text)")
        #expect(yard.memory.traffic.tell(yard.route, now) { $0.hedging } == 0)
    }

    @Test("The second goes to the upstream that is named, as long as that may be sent anything")
    func otherUpstream() async {
        for isOpen in [false, true] {
            let yard = await Yard { $0.hedging?.upstream = "two" }
            async let outcome = yard.perform()
            await settled { yard.transport.waiting == 1 && yard.time.sleeperCount == 1 }
            if isOpen {
                let (now, later) = (yard.time.now(), yard.time.now().advanced(by: .seconds(60)))
                yard.memory.traffic.order(.open, of: "two", yard.route, until: later, now)
            }
            yard.time.advance(by: .milliseconds(50))
            await yard.both()
            let second = yard.transport.sent[1]
            #expect(second.upstream.name == (isOpen ? "one" : "two"))
            #expect(second.target == (isOpen ? "/api/x" : "/x"))
            yard.transport.answer(1, 200)
            #expect(await outcome.attempts.map(\.upstream) == ["one", isOpen ? "one" : "two"])
        }
    }

    @Test("A second sending takes a permit that no other request gets meanwhile")
    func permit() async {
        let yard = await Yard { $0.concurrency.maxRequests = 5 }
        async let outcome = yard.perform()
        await yard.late()
        await yard.both()
        #expect(yard.memory.traffic.width == 4)
        yard.transport.answer(0, 200)
        _ = await outcome
        #expect(yard.memory.traffic.width == 5)
    }

    @Test(
        "A time limit of the caller's is not the upstream's fault, whichever sending meets it",
        arguments: [0, 1]
    )
    func callersLimit(_ number: Int) async {
        let yard = await Yard()
        var options = JobOptions()
        options.attemptTimeout = .milliseconds(60)
        async let outcome = yard.perform(options: options)
        await yard.late()
        await yard.both()
        yard.time.advance(by: .milliseconds(10))
        yard.transport.fail(number, .httpResponseTimeout)
        await settled { yard.transport.waiting == 1 }
        yard.transport.answer(1 - number, 200)
        let ended = await outcome
        #expect(ended.status == 200 && ended.attempts.map(\.number) == [number + 1, 2 - number])
        #expect(ended.attempts[0].failure?.kind == .httpResponseTimeout)
        #expect(ended.attempts[0].failure?.blamed == .caller)
        let told = yard.bench.sink.events.compactMap {
            if case .attemptFailed(_, let attempt) = $0 { attempt.failure?.blamed } else { nil }
        }
        #expect(told == [.caller])
    }

    @Test(
        "The route's limit counts from the first sending, and is not the caller's where the second meets it"
    )
    func routesLimit() async {
        let yard = await Yard { $0.timeouts.attempt = .milliseconds(200) }
        async let outcome = yard.perform()
        await yard.late()
        await yard.both()
        yard.transport.answer(0, 503)
        await settled { yard.transport.waiting == 1 }
        yard.time.advance(by: .milliseconds(150))
        yard.transport.fail(1, .httpResponseTimeout)
        let ended = await outcome
        #expect(ended.attempts.map(\.number) == [1, 2])
        #expect(ended.attempts[1].failure?.kind == .httpResponseTimeout)
        #expect(ended.attempts[1].failure?.blamed == nil)
        #expect(ended.attempts[1].duration == .milliseconds(150))
    }

    @Test(
        "A conflict tells only that something has begun under the key",
        arguments: [(0, 503, true), (1, 503, true), (0, nil, false)] as [(Int, Int?, Bool)]
    )
    func conflict(_ firstToEnd: Int, _ status: Int?, isFirstJudged: Bool) async {
        let yard = await Yard()
        async let outcome = yard.perform(.post, keyed: true)
        await yard.late()
        await yard.both()
        let first: Result<InboundResponse, Failure> =
            status.map { .success(Held.response(UInt16($0))) }
            ?? .failure(Failure(.connectionRefused, sent: .neverSent, "as the test has it"))
        for number in [firstToEnd, 1 - firstToEnd] {
            let waiting = yard.transport.waiting
            yard.transport.end(number, number == 0 ? first : .success(Held.response(409)))
            await settled { yard.transport.waiting == waiting - 1 }
        }
        let ended = await outcome
        #expect(ended.attempts.map(\.number) == (isFirstJudged ? [2, 1] : [1, 2]))
        #expect(ended.status == (isFirstJudged ? 503 : 409))
    }

    @Test("After an upstream was slow its failures are retried as if nothing had been sent twice")
    func slowThenFailing() async {
        let yard = await Yard {
            $0.recovery = [rule("again", ["5xx"], retry())]
            ($0.traffic.budget.floor, $0.traffic.window.isEnabled) = (0, false)
        }
        yard.transport.answersAtOnce(true)
        for _ in 0..<60 { _ = await yard.perform() }
        yard.transport.answersAtOnce(false)
        while yard.count(.withheld) == 0 {
            async let outcome = yard.perform()
            await yard.late()
            await settled { yard.transport.waiting == 2 || yard.count(.withheld) == 1 }
            yard.transport.answer(yard.transport.sent.count - 1, 200)
            _ = await outcome
        }
        let hedged = yard.count(.won)
        #expect(hedged == 6, "half of 10 percent of 100 and some")
        let before = yard.transport.sent.count
        let recovered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 { group.addTask { await yard.perform().status == 200 } }
            await settled { yard.transport.waiting == 4 }
            for number in before..<before + 4 { yard.transport.answer(number, 503) }
            await settled { yard.transport.waiting == 0 && yard.time.sleeperCount == 4 }
            yard.time.advance(by: .milliseconds(100))
            await settled { yard.transport.waiting == 4 }
            for number in before + 4..<before + 8 { yard.transport.answer(number, 200) }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(recovered == 4)
    }

    @Test("A request's kind is known by the answers to any caller, with whatever credential")
    func anyCaller() async {
        let yard = await Yard()
        for number in 0..<HedgeTimes.enough {
            yard.memory.traffic.took(
                .milliseconds(1),
                RequestClass(
                    .put,
                    target: "y",
                    contentLength: 0,
                    user: UInt32(number),
                    credential: "c\(number)"
                ),
                at: 0
            )
        }
        let asked = RequestClass(.put, target: "y", contentLength: 0, user: nil, credential: "another")
        let large = RequestClass(.put, target: "y", contentLength: 100_000, user: nil)
        let late = yard.memory.traffic.lateness(Hedging(), asked, at: 0)
        #expect(late == .milliseconds(50))
        #expect(yard.memory.traffic.lateness(Hedging(), large, at: 0) == nil)
    }
}
