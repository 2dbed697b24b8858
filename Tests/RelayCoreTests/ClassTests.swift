import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

private func asked(
    _ method: Method,
    _ target: String,
    user: UInt32? = nil,
    length: UInt64? = 0
) -> RequestClass {
    RequestClass(method, target: target, contentLength: length, user: user)
}

/// A name for each number; digits would be an identifier.
private func word(_ number: Int) -> String {
    String(String.UnicodeScalarView("\(number)".unicodeScalars.map { Unicode.Scalar(UInt8($0.value) + 49) }))
}

@Suite("Requests are told apart by what they ask, and of whom they are", .timeLimit(.minutes(1)))
struct RequestClassTests {
    @Test(
        "A class is the method and the path: two segments, what leads up to a version besides, and no identifier",
        arguments: [
            ("", "GET /"), ("/", "GET /"), ("orders", "GET /orders"), ("/orders/7", "GET /orders/*"),
            ("orders/7/items?x=1", "GET /orders/*"), ("orders?secret=1", "GET /orders"),
            ("/repos/anna/relay/issues", "GET /repos/anna"), ("/api/v1/bad", "GET /api/v1/bad"),
            ("/api/v1/good/a", "GET /api/v1/good/a"), ("/v2/charges/ch_3Px9z0", "GET /v2/charges/*"),
            ("/rest/api/2/issue/KEY-1", "GET /rest/api/2/issue/*"), ("/a/b/2/issue", "GET /a/b"),
            ("/services/data/v58.0/sobjects/Account/7", "GET /services/data/v58.0/sobjects/Account"),
            ("/a/b/c/v1/d/e/f", "GET /a/b/c/v1/d/e"), ("/a/b/c/d/v1/e", "GET /a/b"),
            ("/oauth2/token", "GET /oauth2/token"), ("/view/v", "GET /view/v"), ("//x", "GET //x"),
            ("/users/7d444840-9dc0-11d1-b245-5ffdce74fad2", "GET /users/*"), ("/a/b/", "GET /a/b"),
            ("/a/", "GET /a/"), ("a\u{1}b", "GET /a?b"),
            (String(repeating: "x", count: 100), "GET /" + String(repeating: "x", count: 64)),
            (String(repeating: "/x", count: 4_000), "GET /x/x"),
        ]
    )
    func names(target: String, name: String) { #expect(asked(.get, target).name == name) }

    @Test("An upstream's limits go by identifiers: one of `/channels/7` says nothing of `/channels/8`")
    func limited() {
        let (one, other) = (asked(.get, "/v1/channels/7/messages"), asked(.get, "/v1/channels/8"))
        #expect(one == other && one.hashValue == other.hashValue)
        #expect(one.asked.name == "GET /v1/channels/7" && one.asked != other.asked)
        #expect(asked(.get, "/v1/channels?a=1").asked.name == "GET /v1/channels")
    }

    @Test(
        "Users, sizes and credentials make classes of their own, and only credentials what an upstream limits"
    )
    func parts() {
        let plain = asked(.post, "x", user: 1)
        #expect(plain != asked(.post, "x", user: 2))
        #expect(plain != asked(.post, "x", user: 1, length: 1_000_000))
        #expect(plain != asked(.post, "x", user: 1, length: nil))
        #expect(plain.asked == asked(.post, "x", user: 2, length: nil).asked)
        let other = RequestClass(.post, target: "x", contentLength: 0, user: 1, credential: "Bearer a")
        #expect(other.asked != plain.asked)
    }
}

@Suite(
    "An open circuit breaker stops the classes of requests that fail, and no others",
    .timeLimit(.minutes(1))
)
struct ClassTableTests {
    private let bad = asked(.post, "bad")
    private let good = asked(.get, "good")

    private func opened() -> ClassTable {
        var table = ClassTable()
        table.ended(bad, works: false, at(0))
        table.opened(.seconds(2), at(1))
        return table
    }

