import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

/// A route with all of it on.
func makeTrafficRoute(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
    makeRoute {
        $0.traffic = TrafficSettings()
        change(&$0)
    }
}

@Suite("How many requests a route has under way goes by what its upstreams take", .timeLimit(.minutes(1)))
struct RouteWidthTests {
    @Test("A route's permits are not what bounds a program: its window is asked with each attempt")
    func windowOfProgram() async {
        let route = makeTrafficRoute { $0.traffic.window.initial = 4 }
        let memory = RouteMemory()
        let leaves = (0..<10).map { _ in
            memory.traffic.tell(route, Instant(nanoseconds: 0)) {
                $0.grant(
                    route,
                    .init(kind: .first, upstreamIndex: 0, isKept: false, slot: .none),
                    Instant(nanoseconds: 0)
                )
            }
        }
        let held = leaves.compactMap { if case .held(let hold, _) = $0 { hold.reason } else { nil } }
        #expect(held == Array(repeating: .windowFull, count: 6))
    }

    @Test("A route that is switched off by a reload is bound by nothing, whatever earlier requests tell")
    func switchedOff() {
        let (narrow, off) = (
            makeTrafficRoute { $0.traffic.window.initial = 3 }, makeTrafficRoute { $0.traffic = .off }
        )
        let (traffic, now) = (RouteTraffic(), Instant(nanoseconds: 0))
        traffic.tell(narrow, now) { $0.know(narrow) }
        #expect(traffic.width == 3)
        traffic.configured(off)
        #expect(traffic.width == .max)
        traffic.tell(narrow, now) { $0.know(narrow) }
        #expect(traffic.width == .max)
    }

    @Test("While no upstream is in use nobody waits for a permit to hear it, and another has its own")
    func widthInTrouble() {
        let failover = makeTrafficRoute {
            $0.traffic.window.initial = 5
            $0.recovery = [rule("o", ["503"], .failover(upstream: 1))]
        }
        let alone = makeTrafficRoute { $0.traffic.window.initial = 5 }
        let (now, later) = (Instant(nanoseconds: 0), Instant(nanoseconds: 1_000_000_000))
        for (route, width) in [(failover, 5), (alone, Int.max)] {
            let traffic = RouteTraffic()
            traffic.order(.open, of: "one", route, until: later, now)
            #expect(traffic.width == width)
            traffic.order(nil, of: "one", route, until: now, now)
            #expect(traffic.width == 5)
        }
    }

    @Test("Requests that an operator kept from an upstream come back as after an outage")
    func afterOrder() {
        let (route, traffic, now) = (makeTrafficRoute(), RouteTraffic(), Instant(nanoseconds: 0))
        traffic.order(.open, of: "one", route, until: Instant(nanoseconds: 1_000_000_000), now)
        traffic.order(nil, of: "one", route, until: now, now)
        #expect(traffic.standing(of: route, now).upstreams[0].window == 10)
    }
}
