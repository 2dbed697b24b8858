import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Upstreams that are left alone for a while", .timeLimit(.minutes(5)))
struct CooldownTests {
    private func route(_ cooldown: Duration = .seconds(30)) -> Route {
        makeRoute {
            $0.upstreams[1] = Upstream(
                name: "two",
                origin: .tcp(host: "two.example", port: 443, isTLS: true),
                use: .failoverOnly,
                cooldown: cooldown
            )
            $0.recovery = [rule("f", ["any"], .failover(upstream: 1))]
        }
    }

    @Test(
        "An upstream that failed is entered again only when its cool-down is over; without one every job tries"
    )
    func cooldown() async {
        let bench = Bench([]) { _ in .answer(503) }
        for (wait, entries) in [
            (Duration.seconds(30), [["one", "two"], ["one"], ["one", "two"]]),
            (.zero, [["one", "two"], ["one", "two"], ["one", "two"]]),
        ] {
            let memory = RouteMemory()
            for (upstreams, passed) in zip(
                entries,
                [Duration.nanoseconds(29_999_999_999), .nanoseconds(1), .zero]
            ) {
                let outcome = await bench.perform(on: route(wait), memory: memory)
                #expect(outcome.attempts.map(\.upstream) == upstreams)
                bench.time.advance(by: passed)
            }
        }
    }

    @Test(
        "A fault of the request says nothing about the upstream",
        arguments: [
            (.answer(404), false), (.answer(401), false), (.answer(302), false), (.answer(500), true),
            (.fail(.connectionRefused, .neverSent), true), (.fail(.httpResponseTimeout, .unknown), true),
            (.fail(.tlsCertificateError, .neverSent), true), (.fail("own_kind", .unknown), false),
        ] as [(ScriptedTransport.Step, Bool)]
    )
    func reasons(step: ScriptedTransport.Step, cools: Bool) async {
        let bench = Bench([]) { _ in step }
        let (route, memory) = (route(), RouteMemory())
        _ = await bench.perform(on: route, memory: memory)
        #expect(memory.cooling(route, now: bench.time.now()) == (cools ? [1] : []))
    }
}