    @Test(
        "A class that fails is stopped; one that is not known tries, one request at a time, and goes on when it is answered"
    )
    func tells() {
        var table = opened()
        #expect(table.pass(bad, at(1)) == .fails)
        #expect(table.pass(good, at(1)) == .tries)
        table.tries(good, at(1))
        guard case .waits = table.pass(good, at(1.01)) else {
            Issue.record("the others wait")
            return
        }
        table.ended(good, works: true, at(1.02))
        #expect(table.pass(good, at(1.02)) == .goes)
        #expect(table.working?.name == "GET /good" && table.failing.map(\.asked.name) == ["POST /bad"])
        table.ended(good, works: false, at(2))
        #expect(table.pass(good, at(2)) == .tries, "one failure is a reason to find out anew")
        table.tries(good, at(2))
        table.ended(good, works: false, at(2.01))
        #expect(table.pass(good, at(2.01)) == .fails)
    }

    @Test("A class that is answered goes on through a closing, and through the next opening a moment later")
    func closes() {
        var table = opened()
        table.tries(good, at(1))
        table.ended(good, works: true, at(1.02))
        table.closed()
        #expect(!table.hasFailing, "those that fail ask the closed breaker again")
        var (later, soon) = (table, table)
        soon.opened(.seconds(2), at(2))
        #expect(soon.pass(good, at(2)) == .goes)
        later.opened(.seconds(2), at(4))
        #expect(later.pass(good, at(4)) == .tries, "too long ago to count")
        table.ended(good, works: false, at(2))
        table.opened(.seconds(2), at(2))
        #expect(table.pass(good, at(2)) == .tries, "it has failed since")
    }

    @Test("An upstream that fails at everything is tried by ever fewer classes, and by none beyond 64")
    func outage() {
        var (table, tries) = (opened(), 0)
        for tick in 0..<60_000 {
            let (now, one) = (at(1 + Double(tick) / 1_000), asked(.get, word(tick)))
            guard table.pass(one, now) == .tries else { continue }
            tries += 1
            table.tries(one, now)
            table.ended(one, works: false, now)
        }
        #expect((5...12).contains(tries), "\(tries) in a minute of a thousand classes a second")
        var full = opened()
        for index in 0..<100 { full.ended(asked(.get, word(index)), works: false, at(1)) }
        #expect(full.entries.count == ClassTable.most)
        #expect(full.pass(asked(.get, "new"), at(100)) == .fails)
    }

    @Test("One that hangs while it finds out keeps the others of its class waiting for a second only")
    func hangs() {
        var table = opened()
        table.tries(good, at(1))
        guard case .waits = table.pass(good, at(1.9)) else {
            Issue.record("the others wait")
            return
        }
        #expect(table.pass(good, at(2.1)) == .fails)
        table.ended(good, works: nil, at(3))
        #expect(table.pass(good, at(3)) == .tries)
    }
}

@Suite("A wish for patience holds back what it speaks of", .timeLimit(.minutes(1)))
struct HoldTableTests {
    private let a = asked(.get, "a").asked
    private let b = asked(.get, "b").asked

    private func word(_ seconds: Int, _ resource: String? = nil) -> HoldTable.RequestedWait {
        HoldTable.RequestedWait(wait: .seconds(seconds), resource: resource)
    }

    private func until(_ table: HoldTable, _ asked: RequestClass.Asked?, _ now: Double = 0) -> Instant? {
        table.hold(of: asked, longest: .seconds(60), at(now))?.until
    }

    @Test(
        "It holds the kind of request that was answered, and everything once a second kind is told the same"
    )
    func scopes() {
        var table = HoldTable()
        table.told(word(50), to: a, at(0))
        #expect(until(table, a) == at(50) && until(table, b) == nil && until(table, nil) == nil)
        table.told(word(20), to: b, at(10))
        #expect(until(table, asked(.put, "c").asked, 10) == at(30) && until(table, nil, 10) == at(30))
        #expect(until(table, a, 10) == at(50))
        #expect(until(table, b, 31) == nil && until(table, a, 31) == at(50))
    }

    @Test("A limit with a name holds what was answered with that name, and another credential is not held")
    func resources() {
        var table = HoldTable()
        let find = asked(.get, "find").asked
        table.told(word(30, "search"), to: find, at(0))
        #expect(until(table, find) == at(30) && until(table, a) == nil)
        table.told(word(30, "core"), to: a, at(0))
        #expect(until(table, b) == nil && until(table, nil) == nil)
        let other = RequestClass(.get, target: "find", contentLength: 0, user: nil, credential: "k").asked
        #expect(until(table, other) == nil)
    }

