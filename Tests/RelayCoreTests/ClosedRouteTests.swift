import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

/// The day on which virtual time begins is closed, which has begun eight hours before.
func closedToday(to: Int = 86_400) -> ClosedTimes {
    ClosedTimes([.init(days: .dates([1_800_000_000 / 86_400]), from: 0, to: to, zone: .utc)])
}

@Suite("A route that is closed as planned", .runQueue, .timeLimit(.minutes(1)))
struct ClosedRouteTests {
    private static func bench() -> Bench { Bench([.answer(200, [], "sent"), .answer(200, [], "sent")]) }

    @Test("A request is not sent, and hears how long it is until the route opens")
    func refused() async throws {
        for change in [{ _ in }, { $0.traffic = .off }] as [@Sendable (inout RoutePolicy) -> Void] {
            let bench = Self.bench()
            let route = makeRoute {
                $0.closed = closedToday()
                change(&$0)
            }
            let failure = try #require(await bench.perform(on: route).failure)
            #expect(failure.kind == .routeClosed && failure.sent == .neverSent && failure.cause == .relay)
            #expect(failure.retryAfter == .seconds(57_600))
            #expect(failure.detail == "the route is closed and opens in 16h, as planned (closed)")
            #expect(bench.transport.sent.isEmpty)
        }
    }

    @Test("A request is sent before a window, and from its end on")
    func open() async {
        let bench = Self.bench()
        #expect(await bench.perform(on: makeRoute { $0.closed = closedToday(to: 28_800) }).text == "sent")
        let route = makeRoute { $0.closed = closedToday() }
        bench.time.advance(by: .seconds(57_599))
        #expect(await bench.perform(on: route).failure?.kind == .routeClosed)
        bench.time.advance(by: .seconds(1))
        #expect(await bench.perform(on: route).text == "sent")
    }

    @Test(
        "Rules that answer an open breaker answer a closed route, and none sends again or elsewhere",
        arguments: [["route_closed"], ["any"], ["503"], ["connection_refused"], ["exhausted"]]
    )
    func answered(on words: [String]) async {
        let bench = Self.bench()
        let route = makeRoute {
            $0.closed = closedToday()
            $0.recovery = [
                rule("again", ["any"], retry(5)), rule("elsewhere", ["any"], .failover(upstream: 1)),
                rule("stand-in", words, placeholder()),
            ]
        }
        let outcome = await bench.perform(on: route)
        #expect(outcome.source == .placeholder && outcome.attempts.count == 1)
        #expect(
            outcome.attempts[0].heldBack.map(\.rule) == ["again"] && outcome.attempts[0].rule == "stand-in"
        )
        #expect(bench.transport.sent.isEmpty && bench.time.waits.isEmpty)
    }

    @Test("A last good answer stands in for a closed route")
    func stale() async {
        let bench = Self.bench()
        let memory = RouteMemory()
        func route(_ closed: ClosedTimes?) -> Route {
            makeRoute {
                $0.closed = closed
                $0.response.keepsLastGood = LastGoodRule(maxAge: .seconds(86_400))
                $0.recovery = [rule("last", ["any"], .respondStale)]
            }
        }
        _ = await bench.perform(on: route(nil), memory: memory)
        let outcome = await bench.perform(on: route(closedToday()), memory: memory)
        #expect(outcome.source == .stale && outcome.text == "sent" && bench.transport.sent.count == 1)
    }

    @Test("The run of a kept job goes back and has lost nothing, whatever the rules")
    func run() async {
        let bench = Self.bench()
        let route = makeRoute {
            $0.closed = closedToday()
            $0.recovery = [
                rule("other", ["any"], .failover(upstream: 1)), rule("stop", ["any"], .deadLetter),
            ]
        }
        let delivery = await bench.deliver(on: route)
        #expect(delivery.attempts.isEmpty)
        #expect(delivery.ending == .requeued(after: .zero, .routeClosed))
    }

    @Test("A closed route says nothing of its upstream, and is no failing one")
    func health() {
        let failure = Failure(.routeClosed, sent: .neverSent, "")
        #expect(failure.isHold && failure.isOwnRefusal && failure.isFromBeforeDialling)
        #expect(!failure.kind.tellsOfUpstream)
    }
}
