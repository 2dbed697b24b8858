import RelayBase
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayCore
@testable import RelayEngine

@Suite("The marks in the hour of a route")
struct RouteMarksTests {
    private let history = RouteHistory(VirtualTime())

    private func moved(_ upstream: String, isOpen: Bool) -> JobEvent {
        let until = Instant(nanoseconds: 5_000_000_000)
        let state: BreakerMachine.State = isOpen ? .open(until: until, wait: .seconds(5)) : .closed
        return .breakerChanged(
            route: "r",
            BreakerChange(upstream: upstream, state: state, now: Instant(nanoseconds: 0))
        )
    }

    private func act(_ kind: EventKind, upstream: String? = nil, state: String? = nil) -> JobEvent {
        .notice(kind, "", OperatorAct(by: 7, route: "r", "did it", upstream: upstream, state: state))
    }

    /// Each as `second event state upstream by`.
    private var told: [String] {
        history.marks(of: "r").map { mark, upstream in
            "\(mark.at) \(mark.event.rawValue.name) \(mark.state?.rawValue ?? "-") \(upstream ?? "-") "
                + (mark.by.map { "\($0)" } ?? "-")
        }
    }

    @Test("Are told in their order, each with the breaker and the user it is about")
    func order() {
        let events = [
            moved("eu", isOpen: true), moved("us", isOpen: true),
            act(.breakerOrdered, upstream: "eu", state: "auto"),
            moved("eu", isOpen: true), .routePaused(route: "r", RoutePause(reason: "x", began: 0, by: 8)),
            .routeResumed(route: "r"), act(.limitsCleared), moved("eu", isOpen: false),
        ]
        for (second, event) in events.enumerated() { history.heard(event, at: Int64(second) * 1_000 + 999) }
        #expect(
            told == [
                "0 route.breaker open eu -", "1 route.breaker open us -", "2 route.breaker.ordered auto eu 7",
                "3 route.breaker open eu -", "4 route.paused - - 8", "5 route.resumed - - -",
                "6 route.limits.cleared - - 7", "7 route.breaker closed eu -",
            ]
        )
        #expect(history.marks(of: "other").isEmpty)
    }

    @Test("Leave out that a breaker stays open after a probe, and what is about no route")
    func probes() {
        for second in 0..<50 { history.heard(moved("eu", isOpen: true), at: Int64(second) * 1_000) }
        history.heard(.notice(.storageStalled, "the disk"), at: 60_000)
        history.heard(.notice(.configReloaded), at: 61_000)
        #expect(told == ["0 route.breaker open eu -"])
        #expect(history.reloads == [61_000])
    }

    @Test(
        "Are the latest 24, whatever upstreams were called, and those of a route that has gone are forgotten"
    )
    func bounds() {
        for second in 0..<500 {
            history.heard(moved("u\(second % 3)", isOpen: second % 2 == 0), at: Int64(second) * 1_000)
            history.heard(.notice(.configReloaded), at: Int64(second) * 1_000)
        }
        #expect(told.count == 24 && told.last == "499 route.breaker closed u1 -")
        #expect(history.reloads.count == 24 && history.reloads.last == 499_000)
        for second in 500..<600 {
            history.heard(moved("v\(second)", isOpen: true), at: Int64(second) * 1_000)
        }
        #expect(told.count <= 24 && told.last == "599 route.breaker open v599 -")
        let empty = Snapshot(
            routes: [],
            vault: CredentialVault([], secrets: [:]),
            settings: Snapshot.Settings()
        )
        history.look(empty, history.due)
        #expect(told.isEmpty && history.reloads.count == 24)
    }
}