    @Test("A look for kept jobs in vain puts off the next only while some requests are held")
    func looks() {
        let route = makeRoute()
        var upstream = UpstreamTraffic(route.policy.upstreams[0], of: route)
        upstream.holds.told(word(60), to: a, at(0))
        upstream.looked(inVain: true, at(0))
        let held = upstream.capacity(route, at(0.01), atMost: 5)
        #expect(held.count == 0 && held.hold?.reason == .throttled)
        upstream.holds.clear()
        let free = upstream.capacity(route, at(0.01), atMost: 5)
        #expect(free.count == 5 && free.hold == nil)
    }

    @Test("No hold lasts longer than the route allows, there are 64 at most, and each can be lifted")
    func bounds() {
        var table = HoldTable()
        for index in 0..<100 { table.told(word(1_000 + index, "r\(index)"), to: a, at(0)) }
        #expect(table.holds.count == HoldTable.most)
        #expect(table.standing(longest: .seconds(60), at(0)).allSatisfy { $0.until == at(60) })
        let lifted = [table.clear("the limit r99"), table.clear("the limit r99")]
        #expect(lifted == [true, false] && table.holds.count == HoldTable.most - 1)
    }
}

@Suite("A class that gets no answers does not take the places of those that do", .timeLimit(.minutes(1)))
struct CrowdTableTests {
    @Test("It has half of what the others leave once nothing of it was answered for a while, and others were")
    func shares() {
        var crowd = CrowdTable()
        let (hung, fine) = (asked(.get, "hung"), asked(.get, "fine"))
        func stuck(_ width: Int, _ underWay: Int, _ now: Double) -> Bool {
            crowd.stuck(hung, width: width, underWay: underWay, timeout: .seconds(2), at(now)) != nil
        }
        for _ in 0..<5 { _ = crowd.began(hung, at(0)) }
        #expect(!stuck(10, 5, 3), "nobody else is there")
        _ = crowd.began(fine, at(3))
        crowd.ended(fine, isAnswered: true, at(3))
        #expect(stuck(10, 5, 3) && !stuck(10, 5, 1) && !stuck(20, 5, 3))
        crowd.ended(hung, isAnswered: true, at(3.5))
        #expect(!stuck(10, 4, 4))
    }

    @Test("An answer to an attempt from before the crowd is an answer of its class")
    func answeredBefore() {
        let route = makeTrafficRoute { $0.concurrency.maxRequests = 8 }
        var machine = RouteTrafficMachine()
        let (slow, fine) = (asked(.get, "slow"), asked(.get, "fine"))
        var word = AttemptFeedback()
        (word.breaker, word.window, word.succeeded) = (.works, .fine, true)
        func begin(_ asked: RequestClass, _ now: Double) -> AttemptGrant? {
            let asking = RouteTrafficMachine.Asking(
                kind: .first,
                upstreamIndex: 0,
                isKept: false,
                slot: .none
            )
            guard case .go(let leave) = machine.grant(route, asking, of: { asked }, at(now)) else {
                return nil
            }
            return leave
        }
        func end(_ leave: AttemptGrant?, _ asked: RequestClass, _ now: Double) {
            guard let leave, !machine.endedWell(leave, word, of: route, at(now)) else { return }
            _ = machine.ended(leave, word, asked: { asked }, of: route, random: 1, at(now))
        }
        // Four begin before half of the places are taken, and two beyond that.
        let early = (0..<4).map { _ in begin(slow, 0) }
        let late = (0..<2).map { _ in begin(slow, 0) }
        #expect(early.allSatisfy { $0?.isCounted == false } && late.allSatisfy { $0?.isCounted == true })
        end(begin(fine, 20), fine, 20)
        #expect(begin(slow, 20.1) == nil, "nothing of it was answered while another was")
        end(early[0], slow, 20.2)
        #expect(begin(slow, 20.3) != nil)
    }

