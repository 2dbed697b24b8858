import RelayBase
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayCore
@testable import RelayEngine

@Suite("The permits of second sendings")
struct HedgePermitTests {
    private let traffic = RouteTraffic()
    private let state: RouteState
    private let route: Route
    private let asked = RequestClass(.get, target: "x", contentLength: 0, user: nil)
    private let now = Instant(nanoseconds: 0)

    init() {
        route = makeRoute {
            $0.hedging = Hedging()
            $0.concurrency.maxRequests = 10
            ($0.traffic.window.isEnabled, $0.traffic.budget.percent) = (false, 100)
        }
        state = RouteState(route.policy.concurrency, traffic)
    }

    /// Ten requests, as many as there are permits: seven whose answers stream, and three that are late.
    private func fill() {
        for number in 0..<10 {
            #expect(state.enterPlainly())
            let asking = RouteTrafficMachine.Asking(
                kind: .first,
                upstreamIndex: 0,
                isKept: false,
                slot: .none
            )
            guard case .go(let grant) = traffic.grant(route, asking, now) else {
                Issue.record("no leave")
                continue
            }
            if number < 7 {
                let head = HTTPResponse(status: 200, fields: HeaderFields(), body: .empty)
                let word = AttemptFeedback(head, wallMilliseconds: 0)
                _ = traffic.answering(grant, word, of: route, random: 0, now)
            }
        }
    }

    private func hedge() -> Bool {
        if case .go = traffic.hedge(route, at: [0], asked, now) { true } else { false }
    }

    @Test("Answers that stream have permits, and a second sending gets none beyond the limit")
    func streams() {
        fill()
        #expect(traffic.hedge(route, at: [0], asked, now) == .withheld(.permit))
        // Where nobody gives permits nothing is known of them.
        traffic.whenPermitIsAsked(nil)
        #expect(hedge())
    }

    @Test("It takes the permit that is free, and a request that comes meanwhile gets it afterwards")
    func taken() {
        fill()
        state.releasePlainly()
        #expect(hedge() && !hedge() && !state.enterPlainly())
        guard case .queued(let ticket) = state.enter() else {
            Issue.record("a permit too many")
            return
        }
        traffic.hedgeEnded(route, now)
        let permit = ticket.take()
        #expect(permit != nil && state.load == (10, 0))
    }

    @Test("Requests that rest before a retry leave it no permit of theirs")
    func resting() {
        fill()
        for _ in 0..<3 { traffic.tell(route, now) { $0.backOff(true) } }
        #expect(!hedge())
        state.releasePlainly()
        #expect(hedge() && !state.enterPlainly())
    }

    @Test("A request that waits for a permit is not overtaken")
    func waiting() {
        fill()
        guard case .queued(let ticket) = state.enter() else {
            Issue.record("a permit too many")
            return
        }
        #expect(!hedge())
        _ = ticket.take()
    }
}