    @Test("A class that comes back has time again, and none where nothing of it was answered before")
    func comesBack() {
        var crowd = CrowdTable()
        let (hung, fine) = (asked(.get, "hung"), asked(.get, "fine"))
        func answer(_ now: Double) {
            _ = crowd.began(fine, at(now))
            crowd.ended(fine, isAnswered: true, at(now))
        }
        func stuck(_ now: Double) -> Bool {
            crowd.stuck(hung, width: 2, underWay: 1, timeout: .seconds(2), at(now)) != nil
        }
        for isAnswered in [true, false] {
            _ = crowd.began(hung, at(0))
            crowd.ended(hung, isAnswered: isAnswered, at(1))
            answer(9)
            #expect(crowd.isAlone(hung))
            _ = crowd.began(hung, at(10))
            answer(11)
            #expect(stuck(11) == !isAnswered)
            crowd.ended(hung, isAnswered: true, at(12))
            #expect(!crowd.isAlone(hung))
        }
    }
}

@Suite("How long an upstream usually takes is learnt from its answers", .timeLimit(.minutes(1)))
struct UsualTimeTests {
    @Test("It is four times what 99 of 100 took, 250 ms at least; little is known before twenty answers")
    func times() {
        var usual = UsualTime()
        #expect(
            usual.time(attempt: .seconds(10)) == .seconds(2)
                && usual.time(attempt: .seconds(1)) == .seconds(1)
        )
        for _ in 0..<400 { usual.answered(nanoseconds: 5_000_000) }
        #expect(usual.time(attempt: .seconds(10)) == .milliseconds(250))
        for _ in 0..<400 { usual.answered(nanoseconds: 1_000_000_000) }
        let time = usual.time(attempt: .seconds(10))
        #expect(time > .seconds(2) && time < .seconds(8), "\(time)")
    }
}

@Suite("A failed attempt has a cause", .timeLimit(.minutes(1)))
struct FailureCauseTests {
    @Test(
        "Statuses and kinds say whose fault it is",
        arguments: [
            (.httpStatus, 500, nil, .request), (.httpStatus, 501, nil, .request),
            (.httpStatus, 404, nil, .request),
            (.httpStatus, 502, nil, .upstream), (.httpStatus, 503, nil, .upstream),
            (.httpStatus, 504, nil, .upstream),
            (.httpStatus, 503, 5, .tooMany), (.httpStatus, 429, nil, .tooMany),
            (.apiError, 200, nil, .request),
            (.invalidResponse, 200, nil, .request), (.httpResponseIncomplete, 200, nil, .upstream),
            (.connectionRefused, nil, nil, .upstream), (.dnsError, nil, nil, .upstream),
            (.httpResponseTimeout, nil, nil, .upstream), (.clientGone, nil, nil, .caller),
            (.cancelled, nil, nil, .caller), (.connectionLimitReached, nil, nil, .relay),
            (.credentialsFailed, nil, nil, .relay),
        ] as [(FailureKind, UInt16?, Int?, FailureCause)]
    )
    func causes(kind: FailureKind, status: UInt16?, after: Int?, cause: FailureCause) {
        var failure = Failure(kind, sent: .unknown, "", status: status.map { Status(rawValue: $0) })
        failure.retryAfter = after.map { .seconds($0) }
        #expect(failure.cause == cause)
        failure.blamed = .caller
        #expect(failure.cause == .caller)
    }

    @Test("A retry that its caller ends sooner than usual is none that failed; one that hung until then is")
    func retries() {
        let route = makeRoute { $0.traffic.budget.floor = 0 }
        func left(after kind: FailureKind, _ seconds: Double) -> Int? {
            var machine = RouteTrafficMachine()
            func leave(_ kind: RouteTrafficMachine.Kind) -> AttemptGrant? {
                let asking = RouteTrafficMachine.Asking(
                    kind: kind,
                    upstreamIndex: 0,
                    isKept: false,
                    slot: .none
                )
                return if case .go(let leave) = machine.grant(route, asking, at(0)) { leave } else { nil }
            }
            for _ in 0..<10 { _ = leave(.first) }
            guard machine.takeBudget(route, at(0)), let retry = leave(.retry) else { return nil }
            let failure = Failure(kind, sent: .unknown, "")
            var word = AttemptFeedback(failure, named: failure, BreakerSettings(), nil, wallMilliseconds: 0)
            word.isCallersEnd = true
            _ = machine.ended(retry, word, of: route, random: 0, at(seconds))
            return machine.budget.left(route.policy.traffic.budget, at(seconds))
        }
        #expect(left(after: .httpResponseTimeout, 0.1) == 1 && left(after: .cancelled, 0.1) == 1)
        #expect(left(after: .httpResponseTimeout, 3) == 0 && left(after: .cancelled, 3) == 0)
    }
}
